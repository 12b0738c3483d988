import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Connection } from '../../../src/core/base/connection.ts';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import { ClientSecrets } from '../../../src/host/auth/clientSecret.ts';
import { watchSecrets } from '../../../src/host/auth/sessionStorage.ts';
import { Cloud } from '../../../src/host/cloud.ts';
import { Clouds } from '../../../src/host/clouds.ts';
import { secrets } from '../../../src/ids.ts';
import { FakeSecrets } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { connectionTo } from '../support/sandbox.ts';
import { memoryStore, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

describe('the client secret', () => {
  const patches = usePatches();
  const connection = connectionTo('service');
  let storage: FakeSecrets;
  let clientSecrets: ClientSecrets;
  let shown: vscode.InputBoxOptions | undefined;

  beforeEach(() => {
    storage = new FakeSecrets();
    clientSecrets = new ClientSecrets(storage);
    shown = undefined;
  });

  function answer(text: string | undefined): void {
    patches.set(vscode.window, 'showInputBox', async (options: vscode.InputBoxOptions) => {
      shown = options;
      return text;
    });
  }

  it('is asked for once, unseen, and kept in SecretStorage under address and client', async () => {
    answer('s3cret');
    assert.equal(await clientSecrets.get(connection, true), 's3cret');
    assert.equal(shown?.password, true);
    assert.deepEqual(
      [...storage.values],
      [[`${secrets.clientSecret}${connection.identityUrl}|${connection.clientId}`, 's3cret']],
    );
    answer('never asked');
    assert.equal(await clientSecrets.get(connection, true), 's3cret');
    assert.equal(await clientSecrets.get({ ...connection, clientId: 'another' }, false), undefined);
  });

  it('is not asked for behind the user’s back', async () => {
    answer('s3cret');
    assert.equal(await clientSecrets.get(connection, false), undefined);
    assert.equal(shown, undefined);
  });

  it('is not needed by a client without one', async () => {
    answer('s3cret');
    assert.equal(await clientSecrets.get({ ...connection, clientAuthentication: 'none' }, true), undefined);
    assert.equal(shown, undefined);
  });

  it('is left as it was when the user gives none', async () => {
    answer(undefined);
    await assert.rejects(clientSecrets.get(connection, true), isCancelled);
    assert.equal(storage.values.size, 0);
  });

  it('cannot be had from a locked keyring, which is said instead of asking again', async () => {
    answer('s3cret');
    const locked = async () => {
      throw new Error('locked');
    };
    const isStorageError = (error: unknown) => error instanceof RolecallError && error.kind === 'storage';
    Object.assign(storage, { get: locked });
    await assert.rejects(clientSecrets.get(connection, true), isStorageError);
    assert.equal(shown, undefined);
    Object.assign(storage, { store: locked });
    await assert.rejects(clientSecrets.ask(connection), isStorageError);
  });

  describe('of a cloud', () => {
    const scene = useScene();
    let changes: number;

    async function start(): Promise<Cloud> {
      const { settings, fetch, log, state } = scene();
      settings.connection = connection;
      const make = (of: Connection) =>
        new Cloud({
          connection: of,
          storage: { store: memoryStore(), state, dispose: () => {} },
          clientSecret: (...asked) => clientSecrets.get(...asked),
          fetch,
          log,
          addSecret: () => {},
        });
      const clouds = scene().own(new Clouds(settings, make));
      scene().own(watchSecrets(storage, clouds, clientSecrets, { concerns: () => false }));
      await clouds.start();
      changes = 0;
      scene().own(clouds.onDidChange(() => (changes += 1)));
      return clouds.require();
    }

    it('is known when another window stores or forgets it', async () => {
      const cloud = await start();
      for (const [isStored, change] of [
        [true, () => storage.store(`${secrets.clientSecret}${connection.identityUrl}|${connection.clientId}`, 'x')],
        [false, () => clientSecrets.forget(connection)],
      ] as const) {
        await change();
        await until('it is known', () => cloud.hasClientSecret === isStored);
      }
      assert.equal(changes, 2);
    });

    it('is known when a sign-in asks for it, whatever becomes of the sign-in', async () => {
      const cloud = await start();
      answer('s3cret');
      await cloud.authorizationServer(true);
      assert.deepEqual([cloud.hasClientSecret, changes], [true, 1]);
    });
  });

  const pasted: readonly (readonly [string, string, RegExp | undefined])[] = [
    ['nothing', '', /Paste the secret/],
    ['a line break', 'abc\ndef', /line break/],
    ['a space before it', ' abc', /begins or ends with a space/],
    ['a tab behind it', 'abc\t', /control character/],
    ['every character that encoders change', 'a+/=%&~-_. b', undefined],
  ];
  for (const [title, text, sentence] of pasted) {
    it(`${sentence ? 'is refused with a sentence when pasted as' : 'may hold'} ${title}`, async () => {
      answer('kept');
      await clientSecrets.ask(connection);
      const said = await shown?.validateInput?.(text);
      if (sentence) assert.match(String(said), sentence);
      else assert.equal(said, undefined);
    });
  }
});
