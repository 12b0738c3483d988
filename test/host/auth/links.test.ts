import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { SignInLinks } from '../../../src/host/auth/links.ts';
import { SignIn } from '../../../src/host/auth/signIn.ts';
import { commands, secrets } from '../../../src/ids.ts';
import { authorize } from '../../unit/sandbox/walk.ts';
import { usePatches } from '../support/patches.ts';
import { accounts, signOutRunning } from '../support/running.ts';
import { descriptor, growth, person } from '../support/sandbox.ts';
import { type Scene, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';
import { userSettings } from '../support/workspace.ts';

const TOKEN_ENDPOINT = 'identity POST /oauth2/v2/token';

describe('a sign-in that comes back by a link to the editor', () => {
  const scene = useScene();
  const patches = usePatches();
  /** Where the provider sent the browser. */
  let link: string;
  let errors: string[];
  let learned: (string | undefined)[];

  beforeEach(() => {
    link = '';
    errors = [];
    learned = [];
    patches.set(vscode.env, 'openExternal', async (uri: vscode.Uri) => {
      const start = await fetch(uri.toString(true), { redirect: 'manual' });
      const parameters = Object.fromEntries(new URL(start.headers.get('location') ?? '').searchParams);
      void authorize(descriptor, parameters, { person: 1 }).then((callback) => {
        link = callback;
      });
      return true;
    });
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => {
      errors.push(message);
    });
    patches.set(vscode.window, 'showInputBox', () => new Promise(() => {}));
  });

  /** One window: what asks, and what receives links. */
  async function openWindow(of: Scene) {
    const { clouds, log } = of;
    const addSecret = (secret: string | undefined) => void learned.push(secret);
    const cloud = await of.startService();
    await cloud.load();
    const links = new SignInLinks({ clouds, storage: of.secrets, addSecret, log });
    const signIn = new SignIn({ links, serviceTokens: { signIn: () => assert.fail() }, addSecret, log });
    const deliver = () => links.handleUri(vscode.Uri.parse(link));
    return { cloud, signIn, links, deliver };
  }

  it('in the window that asked', async () => {
    const window = await openWindow(scene());
    const session = window.signIn.run(window.cloud);
    await until('the link', () => link || undefined);
    await window.deliver();
    assert.equal((await session).account.id, person('ordinaryUser').id);
    assert.deepEqual([errors, [...scene().secrets.values.keys()]], [[], []], 'nothing of it stays in the secret store');
  });

  it('is remembered as a secret only when it answers what was asked: others could push out what is hidden', async () => {
    const { cloud, signIn, links, deliver } = await openWindow(scene());
    const session = signIn.run(cloud);
    await until('the link', () => link || undefined);
    const before = [...learned];
    for (const stranger of ['state=other&code=of-somebody-else', 'code=without-a-state', 'state=only-a-state']) {
      await links.handleUri(vscode.Uri.parse(link).with({ query: stranger }));
    }
    assert.deepEqual([learned, errors.length], [before, 3]);
    await deliver();
    await session;
    const code = new URL(link).searchParams.get('code');
    assert.ok(code !== null && learned.includes(code));
  });

  it('in another window, which finishes it; the one that asked hears of it', async () => {
    const [asking, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = asking.signIn.run(asking.cloud);
    await until('the link', () => link || undefined);
    const kept = [...scene().secrets.values];
    assert.equal(kept.length, 1);
    assert.ok(kept[0]?.[0].startsWith(secrets.signIn));
    await other.deliver();
    assert.equal(other.cloud.tokenManager.state.kind, 'signedIn');
    assert.equal((await session).accessToken, other.cloud.tokenManager.session?.accessToken);
    assert.equal(asking.cloud.tokenManager.state.kind, 'signedIn');
    await until('an empty secret store', () => scene().secrets.values.size === 0);
    assert.deepEqual(errors, []);
  });

  it('when the window that asked is gone', async () => {
    const [asking, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    asking.signIn.run(asking.cloud).catch(() => {});
    await until('the link', () => link || undefined);
    asking.cloud.dispose();
    await other.deliver();
    assert.equal(other.cloud.tokenManager.session?.account.id, person('ordinaryUser').id);
    asking.signIn.cancel();
  });

  it('exactly once, in however many windows it arrives', async () => {
    const asking = await openWindow(scene());
    const others = await Promise.all([1, 2, 3].map(() => openWindow(scene().beside())));
    const exchanges = await growth(TOKEN_ENDPOINT, async () => {
      const session = asking.signIn.run(asking.cloud);
      await until('the link', () => link || undefined);
      await Promise.all([...others, asking].map(({ deliver }) => deliver()));
      await session;
    });
    assert.equal(exchanges, 1);
    assert.equal(errors.length, 3);
    for (const error of errors) assert.match(error, /already finished|does not belong to a sign-in/);
    for (const { cloud } of others) assert.equal(cloud.tokenManager.state.kind, 'signedIn');
  });

  it('a second time is refused, without asking the service', async () => {
    const window = await openWindow(scene());
    const session = window.signIn.run(window.cloud);
    await until('the link', () => link || undefined);
    await window.deliver();
    await session;
    assert.equal(await growth(TOKEN_ENDPOINT, () => window.deliver()), 0);
    assert.match(errors.join(), /does not belong to a sign-in that Rolecall is waiting for/);
  });

  const strays: readonly [string, (link: string) => string][] = [
    ['another state', (good) => good.replace(/state=[^&]+/, 'state=other')],
    ['no state', (good) => good.replace(/&?state=[^&]+/, '')],
    ['another path', (good) => good.replace('/callback', '/other')],
  ];
  for (const [what, spoil] of strays) {
    it(`with ${what} is refused, and the wait goes on`, async () => {
      const window = await openWindow(scene());
      const session = window.signIn.run(window.cloud);
      await until('the link', () => link || undefined);
      const good = link;
      link = spoil(good);
      assert.equal(await growth(TOKEN_ENDPOINT, () => window.deliver()), 0);
      assert.match(errors.join(), /does not belong to a sign-in/);
      link = good;
      await window.deliver();
      assert.ok((await session).accessToken);
    });
  }

  it('that fails in another window is told there, and ends the wait here', async () => {
    const [asking, other] = [await openWindow(scene()), await openWindow(scene().beside())];
    const session = asking.signIn.run(asking.cloud);
    session.catch(() => {});
    await until('the link', () => link || undefined);
    link = link.replace(/code=[^&]+/, 'code=wrong');
    await other.deliver();
    assert.equal(errors.length, 1);
    await assert.rejects(session, /failed in another window/);
    assert.equal(asking.cloud.tokenManager.state.kind, 'signedOut');
  });

  it('works while the keyring is locked, in the window that asked', async () => {
    patches.set(scene().secrets, 'store', async () => {
      throw new Error('locked');
    });
    const window = await openWindow(scene());
    const session = window.signIn.run(window.cloud);
    await until('the link', () => link || undefined);
    await window.deliver();
    assert.ok((await session).accessToken);
  });

  describe('of the running extension', () => {
    const user = userSettings();

    it('delivered by VS Code', async () => {
      const client = descriptor.clients.link;
      await user.write({
        'identity.url': descriptor.identity,
        'inference.url': descriptor.inference,
        'identity.clientId': client.id,
        'identity.redirectUri': client.redirectUri,
        'identity.scopes': 'openid email',
      });
      patches.set(vscode.window, 'showInputBox', (options: vscode.InputBoxOptions) =>
        options.password ? Promise.resolve(client.secret) : new Promise(() => {}),
      );
      const signedIn = vscode.commands.executeCommand(commands.signIn);
      await until('the link', () => link || undefined);
      await vscode.commands.executeCommand('vscode.open', vscode.Uri.parse(link));
      await signedIn;
      assert.deepEqual(await accounts(), [person('ordinaryUser').email]);
      assert.deepEqual(errors, []);
      await signOutRunning();
    });
  });
});
