import assert from 'node:assert/strict';
import { Redactor } from '../../../../src/core/base/redact.ts';
import { reportOf } from '../../../../src/core/diagnosis/diagnose.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis/facts.ts';
import { AT, healthy, known, withValue } from './sample.ts';

/** As the services and proxies of this kind make them. */
const SECRETS = {
  accessToken: `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..${'Zk3vQ9_x'.repeat(2)}.${'mB7-tR2wKq'.repeat(12)}.J8sYt0aPqW4`,
  refreshToken: `rt_${'hQ4zN8cV'.repeat(12)}`,
  code: 'c0de-9fKq2LmX7ZtB4vRw',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  state: 'af0ifjsldkj-QpX83bTz',
  clientSecret: 'Zx9-s3cr3t~K/+q%2B&=tail',
  proxyPassword: 'Pr0xy,p@ss,c0mma/w0rd',
  key: Buffer.alloc(32, 0xa7).toString('base64'),
} as const;

/** Those that the extension holds, and so tells the redactor. The proxy's password is the editor's alone. */
const LEARNED = Object.entries(SECRETS).flatMap(([name, value]) => (name === 'proxyPassword' ? [] : [value]));

/** Everything of a secret that would be of use to somebody: as it is, encoded, or a piece of it. */
function leaks(report: string, secrets: readonly string[] = Object.values(SECRETS)): string[] {
  return secrets.filter((secret) => {
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('base64url'),
    ];
    return forms.some((form) => report.includes(form));
  });
}

/** What chooses a sentence of ours, by the types, and is not text of anybody's. */
const CHOOSES = new Set(['kind', 'shownIn', 'runsOn', 'level']);

/** The same with every string in it, of its path, replaced. */
function replaced<T>(value: T, by: (text: string, path: string) => string, path = ''): T {
  if (typeof value === 'string') return by(value, path) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  for (const [name, inner] of Object.entries(value)) {
    if (!CHOOSES.has(name)) Reflect.set(copy, name, replaced(inner, by, `${path}.${name}`));
  }
  return copy as T;
}

/** Between them every member that a text can stand in. */
const SAMPLES: readonly Diagnosis[] = [
  withValue('versions', { remote: 'ssh-remote' }),
  { ...healthy, connection: known({ kind: 'misconfigured', problem: 'sentence' }) },
  withValue('identity', {
    probe: { kind: 'unreachable', url: 'https://x', ms: 1, message: 'sentence', codes: ['CODE'] },
    discovery: undefined,
  }),
  withValue('identity', { discovery: { kind: 'unusable', problem: 'sentence' } }),
  withValue('redirect', { kind: 'taken', program: 'nginx' }),
  withValue('redirect', { kind: 'refused', code: 'EACCES' }),
  withValue('redirect', { kind: 'editorLink', scheme: 'vscode-insiders', isThisEditor: false }),
  withValue('session', { state: 'ended', reason: 'sentence' }),
  { ...healthy, store: known({ kind: 'readable', why: 'sentence' }) },
  { ...healthy, problems: known([{ at: AT, level: 'error', message: 'sentence' }]) },
  ...(['versions', 'clientSecret', 'store', 'shared', 'network'] as const).map((name) => ({
    ...healthy,
    [name]: { kind: 'failed', problem: 'sentence' },
  })),
];

describe('a diagnosis made with secrets in every place', () => {
  const redactor = new Redactor();
  for (const secret of LEARNED) redactor.addSecret(secret);
  const hide = (text: string) => redactor.redact(text);
  const asIs = (text: string) => text;

  /** Every secret in the ways in which they come along. */
  const forms = (secrets: readonly string[]) =>
    secrets.flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64url')]);

  it('would be found out by the search below, wherever it is shown', () => {
    const shown = new Set<string>();
    const all = new Set<string>();
    for (const sample of SAMPLES) {
      const marks = new Map<string, string>();
      const marked = replaced(sample, (text, path) => {
        const mark = `${SECRETS.state}-${marks.size}-`;
        marks.set(path, mark);
        return `${text} ${mark}`;
      });
      const report = reportOf(marked, asIs);
      for (const [path, mark] of marks) {
        all.add(path);
        if (leaks(report, [mark]).length > 0) shown.add(path);
      }
    }
    assert.ok(shown.size >= 30, `${[...shown]}`);
    // What the report has no use for.
    assert.deepEqual([...all].filter((path) => !shown.has(path)).sort(), [
      '.clientSecret.value',
      '.connection.value.connection.id',
      '.connection.value.connection.label',
      '.connection.value.connection.redirectUri',
      '.identity.value.probe.url',
      '.inference.value.url',
      '.network.value.extraCertificates.state',
      '.network.value.settings.noProxy.0',
      '.network.value.settings.proxy',
      '.network.value.variables.HTTPS_PROXY',
      '.network.value.variables.NO_PROXY',
    ]);
  });

  it('holds none of those that the extension knows, in no encoding', () => {
    const all = forms(LEARNED);
    let count = 0;
    // Each in each member, and all members at once: a report with many costs what one with a single secret does.
    for (const sample of SAMPLES) {
      for (const first of all.keys()) {
        let at = first;
        const planted = replaced(sample, (text) => {
          count += 1;
          return `${text} ${all[at++ % all.length]}`;
        });
        assert.deepEqual(leaks(reportOf(planted, hide), LEARNED), [], `${first}`);
      }
    }
    assert.ok(count > 5000, String(count));
  });

  const unknown: readonly (readonly [title: string, text: string, secret: string])[] = [
    ['an access token', `refused ${SECRETS.accessToken}`, SECRETS.accessToken],
    ['a refresh token', `spent ${SECRETS.refreshToken} twice`, SECRETS.refreshToken],
    ['a bearer header', `authorization: Bearer ${SECRETS.verifier}`, SECRETS.verifier],
    ['a form', `grant_type=x&client_secret=${SECRETS.verifier}&y=z`, SECRETS.verifier],
    ['a callback', `http://127.0.0.1/callback?code=${SECRETS.code}&state=${SECRETS.state}`, SECRETS.code],
    ['its state', `http://127.0.0.1/callback?code=${SECRETS.code}&state=${SECRETS.state}`, SECRETS.state],
    ['JSON', JSON.stringify({ refresh_token: SECRETS.state }), SECRETS.state],
  ];
  for (const [title, text, secret] of unknown) {
    it(`hides what looks like a secret though nobody knows it: ${title}`, () => {
      const diagnosis = { ...healthy, problems: known([{ at: AT, level: 'error', message: text }] as const) };
      assert.deepEqual(leaks(reportOf(diagnosis, asIs), [secret]), [secret]);
      assert.deepEqual(leaks(reportOf(diagnosis, new Redactor().redact.bind(new Redactor())), [secret]), []);
    });
  }

  it('shows proxies without user name and password, wherever they are set', () => {
    const proxy = `http://lovelace:${SECRETS.proxyPassword}@proxy.example.com:3128/path`;
    const { network } = healthy;
    assert.ok(network.kind === 'known');
    const variables = Object.fromEntries(
      ['HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'NO_PROXY'].map((name) => [name, proxy]),
    );
    const settings = { ...network.value.settings, proxy, noProxy: [proxy] };
    const report = reportOf(withValue('network', { settings, variables }), asIs);
    assert.equal(report.split('proxy.example.com:3128').length - 1, 6);
    assert.deepEqual(leaks(report, [SECRETS.proxyPassword, 'lovelace', 'Pr0xy', 'p@ss', 'c0mma', 'w0rd']), []);
  });

  it('shows addresses without what may travel in them', () => {
    const connection = healthy.connection.kind === 'known' ? healthy.connection.value : assert.fail();
    assert.ok(connection.kind === 'connection');
    const address = `https://ada:${SECRETS.state}@host.example.com/path?code=${SECRETS.code}#${SECRETS.code}`;
    const typed = { ...connection.connection, identityUrl: address, inferenceUrl: address, redirectUri: address };
    const diagnosis = withValue('redirect', { uri: address }, withValue('connection', { connection: typed }));
    const report = reportOf(diagnosis, asIs);
    assert.equal(report.split('`https://host.example.com/path`').length - 1, 3);
    assert.deepEqual(leaks(report), []);
  });
});
