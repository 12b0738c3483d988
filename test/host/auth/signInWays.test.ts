import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import { firstSession } from '../../../src/core/oauth/session.ts';
import { ServiceTokens } from '../../../src/host/auth/serviceTokens.ts';
import { SignIn } from '../../../src/host/auth/signIn.ts';
import { Cloud } from '../../../src/host/cloud.ts';
import { deferred } from '../../unit/core/deferred.ts';
import { authorize } from '../../unit/sandbox/walk.ts';
import { usePatches } from '../support/patches.ts';
import { browse } from '../support/running.ts';
import { addFault, clearFaults, connectionTo, descriptor, person, serviceToken } from '../support/sandbox.ts';
import { memoryStore, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const { loopback } = descriptor.clients;

describe('the ways to sign in', () => {
  const scene = useScene();
  const patches = usePatches();
  let signIn: SignIn;
  let cloud: Cloud;
  /** What the input box showed, and how to answer it. */
  let box: { options: vscode.InputBoxOptions; answer: (text: string | undefined) => void } | undefined;

  afterEach(async () => {
    signIn.cancel(); // Of a test that failed: its listener would be in the way of all that follow.
    await clearFaults();
  });

  beforeEach(async () => {
    const { settings, log, fetch } = scene();
    const addSecret = () => {};
    signIn = new SignIn({
      links: { receive: () => assert.fail('a link was awaited') },
      serviceTokens: new ServiceTokens({ settings, fetch, addSecret, log }),
      addSecret,
      log,
    });
    cloud = makeCloud({});
    await cloud.load();
    box = undefined;
    patches.set(vscode.window, 'showInputBox', (options: vscode.InputBoxOptions, token?: vscode.CancellationToken) => {
      const { promise, resolve } = deferred<string | undefined>();
      token?.onCancellationRequested(() => resolve(undefined));
      box = { options, answer: resolve };
      return promise;
    });
  });

  function makeCloud(
    change: Partial<Cloud['connection']>,
    store = memoryStore(),
    clientSecret = async (): Promise<string | undefined> => loopback.secret,
  ): Cloud {
    const { fetch, log, state } = scene();
    const connection = {
      ...connectionTo('service'),
      clientId: loopback.id,
      redirectUri: loopback.redirectUri,
      scope: 'openid email',
      ...change,
    };
    const storage = { store, state, dispose: () => {} };
    return scene().own(new Cloud({ connection, storage, clientSecret, fetch, log, addSecret: () => {} }));
  }

  /** The browser goes to the provider's page and its last address is given to `end`. */
  function openBrowser(end: (callback: string) => void): void {
    patches.set(vscode.env, 'openExternal', async (uri: vscode.Uri) => {
      const start = await fetch(uri.toString(true), { redirect: 'manual' });
      const parameters = Object.fromEntries(new URL(start.headers.get('location') ?? '').searchParams);
      void authorize(descriptor, parameters, { person: 1 }).then(end);
      return true;
    });
  }

  it('know whether there is a client secret to forget', async () => {
    let stored: string | undefined;
    const other = makeCloud({}, memoryStore(), async () => stored);
    await other.load();
    let changes = 0;
    scene().own(
      other.onDidChange(() => {
        changes += 1;
      }),
    );
    assert.equal(other.hasClientSecret, false);
    stored = 'entered';
    await other.readClientSecret();
    await other.readClientSecret();
    assert.deepEqual([other.hasClientSecret, changes], [true, 1]);
  });

  describe('by pasting the address', () => {
    it('while the listener waits in vain', async () => {
      let last = '';
      openBrowser((callback) => {
        last = callback;
      });
      const session = signIn.run(cloud);
      await until('the last address', () => last || undefined);
      void signIn.paste();
      const shown = await until('the box', () => box);
      assert.match(shown.options.prompt ?? '', /paste the address of that page/);
      assert.equal(shown.options.ignoreFocusOut, true);
      const validate = shown.options.validateInput ?? assert.fail();
      assert.match(String(await validate(`${loopback.redirectUri}?code=x&state=other`)), /another sign-in/);
      assert.match(String(await validate('two words')), /spaces/);
      assert.equal(await validate(last), undefined);
      shown.answer(last);
      assert.equal((await session).account.label, person('ordinaryUser').email);
      assert.equal(cloud.tokenManager.state.kind, 'signedIn');
    });

    it('is asked for at once where nothing can come back by itself, and takes the bare code', async () => {
      let last = '';
      openBrowser((callback) => {
        last = callback;
      });
      const session = signIn.run(cloud, 'paste');
      const shown = await until('the box', () => box);
      await until('the last address', () => last || undefined);
      shown.answer(new URL(last).searchParams.get('code') ?? '');
      assert.equal((await session).account.label, person('ordinaryUser').email);
    });

    it('goes on waiting when the box is left, and takes the box away when the answer comes', async () => {
      patches.set(vscode.env, 'openExternal', async () => true);
      const session = signIn.run(cloud, 'paste');
      const first = await until('the box', () => box);
      first.answer(undefined);
      box = undefined;
      const pasting = signIn.paste();
      await until('the box again', () => box);
      signIn.cancel();
      await assert.rejects(session, isCancelled);
      await pasting;
    });

    it('when no sign-in waits says so', async () => {
      await assert.rejects(
        signIn.paste(),
        (error) => error instanceof RolecallError && /No sign-in is waiting/.test(error.message),
      );
    });

    it('is offered when the port is taken by another program, and does not need it', async () => {
      const taken = createServer((socket) => socket.on('error', () => {}).resume());
      await new Promise<void>((resolve) =>
        taken.listen(Number(new URL(loopback.redirectUri).port), '127.0.0.1', resolve),
      );
      try {
        openBrowser((callback) => box?.answer(callback));
        await assert.rejects(
          signIn.run(cloud),
          (error) =>
            error instanceof RolecallError &&
            error.remedy?.kind === 'otherSignIn' &&
            /rolecall\.identity\.redirectUri/.test(error.message),
        );
        const session = signIn.run(cloud, 'paste');
        assert.equal((await session).account.label, person('ordinaryUser').email);
      } finally {
        await new Promise((resolve) => taken.close(resolve));
      }
    });
  });

  describe('with a service token', () => {
    it('that is checked by a call, kept without a refresh token, and learned of by a 401 only', async () => {
      const token = await serviceToken('administrator');
      const session = signIn.run(cloud, 'serviceToken');
      const shown = await until('the box', () => box);
      assert.equal(shown.options.password, true);
      assert.match(String(await shown.options.validateInput?.('a b')), /no spaces/);
      shown.answer(` ${token} `);
      const { account, refreshToken, expiresAt } = await session;
      assert.match(account.label, /^service token of /); // This service’s userinfo knows browser sign-ins only.
      assert.deepEqual([refreshToken, expiresAt], [undefined, undefined]);
      assert.ok(scene().asked.some((address) => address.endsWith('/api/v1/organizations')));
      const { signal } = new AbortController();
      assert.equal(await cloud.tokenManager.accessToken(signal), token);
      assert.equal(await cloud.tokenManager.refreshAfter401(token, signal), undefined);
      const { state } = cloud.tokenManager;
      assert.deepEqual([state.kind, state.kind === 'ended' && state.reason], ['ended', 'expired']);
    });

    it('that the service refuses: nothing is kept', async () => {
      const session = signIn.run(cloud, 'serviceToken');
      (await until('the box', () => box)).answer('nobody-knows-it');
      await assert.rejects(session, /does not accept this token/);
      assert.equal(cloud.tokenManager.session, undefined);
    });

    it('whose check fails for now: nothing is kept', async () => {
      await addFault({
        service: 'identity',
        path: '/api/v1/organizations',
        kind: 'html',
        status: 502,
        headers: { 'Retry-After': '0' },
        times: null,
      });
      scene().settings.ids = ['meridian'];
      const session = signIn.run(cloud, 'serviceToken');
      (await until('the box', () => box)).answer(await serviceToken('administrator'));
      await assert.rejects(session, /502/);
      assert.equal(cloud.tokenManager.session, undefined);
    });

    it('is known also to whom the service forbids to look', async () => {
      const unlisted = { service: 'identity', path: '/api/v1/organizations', kind: 'status', status: 404, times: 1 };
      scene().settings.ids = ['meridian'];
      await addFault(unlisted);
      const refused = signIn.run(cloud, 'serviceToken');
      (await until('the box', () => box)).answer('nobody-knows-it');
      await assert.rejects(refused, /does not accept this token/);
      box = undefined;
      await addFault(unlisted);
      const session = signIn.run(cloud, 'serviceToken');
      (await until('the box', () => box)).answer(await serviceToken('ordinaryUser'));
      assert.match((await session).account.label, /service token of/);
    });

    it('needs no client', async () => {
      const without = makeCloud({ clientId: '' });
      await assert.rejects(
        signIn.run(without),
        (error) =>
          error instanceof RolecallError &&
          error.remedy?.kind === 'changeSetting' &&
          error.remedy.setting === 'identity.clientId' &&
          /rolecall\.identity\.clientId/.test(error.message),
      );
      const session = signIn.run(without, 'serviceToken');
      (await until('the box', () => box)).answer(await serviceToken('administrator'));
      assert.match((await session).account.label, /^service token of /);
    });
  });

  it('are offered with what is missing where one is not open', async () => {
    let items: readonly vscode.QuickPickItem[] = [];
    patches.set(vscode.window, 'showQuickPick', async (given: readonly vscode.QuickPickItem[]) => {
      items = given;
      return undefined;
    });
    await assert.rejects(signIn.choose(cloud), isCancelled);
    assert.deepEqual(
      items.map(({ iconPath }) => iconPath !== undefined),
      [false, true, false, false],
    );
    assert.match(items[1]?.detail ?? '', /code-oss:\/\/rolecall\.rolecall\/callback|vscode:\/\/rolecall/);
  });

  it('one at a time: choosing another gives up the one that waits, and its port is free', async () => {
    patches.set(vscode.env, 'openExternal', async () => true);
    const first = signIn.run(cloud);
    first.catch(() => {});
    await until('the wait', () => cloud.tokenManager.state.kind === 'signingIn');
    const second = signIn.run(cloud, 'serviceToken');
    await assert.rejects(first, isCancelled);
    (await until('the box', () => box)).answer(await serviceToken('administrator'));
    await second;
    assert.match(scene().log.lines.join('\n'), /replaced the one that was waiting/);
  });

  it('end with the connection that they are for', async () => {
    const told: string[] = [];
    patches.set(vscode.window, 'showInformationMessage', async (message: string) => void told.push(message));
    patches.set(vscode.env, 'openExternal', async () => true);
    const service = await scene().startService();
    const { log } = scene();
    const links = { receive: () => new Promise<URL>(() => {}) }; // This client’s redirect URI is a link.
    signIn = new SignIn({ links, serviceTokens: { signIn: () => assert.fail() }, addSecret: () => {}, log });
    scene().own(signIn.cancelWhenRemoved(scene().clouds));
    const waiting = signIn.run(service, 'paste');
    waiting.catch(() => {});
    await until('the wait', () => service.tokenManager.state.kind === 'signingIn');
    scene().settings.connection = undefined;
    scene().settings.change();
    await assert.rejects(waiting, isCancelled);
    assert.match(told.join(), /canceled because the connection was changed/);
    assert.equal(signIn.isWaiting, false);
  });

  it('asked for again while one waits: says so, and opens the page once more if it is wanted', async () => {
    let opened = 0;
    patches.set(vscode.env, 'openExternal', async () => {
      opened += 1;
      return true;
    });
    patches.set(vscode.window, 'showInformationMessage', async (_message: string, again: string) => again);
    const waiting = signIn.run(cloud);
    waiting.catch(() => {});
    await until('the browser', () => opened === 1);
    await until('the wait', () => cloud.tokenManager.state.kind === 'signingIn');
    signIn.run(cloud).catch(() => {});
    await until('the browser again', () => opened === 2);
    signIn.cancel();
    await assert.rejects(waiting, isCancelled);
  });

  it('end when another window has signed in meanwhile', async () => {
    patches.set(vscode.env, 'openExternal', async () => true);
    const store = memoryStore();
    const [here, there] = [makeCloud({}, store), makeCloud({}, store)];
    await Promise.all([here.load(), there.load()]);
    const waiting = signIn.run(here);
    await until('the wait', () => here.tokenManager.state.kind === 'signingIn');
    const session = await sessionFromElsewhere();
    await there.tokenManager.signIn(session);
    assert.equal((await waiting).accessToken, session.accessToken);
    cloud = here;
    // The port is free: the listener was closed.
    openBrowserToEnd();
    await signIn.run(cloud);
  });

  it('can be told apart by state: while the browser is awaited, and after', async () => {
    const kinds: string[] = [];
    cloud.tokenManager.onDidChange(({ kind }) => kinds.push(kind));
    openBrowserToEnd();
    await signIn.run(cloud);
    assert.deepEqual(kinds, ['signingIn', 'signedIn']);
  });

  function openBrowserToEnd(): void {
    patches.set(vscode.env, 'openExternal', async (uri: vscode.Uri) => {
      void browse(uri.toString(true), { person: person('ordinaryUser').id });
      return true;
    });
  }

  async function sessionFromElsewhere() {
    const grant = { accessToken: await serviceToken('administrator') };
    return firstSession(cloud.connection, grant, { id: 'a', label: 'ada' }, Date.now());
  }
});
