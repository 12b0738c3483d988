import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { isCancelled } from '../../../src/core/base/errors.ts';
import { SignIn } from '../../../src/host/auth/signIn.ts';
import { Cloud } from '../../../src/host/cloud.ts';
import { authorize } from '../../unit/sandbox/walk.ts';
import { usePatches } from '../support/patches.ts';
import { browse } from '../support/running.ts';
import { connectionTo, descriptor, person } from '../support/sandbox.ts';
import { useScene } from '../support/scene.ts';

const { loopback } = descriptor.clients;

describe('signing in', () => {
  const scene = useScene();
  const patches = usePatches();
  let learned: (string | undefined)[];
  let signIn: SignIn;

  beforeEach(() => {
    learned = [];
    signIn = new SignIn({
      links: { receive: () => assert.fail('a link was awaited') },
      serviceTokens: { signIn: () => assert.fail('a service token was asked for') },
      addSecret: (secret) => learned.push(secret),
      log: scene().log,
    });
  });

  function cloudWith(clientSecret: () => Promise<string | undefined>): Cloud {
    const stored = scene().makeCloud(connectionTo('service'));
    stored.dispose();
    return scene().own(
      new Cloud({
        connection: {
          ...connectionTo('service'),
          clientId: loopback.id,
          redirectUri: loopback.redirectUri,
          scope: 'openid email',
        },
        storage: {
          store: scene().stores.get('service') ?? assert.fail(),
          state: scene().state,
          dispose: () => {},
        },
        clientSecret,
        fetch: scene().fetch,
        log: scene().log,
        addSecret: (secret) => learned.push(secret),
      }),
    );
  }

  function openBrowser(choice: Record<string, string> = { person: person('ordinaryUser').id }): string[] {
    const opened: string[] = [];
    patches.set(vscode.env, 'openExternal', async (uri: vscode.Uri) => {
      opened.push(uri.toString(true));
      void browse(uri.toString(true), choice);
      return true;
    });
    return opened;
  }

  it('opens the browser once, however often it is asked for, and keeps the session', async () => {
    const opened = openBrowser();
    const cloud = cloudWith(async () => loopback.secret);
    const [one, other] = await Promise.all([signIn.run(cloud), signIn.run(cloud)]);
    assert.equal(one, other);
    assert.equal(opened.length, 1);
    assert.equal(cloud.tokenManager.session?.account.label, person('ordinaryUser').email);
    assert.ok(await scene().stores.get('service')?.read());
    // Again from the start the next time.
    await signIn.run(cloud);
    assert.equal(opened.length, 2);
  });

  it('tells the log every secret before it could stand there', async () => {
    openBrowser();
    const cloud = cloudWith(async () => loopback.secret);
    const { accessToken, refreshToken } = await signIn.run(cloud);
    for (const secret of [loopback.secret, accessToken, refreshToken]) assert.ok(learned.includes(secret));
    const log = scene().log.lines.join('\n');
    for (const secret of learned) assert.ok(!secret || !log.includes(secret));
  });

  it('does not begin when the user gives no client secret', async () => {
    const opened = openBrowser();
    const cloud = cloudWith(async () => {
      throw new vscode.CancellationError();
    });
    await assert.rejects(signIn.run(cloud));
    assert.deepEqual([opened, scene().asked], [[], []]);
  });

  it('ends silently when the user cancels the notification, and the port is free again', async () => {
    const source = new vscode.CancellationTokenSource();
    patches.set(vscode.window, 'withProgress', async (_: unknown, task: (...values: unknown[]) => Promise<unknown>) =>
      task({ report: () => {} }, source.token),
    );
    patches.set(vscode.env, 'openExternal', async () => {
      source.cancel();
      return true;
    });
    const cloud = cloudWith(async () => loopback.secret);
    await assert.rejects(signIn.run(cloud), isCancelled);
    assert.equal(cloud.tokenManager.session, undefined);
    patches.restore();
    openBrowser();
    await signIn.run(cloud);
    assert.ok(cloud.tokenManager.session);
  });

  it('ends silently when VS Code does not open the browser', async () => {
    patches.set(vscode.env, 'openExternal', async () => false);
    patches.set(vscode.window, 'showWarningMessage', async () => undefined);
    await assert.rejects(signIn.run(cloudWith(async () => loopback.secret)), isCancelled);
  });

  it('goes on where VS Code opens no browser and the user takes the address elsewhere', async () => {
    patches.set(vscode.env, 'openExternal', async () => false);
    patches.set(vscode.window, 'showInputBox', () => new Promise(() => {}));
    patches.set(vscode.window, 'showWarningMessage', async (_message: string, copy: string) => copy);
    const copied = new Promise<string>((resolve) => {
      patches.set(vscode.env, 'clipboard', { writeText: async (text: string) => resolve(text) });
    });
    const session = signIn.run(cloudWith(async () => loopback.secret));
    const parameters = Object.fromEntries(new URL(await copied).searchParams);
    void authorize(descriptor, parameters, { person: 1 }).then((last) => fetch(last));
    assert.equal((await session).account.label, person('ordinaryUser').email);
  });

  it('leaves the session of before when it fails', async () => {
    openBrowser();
    const cloud = cloudWith(async () => loopback.secret);
    const before = await signIn.run(cloud);
    openBrowser({ cancel: 'yes' });
    await assert.rejects(signIn.run(cloud), /denied or canceled/);
    assert.equal(cloud.tokenManager.session?.accessToken, before.accessToken);
  });
});
