import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { RolecallAuthenticationProvider } from '../../../src/host/auth/authenticationProvider.ts';
import { InferenceTokens } from '../../../src/host/auth/inferenceTokens.ts';
import { SignIn } from '../../../src/host/auth/signIn.ts';
import { SignOut } from '../../../src/host/auth/signOut.ts';
import { deferred } from '../../unit/core/deferred.ts';
import { growth, person } from '../support/sandbox.ts';
import { type Scene, signInWithRefreshToken, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const TOKEN_ENDPOINT = 'identity POST /oauth2/v2/token';
const { signal } = new AbortController();

type Change = vscode.AuthenticationProviderAuthenticationSessionsChangeEvent;

describe('two windows', () => {
  const scene = useScene();

  async function openWindow(of: Scene) {
    const cloud = await of.startService();
    await cloud.load();
    const { log, clouds } = of;
    const signIn = new SignIn({
      links: { receive: () => assert.fail() },
      serviceTokens: { signIn: () => assert.fail() },
      addSecret: () => {},
      log,
    });
    const signOut = new SignOut(new InferenceTokens(of.secrets, of), log);
    const provider = of.own(new RolecallAuthenticationProvider(clouds, signIn, signOut, log));
    const changes: Change[] = [];
    provider.onDidChangeSessions((change) => changes.push(change));
    return { cloud, provider, changes, signOut };
  }

  const summary = (changes: readonly Change[]) =>
    changes.map(({ added, removed, changed }) => [added?.length ?? 0, removed?.length ?? 0, changed?.length ?? 0]);

  it('share a sign-in, a renewal and a sign-out at once, and tell VS Code the same', async () => {
    const [one, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = await signInWithRefreshToken(one.cloud, 'administrator');
    assert.equal(other.cloud.tokenManager.session?.accessToken, session.accessToken);
    assert.deepEqual(summary(other.changes), [[1, 0, 0]]);

    const renewed = await one.cloud.tokenManager.refreshAfter401(session.accessToken, signal);
    assert.ok(renewed && renewed !== session.accessToken);
    assert.equal(other.cloud.tokenManager.session?.accessToken, renewed, 'told before the first window uses it');
    assert.equal(await other.cloud.tokenManager.accessToken(signal), renewed);
    assert.deepEqual(summary(other.changes).at(-1), [0, 0, 1]);

    await one.signOut.run(one.cloud);
    assert.equal(other.cloud.tokenManager.state.kind, 'signedOut');
    assert.deepEqual(summary(other.changes).at(-1), [0, 1, 0]);
    assert.deepEqual(await other.provider.getSessions(undefined, {}), []);
  });

  it('spend a refresh token once, though both find the access token refused at the same moment', async () => {
    const [one, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = await signInWithRefreshToken(one.cloud, 'administrator');
    const spent = await growth(TOKEN_ENDPOINT, async () => {
      const tokens = await Promise.all(
        [one, other].map(({ cloud }) => cloud.tokenManager.refreshAfter401(session.accessToken, signal)),
      );
      assert.equal(new Set(tokens).size, 1);
    });
    assert.equal(spent, 1);
  });

  it('of which one opens later starts from the newest pair', async () => {
    const one = await openWindow(scene());
    const session = await signInWithRefreshToken(one.cloud, 'administrator');
    const renewed = await one.cloud.tokenManager.refreshAfter401(session.accessToken, signal);
    one.cloud.dispose();
    const later = await openWindow(scene().beside());
    assert.equal(later.cloud.tokenManager.session?.accessToken, renewed);
    assert.equal(later.cloud.tokenManager.session?.account.label, person('administrator').email);
  });

  it('of which one closes in the middle of a renewal leave the new pair to the other', async () => {
    const [one, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = await signInWithRefreshToken(one.cloud, 'administrator');
    const [rotated, goOn] = [deferred<void>(), deferred<void>()];
    scene().network = async (...request) => {
      const answer = await fetch(...request);
      if (!String(request[0]).endsWith('/token')) return answer;
      rotated.resolve();
      await goOn.promise;
      return answer;
    };
    const renewing = one.cloud.tokenManager.refreshAfter401(session.accessToken, signal);
    await rotated.promise;
    const closing = scene().clouds.close();
    goOn.resolve();
    await closing;
    await other.cloud.tokenManager.load();
    assert.equal(other.cloud.tokenManager.session?.accessToken, await renewing);
    assert.equal(other.cloud.tokenManager.state.kind, 'signedIn');
  });

  it('both learn that the session is over, from the one that found out', async () => {
    const [one, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = await signInWithRefreshToken(one.cloud, 'administrator');
    await one.cloud.tokenManager.signIn({ ...session, refreshToken: 'spent', expiresAt: Date.now() - 1 });
    await assert.rejects(one.cloud.tokenManager.accessToken(signal));
    await until('the other window', () => other.cloud.tokenManager.state.kind === 'ended');
    assert.deepEqual(summary(other.changes).at(-1), [0, 1, 0]);
  });
});
