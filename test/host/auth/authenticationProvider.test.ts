import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import type { Session } from '../../../src/core/oauth/session.ts';
import { RolecallAuthenticationProvider } from '../../../src/host/auth/authenticationProvider.ts';
import { InferenceTokens } from '../../../src/host/auth/inferenceTokens.ts';
import { SignIn } from '../../../src/host/auth/signIn.ts';
import { SignOut } from '../../../src/host/auth/signOut.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import { FakeSecrets } from '../support/fakes.ts';
import { addFault, clearFaults, growth, person } from '../support/sandbox.ts';
import { signInAs, signInWithRefreshToken, useScene } from '../support/scene.ts';

/** Signs in without a browser, as the administrator. */
class FakeSignIn extends SignIn {
  readonly asked: Cloud[] = [];

  override async run(cloud: Cloud): Promise<Session> {
    this.asked.push(cloud);
    return signInAs(cloud, 'administrator');
  }
}

type Change = vscode.AuthenticationProviderAuthenticationSessionsChangeEvent;

describe('the authentication provider', () => {
  const scene = useScene();
  afterEach(clearFaults);

  function provide() {
    const signIn = new FakeSignIn({
      links: { receive: () => assert.fail() },
      serviceTokens: { signIn: () => assert.fail() },
      addSecret: () => {},
      log: scene().log,
    });
    const signOut = new SignOut(new InferenceTokens(new FakeSecrets(), scene()), scene().log);
    const provider = scene().own(new RolecallAuthenticationProvider(scene().clouds, signIn, signOut, scene().log));
    const changes: Change[] = [];
    provider.onDidChangeSessions((change) => {
      changes.push(change);
    });
    return { provider, signIn, changes };
  }

  const labels = (sessions: readonly vscode.AuthenticationSession[] | undefined) =>
    sessions?.map(({ account }) => account.label);

  it('has no session while nothing is configured or nobody is signed in', async () => {
    const { provider } = provide();
    await scene().clouds.start();
    assert.deepEqual(await provider.getSessions(undefined, {}), []);
    await scene().startService();
    assert.deepEqual(await provider.getSessions(['openid'], {}), []);
  });

  it('lists one session for each connection, the sandbox’s marked as such', async () => {
    const { provider } = provide();
    await signInAs(await scene().startService(), 'administrator');
    await signInAs(scene().enterSandbox(), 'administrator');
    const sessions = await provider.getSessions(undefined, {});
    assert.deepEqual(labels(sessions), ['ada.moreau@meridian.example (sandbox)', 'ada.moreau@meridian.example']);
    assert.equal(new Set(sessions.map(({ id }) => id)).size, 2);
    assert.equal(new Set(sessions.map(({ account }) => account.id)).size, 2);
    assert.deepEqual(
      sessions.map(({ scopes }) => scopes),
      [['openid'], ['openid']],
    );
  });

  it('answers any requested scopes, and narrows to the account that is asked for', async () => {
    const { provider } = provide();
    await signInAs(await scene().startService(), 'administrator');
    await signInAs(scene().enterSandbox(), 'ordinaryUser');
    const [sandbox] = await provider.getSessions(['a', 'b'], {});
    assert.deepEqual(sandbox?.scopes, ['a', 'b']);
    const narrowed = await provider.getSessions(undefined, { account: sandbox?.account ?? assert.fail() });
    assert.deepEqual(labels(narrowed), ['ben.okafor@meridian.example (sandbox)']);
  });

  it('reads the stored session before it answers, also when nobody has yet', async () => {
    const { provider } = provide();
    const cloud = await scene().startService();
    await signInAs(cloud, 'administrator');
    const store = scene().stores.get('service') ?? assert.fail();
    let answer = () => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const slow = async () => {
      await asked;
      return store.read();
    };
    scene().stores.set('service', { ...store, read: slow });
    scene().settings.connection = { ...cloud.connection, inferenceUrl: 'http://127.0.0.1:9' };
    scene().settings.change(); // The same session in the store, another object that has not read it.
    assert.equal(scene().clouds.active?.tokenManager.session, undefined);
    const sessions = provider.getSessions(undefined, {});
    answer();
    assert.deepEqual(labels(await sessions), [person('administrator').email]);
  });

  it('renews an expired token before it hands it out', async () => {
    const { provider } = provide();
    const cloud = await scene().startService();
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.tokenManager.signIn({ ...session, expiresAt: Date.now() - 1 });
    const [renewed] = await provider.getSessions(undefined, {});
    assert.ok(renewed);
    assert.notEqual(renewed.accessToken, session.accessToken);
    assert.equal(cloud.tokenManager.session?.accessToken, renewed.accessToken);
  });

  it('still lists a session whose renewal fails for now: a network error signs nobody out', async () => {
    const { provider } = provide();
    const cloud = await scene().startService();
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.tokenManager.signIn({ ...session, expiresAt: Date.now() - 1 });
    await addFault({ service: 'identity', path: '/oauth2/v2/token', kind: 'html', status: 502, times: null });
    assert.deepEqual(labels(await provider.getSessions(undefined, {})), [person('administrator').email]);
    assert.equal(cloud.tokenManager.state.kind, 'offline');
  });

  it('lists none that the service has ended', async () => {
    const { provider, changes } = provide();
    const cloud = await scene().startService();
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.tokenManager.signIn({ ...session, refreshToken: 'spent', expiresAt: Date.now() - 1 });
    changes.length = 0;
    assert.deepEqual(await provider.getSessions(undefined, {}), []);
    assert.equal(cloud.tokenManager.state.kind, 'ended');
    assert.deepEqual(
      changes.map(({ removed }) => labels(removed)),
      [[person('administrator').email]],
    );
  });

  it('creates a session by signing in to the connection that is shown', async () => {
    const { provider, signIn } = provide();
    await scene().startService();
    const sandbox = scene().enterSandbox();
    const session = await provider.createSession(['openid', 'email']);
    assert.deepEqual(signIn.asked, [sandbox]);
    assert.equal(session.accessToken, sandbox.tokenManager.session?.accessToken);
    assert.deepEqual(session.scopes, ['openid', 'email']);
  });

  it('cannot create one while nothing is configured, and says what to set', async () => {
    const { provider, signIn } = provide();
    await scene().clouds.start();
    await assert.rejects(provider.createSession([]), /Set rolecall\.identity\.url/);
    assert.deepEqual(signIn.asked, []);
  });

  it('hands on why a sign-in failed', async () => {
    const { provider, signIn } = provide();
    await scene().startService();
    const failure = new RolecallError('offline', 'Nobody answers.');
    signIn.run = async () => {
      throw failure;
    };
    await assert.rejects(provider.createSession([]), failure);
  });

  it('removes exactly the session that is named', async () => {
    const { provider } = provide();
    const service = await scene().startService();
    await signInAs(service, 'administrator');
    const sandbox = scene().enterSandbox();
    await signInAs(sandbox, 'administrator');
    const [first] = await provider.getSessions(undefined, {});
    await provider.removeSession('unknown');
    assert.equal((await provider.getSessions(undefined, {})).length, 2);
    await provider.removeSession(first?.id ?? assert.fail());
    assert.equal(sandbox.tokenManager.state.kind, 'signedOut');
    assert.equal(service.tokenManager.state.kind, 'signedIn');
    const kept = async (id: string) => /accessToken/.test((await scene().stores.get(id)?.read()) ?? '');
    assert.deepEqual([await kept('sandbox'), await kept('service')], [false, true]);
  });

  describe('tells VS Code the difference to what it was told before', () => {
    const summary = ({ added, removed, changed }: Change) => ({
      added: labels(added),
      removed: labels(removed),
      changed: labels(changed),
    });
    const ada = 'ada.moreau@meridian.example';
    const ben = 'ben.okafor@meridian.example';

    it('when somebody signs in, gets another token, is somebody else, signs out', async () => {
      const { changes } = provide();
      const cloud = await scene().startService();
      await signInAs(cloud, 'administrator');
      await signInAs(cloud, 'administrator');
      await signInAs(cloud, 'ordinaryUser');
      await cloud.tokenManager.signOut();
      assert.deepEqual(changes.map(summary), [
        { added: [ada], removed: [], changed: [] },
        { added: [], removed: [], changed: [ada] },
        { added: [ben], removed: [ada], changed: [] },
        { added: [], removed: [ben], changed: [] },
      ]);
    });

    it('when the sandbox comes and goes', async () => {
      const { changes } = provide();
      await scene().clouds.start();
      await signInAs(scene().enterSandbox(), 'administrator');
      scene().clouds.leaveSandbox();
      assert.deepEqual(changes.map(summary), [
        { added: [`${ada} (sandbox)`], removed: [], changed: [] },
        { added: [], removed: [`${ada} (sandbox)`], changed: [] },
      ]);
    });

    it('when the services are configured away', async () => {
      const { changes } = provide();
      await signInAs(await scene().startService(), 'administrator');
      scene().settings.connection = undefined;
      scene().settings.change();
      assert.deepEqual(changes.map(summary).at(-1), { added: [], removed: [ada], changed: [] });
    });

    it('and nothing when nothing of a session has changed', async () => {
      const { changes } = provide();
      const cloud = await scene().startService();
      const session = await signInAs(cloud, 'administrator');
      changes.length = 0;
      scene().settings.change();
      await cloud.tokenManager.signIn({ ...session });
      assert.deepEqual(changes, []);
    });

    it('once for a renewed token', async () => {
      const { provider, changes } = provide();
      const cloud = await scene().startService();
      const session = await signInWithRefreshToken(cloud, 'administrator');
      await cloud.tokenManager.signIn({ ...session, expiresAt: Date.now() - 1 });
      changes.length = 0;
      const spent = await growth('identity POST /oauth2/v2/token', async () => {
        await Promise.all([provider.getSessions(undefined, {}), provider.getSessions(undefined, {})]);
      });
      assert.equal(spent, 1);
      assert.deepEqual(changes.map(summary), [{ added: [], removed: [], changed: [ada] }]);
    });
  });
});
