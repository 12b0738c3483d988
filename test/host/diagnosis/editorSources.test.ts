import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { diagnose } from '../../../src/core/diagnosis/diagnose.ts';
import type { Diagnosis } from '../../../src/core/diagnosis/facts.ts';
import { type EditorSourcesDeps, editorSources } from '../../../src/host/diagnosis/editorSources.ts';
import { secrets } from '../../../src/ids.ts';
import { FakeSecrets, FakeSettings } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { connectionTo, descriptor } from '../support/sandbox.ts';
import { userSettings } from '../support/workspace.ts';

const never = new AbortController().signal;

describe('what a diagnosis finds out in an editor', function () {
  this.timeout(10_000);
  const patches = usePatches();
  const user = userSettings();
  const connection = connectionTo('service');
  let storage: FakeSecrets;
  let learned: (string | undefined)[];

  beforeEach(() => {
    storage = new FakeSecrets();
    learned = [];
  });

  type Kept = NonNullable<EditorSourcesDeps['clouds']['active']>['tokenManager'];

  async function find(change: Partial<EditorSourcesDeps> = {}, tokenManager?: Kept): Promise<Diagnosis> {
    const active = {
      connection,
      tokenManager: tokenManager ?? { state: { kind: 'signedOut' }, session: undefined },
      load: async () => {},
      storage: { state: '/nowhere/at/all' },
    };
    const sources = editorSources({
      clouds: { active, problem: undefined },
      settings: new FakeSettings(),
      secrets: storage,
      clientSecret: async () => descriptor.clients.link.secret,
      addSecret: (secret) => void learned.push(secret),
      extension: { packageJSON: { version: '1.2.3' }, extensionKind: vscode.ExtensionKind.UI },
      fetch,
      chat: async () => ({ isUsedWithoutParticipant: false }),
      tools: { containment: async () => ({ kind: 'bubblewrap' }) },
      commandLine: { status: async () => ({ allowed: 0, isOpen: true }) },
      problems: { all: [] },
      ...change,
    });
    return diagnose(sources, Date.now, never);
  }

  function known<T>(gathered: { kind: string; value?: T }): T {
    assert.equal(gathered.kind, 'known', JSON.stringify(gathered));
    return gathered.value as T;
  }

  const onDesktop = () => patches.set(vscode.env, 'uiKind', vscode.UIKind.Desktop);

  it('is which versions, and where Rolecall runs', async () => {
    onDesktop();
    patches.set(vscode.env, 'remoteName', undefined);
    const here = known((await find()).versions);
    assert.deepEqual(here, {
      extension: '1.2.3',
      editor: `${vscode.env.appName} ${vscode.version}`,
      shownIn: 'desktop',
      runsOn: 'this machine',
      node: process.versions.node,
      system: `${process.platform} ${process.arch}`,
    });
    patches.set(vscode.env, 'remoteName', 'ssh-remote');
    const extension = { packageJSON: { version: '1.2.3' }, extensionKind: vscode.ExtensionKind.Workspace };
    const there = known((await find({ extension })).versions);
    assert.deepEqual([there.remote, there.runsOn], ['ssh-remote', 'the remote machine']);
    assert.equal(known((await find()).versions).runsOn, 'this machine', 'a `ui` extension stays with the user');
  });

  it('is what the services say to a request without a token', async () => {
    const asked: Request[] = [];
    const watching: typeof fetch = (input, init) => {
      asked.push(new Request(input, init));
      return fetch(input, init);
    };
    const found = await find({ fetch: watching });
    const { probe, discovery } = known(found.identity);
    assert.deepEqual([probe.kind, discovery?.kind], ['answered', 'found']);
    assert.ok(probe.kind === 'answered' && Math.abs(probe.skewMs ?? Number.NaN) < 2000);
    assert.equal(known(found.inference).kind, 'answered');
    assert.deepEqual(
      asked.map(({ url, headers }) => [url, headers.get('authorization')]).sort(),
      [
        [`${descriptor.identity}/.well-known/openid-configuration`, null],
        [`${descriptor.inference}/v1/models`, null],
      ].sort(),
    );
  });

  it('asks nobody while nothing is configured, and says why nothing can be', async () => {
    const silent: typeof fetch = () => assert.fail('nobody is to be asked');
    const unconfigured = await find({ clouds: { active: undefined, problem: undefined }, fetch: silent });
    assert.deepEqual(known(unconfigured.connection), { kind: 'unconfigured' });
    for (const name of ['identity', 'inference', 'clientSecret', 'redirect', 'session', 'shared'] as const) {
      assert.equal(unconfigured[name].kind, 'skipped', name);
    }
    const problem = new RolecallError('configuration', 'rolecall.identity.url must be an address.');
    const wrong = await find({ clouds: { active: undefined, problem }, fetch: silent });
    assert.deepEqual(known(wrong.connection), { kind: 'misconfigured', problem: problem.message });
  });

  it('is the names of the extra headers, where they are sent, and what is not used of the settings', async () => {
    const settings = new FakeSettings();
    settings.headers = { 'X-Tenant': 'canary-value', Host: 'canary-value' };
    const fact = known((await find({ settings })).connection);
    assert.deepEqual(fact.kind === 'connection' && fact.headers, ['X-Tenant']);
    assert.match(fact.kind === 'connection' ? fact.problems.join() : '', /"Host" is not sent/);
    const tokenManager = { state: { kind: 'signedOut' }, session: undefined };
    const active = { connection: connectionTo('sandbox'), tokenManager, load: async () => {} };
    const inSandbox = known((await find({ settings, clouds: { active, problem: undefined } })).connection);
    assert.deepEqual(inSandbox.kind === 'connection' && inSandbox.headers, []);
    assert.doesNotMatch(JSON.stringify([fact, inSandbox]), /canary/);
  });

  it('is whether the client secret is there, which from then on is hidden', async () => {
    assert.equal(known((await find()).clientSecret), 'stored');
    assert.deepEqual(learned, [descriptor.clients.link.secret]);
    assert.equal(known((await find({ clientSecret: async () => undefined })).clientSecret), 'missing');
    const asking = async () => assert.fail('not asked for');
    for (const change of [{ clientAuthentication: 'none' }, { clientId: '' }] as const) {
      const clouds = {
        active: {
          connection: { ...connection, ...change },
          tokenManager: { state: { kind: 'signedOut' }, session: undefined },
          load: async () => {},
        },
        problem: undefined,
      };
      assert.equal(known((await find({ clouds, clientSecret: asking })).clientSecret), 'not needed');
    }
  });

  it('is that the secret store keeps what is written, of which nothing stays', async () => {
    onDesktop();
    const written: string[] = [];
    storage.onDidChange(({ key }) => void written.push(key));
    assert.deepEqual(known((await find()).store), { kind: 'writable' });
    assert.equal(written.length, 2);
    assert.ok(written.every((key) => key.startsWith(secrets.probe)));
    assert.equal(storage.values.size, 0);
  });

  it('does not write to the store of a browser, where that would put back an old copy of everything', async () => {
    patches.set(vscode.env, 'uiKind', vscode.UIKind.Web);
    storage.store = async () => assert.fail('not written to');
    assert.equal(known((await find()).store).kind, 'readable');
  });

  const broken: readonly (readonly [title: string, breaks: () => void, problem: RegExp])[] = [
    [
      'is locked',
      () => {
        storage.store = async () => {
          throw new Error('The keyring is locked');
        };
      },
      /The keyring is locked/,
    ],
    [
      'forgets at once',
      () => {
        storage.get = async () => undefined;
      },
      /cannot be read back/,
    ],
  ];
  for (const [title, breaks, problem] of broken) {
    it(`tells that a secret store ${title}, and everything else all the same`, async () => {
      onDesktop();
      breaks();
      const found = await find();
      assert.ok(found.store.kind === 'failed');
      assert.match(found.store.problem, problem);
      assert.equal(found.identity.kind, 'known');
    });
  }

  it('is state, generation and end of the session, and no token', async () => {
    const session = { generation: 7, expiresAt: 1234, refreshToken: 'a refresh token', accessToken: 'an access token' };
    const { session: fact } = await find({}, { state: { kind: 'signedIn' }, session });
    assert.deepEqual(known(fact), { state: 'signedIn', generation: 7, expiresAt: 1234, isRefreshable: true });
    const error = new RolecallError('sessionEnded', 'It is over.');
    const { session: over } = await find({}, { state: { kind: 'ended', error }, session: undefined });
    assert.deepEqual(known(over), { state: 'ended', reason: 'It is over.' });
    const { session: token } = await find({}, { state: { kind: 'signedIn' }, session: { generation: 1 } });
    assert.deepEqual(known(token), { state: 'signedIn', generation: 1, isRefreshable: false });
  });

  it('is what the editor’s settings say about proxies, without credentials of theirs', async () => {
    await user.writeElsewhere('http.proxy', 'http://127.0.0.1:9');
    await user.writeElsewhere('http.proxyStrictSSL', false);
    await user.writeElsewhere('http.proxyAuthorization', 'Basic c2VjcmV0OnNlY3JldA==');
    await user.writeElsewhere('http.noProxy', ['*.example.com']);
    const { settings } = known((await find()).network);
    assert.deepEqual(
      [settings.proxy, settings.proxyStrictSSL, settings.noProxy, settings.proxyAuthorization],
      ['http://127.0.0.1:9', false, ['*.example.com'], true],
    );
    assert.ok(!JSON.stringify(settings).includes('c2VjcmV0'));
  });

  it('is who listens on the redirect URI, and what the windows share', async () => {
    const found = await find();
    const redirect = known(found.redirect);
    assert.equal(redirect.uri, connection.redirectUri);
    const { path, windows, folder } = known(found.shared);
    assert.match(path, /^[\\/]nowhere[\\/]at[\\/]all[\\/][\da-f]{32}$/);
    assert.deepEqual([windows, folder], [0, undefined]);
  });
});
