import assert from 'node:assert/strict';
import { redact } from '../../../../src/core/base/redact.ts';
import { reportOf } from '../../../../src/core/diagnosis/diagnose.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis/facts.ts';
import { AT, healthy, known, withValue } from './sample.ts';

const asIs = (text: string) => text;

/** The numbered sentences at the head. */
function findings(diagnosis: Diagnosis): string[] {
  const head = reportOf(diagnosis, asIs).split('## Findings\n\n')[1]?.split('\n\n')[0] ?? '';
  return head.split('\n').filter((line) => /^\d+\. /.test(line));
}

describe('the report of a sign-in diagnosis', () => {
  it('says of a sign-in that is well what it is made of, and that nothing is in its way', () => {
    assert.equal(
      reportOf(healthy, asIs),
      `# Sign-in diagnosis

Generated 2026-03-01 12:00:00 UTC. Contains no tokens or secrets, but names your services, folders and proxies: review before sharing.

## Findings

No problems found.

## Versions

- **Rolecall:** \`0.1.0\`
- **Editor:** \`Visual Studio Code 1.122.0\`, on the desktop
- **Remote:** no
- **Rolecall runs on:** this machine
- **Node.js:** \`24.1.0\`
- **System:** \`linux x64\`
- **Identity specification:** \`1.11.0\`

## Settings

- **Connection:** the configured services
- **Identity service:** \`https://identity.example.com\`
- **Inference service:** \`https://inference.example.com/prefix\`
- **Client ID:** \`7d6f2a54-91c3-4b7e-8a0d-2f6f0a5f9b11\`
- **Client authentication:** \`client_secret_post\`
- **Scopes:** \`openid email profile\`
- **Extra headers:** none
- **Client secret:** in the secret store

## Services, without a token

- **Identity service:** returned 200 after 40 ms
- **Discovery:** found, for this issuer, with endpoints on the same host
- **Clock:** this machine and the service agree within 1 second
- **Inference service:** returned 401 after 30 ms

## Redirect URI

- **Redirect URI:** \`http://127.0.0.1:18155/callback\`
- **Redirect listener:** free, so a sign-in can listen there

## Proxy and certificates

- **http.proxy:** \`http://proxy.example.com:3128\`
- **http.proxySupport:** \`override\`
- **http.proxyAuthorization:** not set
- **http.noProxy:** \`*.internal.example.com\`
- **HTTPS_PROXY:** \`http://proxy.example.com:3128\`
- **NO_PROXY:** \`localhost, 127.0.0.1\`
- **http.proxyStrictSSL:** on
- **http.systemCertificates:** on
- **NODE_EXTRA_CA_CERTS:** \`/etc/ssl/company.pem\` (read when the editor starts)
- **Not checked:** proxies from the system’s settings or a PAC file

## Session

- **Secret store:** readable and writable
- **Session:** signed in
- **Generation:** 7
- **Access token:** valid until 2026-03-01 12:41:00 UTC (in 41 minutes)
- **Token refresh:** automatic
- **Shared folder:** \`/home/ada/.local/state/rolecall/desk/0123456789abcdef0123456789abcdef\`, mode \`700\`
- **Shared generation:** 7
- **Windows:** 3
- **Refreshing window:** no window

## Chat

- **@rolecall:** available
- **Messages without @rolecall:** go to VS Code’s own assistant, which may ask for a GitHub sign-in; "Rolecall: Use My Cloud’s Models in VS Code’s Chat" changes that
- **chat.byokUtilityModelDefault:** \`copilot\`

## Workspace tools

- **Contained programs:** yes, by bubblewrap

## Command line

- **Programs in a terminal:** 1 allowed to use a sign-in; "Reset Command Line Access" makes them ask again
- **Access through this window:** available

## Recent warnings and errors in this window

- **Log:** none
`,
    );
  });

  it('loses nothing to the hiding of secrets where there is none', () => {
    assert.equal(reportOf(healthy, redact), reportOf(healthy, asIs));
  });

  const troubles: readonly (readonly [title: string, diagnosis: Diagnosis, says: readonly RegExp[]])[] = [
    [
      'no services are configured',
      { ...healthy, connection: known({ kind: 'unconfigured' }), identity: { kind: 'skipped', why: 'nothing yet' } },
      [/Set rolecall\.identity\.url/],
    ],
    [
      'a setting cannot be used',
      { ...healthy, connection: known({ kind: 'misconfigured', problem: 'rolecall.identity.url must be …' }) },
      [/`rolecall\.identity\.url must be …`/],
    ],
    [
      'programs of tools are not contained',
      {
        ...healthy,
        containment: known({
          kind: 'none',
          reason: 'bubblewrap is not installed.',
          remedy: 'sudo apt install bubblewrap',
        }),
      },
      [/`bubblewrap is not installed\.` To fix this, run `sudo apt install bubblewrap`/],
    ],
    ['the client secret is missing', { ...healthy, clientSecret: known('missing') }, [/Set Client Secret/]],
    [
      'TLS is inspected by a network whose root nobody knows here',
      withValue('identity', {
        probe: { kind: 'unreachable', url: 'x', ms: 5, message: 'No.', codes: ['SELF_SIGNED_CERT_IN_CHAIN'] },
        discovery: undefined,
      }),
      [/Identity service:\*\* The certificate is not trusted on this machine.*NODE_EXTRA_CA_CERTS/],
    ],
    [
      'the request failed for a reason nobody has heard of',
      withValue('inference', { kind: 'unreachable', url: 'x', ms: 5, message: 'No.', codes: [] }),
      [/Inference service:\*\* The request failed before a response arrived/],
    ],
    ['the service fails', withValue('inference', { status: 502 }), [/You don’t need to change anything here/]],
    ['a proxy answers instead', withValue('inference', { status: 407 }), [/proxy requires a user name/]],
    [
      'discovery names another issuer',
      withValue('identity', { discovery: { kind: 'unusable', problem: 'it says that it is [x](https://y)' } }),
      [/`it says that it is \[x\]\(https:\/\/y\)`/],
    ],
    [
      'the clock is wrong',
      withValue('identity', { probe: { kind: 'answered', url: 'x', ms: 1, status: 200, skewMs: 400_000 } }),
      [/Clock:\*\* .*set its clock automatically/],
    ],
    [
      'another program has the port',
      withValue('redirect', { kind: 'taken', program: 'nginx' }),
      [/Stop it, or register another redirect URI/],
    ],
    ['the port is reserved', withValue('redirect', { kind: 'refused', code: 'EACCES' }), [/may be reserved/]],
    [
      'the link is another editor’s',
      withValue('redirect', { kind: 'editorLink', scheme: 'vscode-insiders', isThisEditor: false }),
      [/opens another program/],
    ],
    ['the redirect goes to a web page', withValue('redirect', { kind: 'elsewhere' }), [/Paste the address/]],
    [
      'Rolecall runs where the browser is not',
      withValue('versions', { runsOn: 'the remote machine', remote: 'ssh-remote' }),
      [/runs on another machine than Rolecall/],
    ],
    [
      'nobody checks certificates',
      withValue('network', {
        settings: { proxyStrictSSL: false, proxyAuthorization: true },
        isUnchecked: true,
        extraCertificates: { path: '/gone.pem', state: 'unreadable' },
      }),
      [/proxyStrictSSL/, /CERTS:\*\* The file cannot be read/, /REJECT_UNAUTHORIZED:\*\* .*Remove it/],
    ],
    [
      'the secret store hangs',
      { ...healthy, store: { kind: 'failed', problem: 'no answer' } },
      [/Secret store.*`no answer`/],
    ],
    ['the session has ended', withValue('session', { state: 'ended', reason: 'Over.' }), [/Sign in again/]],
    ['the network is away', withValue('session', { state: 'offline', reason: 'No.' }), [/still signed in/]],
    ['the keyring is locked', withValue('session', { state: 'storeUnavailable' }), [/have not been signed out/]],
    ['the folder is open', withValue('shared', { folder: { mode: '755', isOurs: true } }), [/Other users can read/]],
    [
      'the folder is another’s',
      withValue('shared', { folder: { mode: '700', isOurs: false } }),
      [/does not belong to this user/],
    ],
    [
      'a stopped window holds',
      withValue('shared', { holder: { kind: 'held', pid: 4711, isThisWindow: false, answers: false } }),
      [/Resume or close it/],
    ],
    [
      'a lock that cannot be read',
      withValue('shared', { holder: { kind: 'unreadable' } }),
      [/The newest file in the folder `locks` is damaged/],
    ],
  ];
  for (const [title, diagnosis, says] of troubles) {
    it(`says at its head, with what to do: ${title}`, () => {
      const found = findings(diagnosis);
      assert.equal(found.length, says.length, found.join('\n'));
      for (const [n, pattern] of says.entries()) assert.match(found[n] ?? '', pattern);
    });
  }

  it('says what state the session is in, in words', () => {
    const states = {
      starting: 'starting',
      signingIn: 'signing in',
      refreshing: 'signed in, refreshing the access token',
      offline: 'signed in, offline',
      ended: 'ended',
      storeUnavailable: 'unknown: the secret store cannot be read',
    };
    for (const [state, words] of Object.entries(states)) {
      const report = reportOf(withValue('session', { state }), asIs);
      assert.ok(report.includes(`\n- **Session:** ${words}\n`), state);
    }
  });

  const fine: readonly (readonly [title: string, diagnosis: Diagnosis, says: RegExp])[] = [
    [
      'a service without discovery',
      withValue('identity', { discovery: { kind: 'absent', status: 404 } }),
      /Discovery:\*\* none \(404\): the endpoints in the specification/,
    ],
    [
      'a service that does not tell the time',
      withValue('identity', { probe: { kind: 'answered', url: 'x', ms: 1, status: 404 } }),
      /Clock:\*\* the service does not send the time/,
    ],
    ['a sign-in under way', withValue('redirect', { kind: 'ours' }), /Redirect listener:\*\* Rolecall, for a sign-in/],
    [
      'this editor’s own link',
      withValue('redirect', { kind: 'editorLink', scheme: 'vscode', isThisEditor: true }),
      /Redirect listener:\*\* this editor/,
    ],
    [
      'a service token',
      withValue('session', { isRefreshable: false, expiresAt: undefined }),
      /Token refresh:\*\* not possible/,
    ],
    [
      'nobody signed in',
      { ...healthy, session: known({ state: 'signedOut' }) },
      /Session:\*\* signed out\n- \*\*Shared/,
    ],
    ['an old token', withValue('session', { expiresAt: AT - 3_000_000 }), /11:10:00 UTC \(50 minutes ago\)/],
    [
      'a store that is not written to',
      { ...healthy, store: known({ kind: 'readable', why: 'a reason' }) },
      /readable; writing was not tested: a reason/,
    ],
    [
      'no shared folder',
      { ...healthy, shared: known({ path: '/x', windows: 0, holder: { kind: 'nobody' } }) },
      /`\/x` does not exist yet/,
    ],
    [
      'a renewal in another window',
      withValue('shared', { holder: { kind: 'held', pid: 4711, isThisWindow: false, answers: true } }),
      /Refreshing window:\*\* the window with process ID 4711$/m,
    ],
  ];
  for (const [title, diagnosis, says] of fine) {
    it(`finds no fault with ${title}`, () => {
      assert.match(reportOf(diagnosis, asIs), says);
      assert.deepEqual(findings(diagnosis), []);
    });
  }

  it('tells the newest problem first', () => {
    const problems = known([
      { at: AT - 60_000, level: 'warning', message: 'first' },
      { at: AT, level: 'error', message: 'second' },
    ] as const);
    assert.match(
      reportOf({ ...healthy, problems }, asIs),
      /UTC, error:\*\* `second`\n- \*\*2026-03-01 11:59:00 UTC, warning:\*\* `first`\n$/,
    );
  });

  it('lets nothing of others be Markdown', () => {
    const evil = '`` ` ![x](https://evil.example/x.png)\n# Title\r\n<img src=x>\u2028\u202e``';
    const report = reportOf({ ...healthy, problems: known([{ at: AT, level: 'error', message: evil }]) }, asIs);
    const line = report.split('\n').find((each) => each.includes('evil'));
    assert.equal(
      line,
      '- **2026-03-01 12:00:00 UTC, error:** ``` `` ` ![x](https://evil.example/x.png) # Title <img src=x> `` ```',
    );
  });
});
