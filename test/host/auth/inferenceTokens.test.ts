import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { ClientSecrets } from '../../../src/host/auth/clientSecret.ts';
import { InferenceTokens } from '../../../src/host/auth/inferenceTokens.ts';
import { watchSecrets } from '../../../src/host/auth/sessionStorage.ts';
import { SignOut } from '../../../src/host/auth/signOut.ts';
import { Cloud } from '../../../src/host/cloud.ts';
import { Clouds } from '../../../src/host/clouds.ts';
import { ModelCatalog } from '../../../src/host/modelCatalog.ts';
import { secrets } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { connectionTo, serviceToken } from '../support/sandbox.ts';
import { memoryStore, signInAs, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const { signal } = new AbortController();

describe('the token of the inference service alone', () => {
  const scene = useScene();
  const patches = usePatches();
  let tokens: InferenceTokens;
  let clouds: Clouds;

  beforeEach(() => {
    tokens = new InferenceTokens(scene().secrets, scene());
    const { settings, fetch, log, state } = scene();
    settings.connection = connectionTo('service');
    clouds = scene().own(
      new Clouds(
        settings,
        (connection) =>
          new Cloud({
            connection,
            storage: { store: memoryStore(), state, dispose: () => {} },
            clientSecret: async () => 'x',
            inferenceToken: (of) => tokens.get(of),
            fetch,
            log,
            addSecret: () => {},
          }),
      ),
    );
    scene().own(watchSecrets(scene().secrets, clouds, new ClientSecrets(scene().secrets), tokens));
  });

  async function enter(token: string, isTaken = true): Promise<Cloud> {
    await clouds.start();
    const cloud = clouds.require();
    patches.set(vscode.window, 'showInputBox', async (options: vscode.InputBoxOptions) => {
      assert.equal(options.password, true);
      assert.match(options.prompt ?? '', /sent only to http:\/\/127\.0\.0\.1:\d+,/);
      return token;
    });
    if (isTaken) scene().network = async () => Response.json({ data: [] });
    await tokens.ask(cloud.connection);
    scene().network = (...request) => fetch(...request);
    await until('the token', () => cloud.inferenceAccount === 'token');
    return cloud;
  }

  it('is kept in SecretStorage, and models are listed with it while nobody is signed in', async () => {
    const cloud = await enter(await serviceToken('administrator'), false);
    assert.deepEqual([...scene().secrets.values.keys()], [secrets.inferenceToken + cloud.connection.inferenceUrl]);
    assert.equal(cloud.tokenManager.state.kind, 'signedOut');
    const { settings, fetch, log } = scene();
    const catalog = scene().own(new ModelCatalog({ clouds, settings, fetch, log }));
    await catalog.ready(signal);
    assert.ok(catalog.models.length > 0);
  });

  it('is tried out before it is kept', async () => {
    await assert.rejects(enter('nonsense', false), /does not accept this token\. It was not saved/);
    assert.equal(scene().secrets.values.size, 0);
    assert.deepEqual(scene().learned, ['nonsense'], 'the log hides it all the same');
  });

  it('goes to the inference service alone: the identity service gets the session’s', async () => {
    const cloud = await enter('own-token');
    const session = await signInAs(cloud, 'administrator');
    assert.equal(await cloud.inference.accessToken(signal), 'own-token');
    assert.equal(await cloud.tokenManager.accessToken(signal), session.accessToken);
  });

  it('that is refused is said so, with the way to enter another; the session is not touched', async () => {
    const cloud = await enter('own-token');
    await signInAs(cloud, 'administrator');
    await assert.rejects(
      cloud.inference.refreshAfter401('own-token', signal),
      (error) => error instanceof RolecallError && error.remedy?.kind === 'setInferenceToken',
    );
    assert.equal(cloud.tokenManager.state.kind, 'signedIn');
  });

  it('that another window has replaced is used instead', async () => {
    const cloud = await enter('old');
    scene().secrets.values.set(secrets.inferenceToken + cloud.connection.inferenceUrl, 'new'); // Without an event.
    assert.equal(await cloud.inference.refreshAfter401('old', signal), 'new');
  });

  it('is given up in a window that hears of the sign-out only by the session', async () => {
    const cloud = await enter('own-token');
    await signInAs(cloud, 'administrator');
    await cloud.tokenManager.signOut(); // As the other window's message does; no secret has changed here.
    assert.equal(cloud.inferenceAccount, undefined);
  });

  it('is forgotten with the sign-out', async () => {
    const cloud = await enter('own-token');
    await signInAs(cloud, 'administrator');
    await new SignOut(tokens, scene().log).run(cloud);
    assert.equal(cloud.inferenceAccount, undefined);
    assert.equal(scene().secrets.values.size, 0);
  });
});
