import type { CheckOutcome, Diagnosis } from '../../../../src/core/diagnosis/facts.ts';

export const AT = Date.parse('2026-03-01T12:00:00Z');

export function known<T>(value: T): CheckOutcome<T> {
  return { kind: 'known', value };
}

/** Everything is well. */
export const healthy = {
  at: AT,
  versions: known({
    extension: '0.1.0',
    editor: 'Visual Studio Code 1.122.0',
    shownIn: 'desktop',
    runsOn: 'this machine',
    node: '24.1.0',
    system: 'linux x64',
  }),
  connection: known({
    kind: 'connection',
    connection: {
      id: 'service',
      label: 'identity.example.com',
      identityUrl: 'https://identity.example.com',
      inferenceUrl: 'https://inference.example.com/prefix',
      clientId: '7d6f2a54-91c3-4b7e-8a0d-2f6f0a5f9b11',
      clientAuthentication: 'client_secret_post',
      redirectUri: 'http://127.0.0.1:18155/callback',
      scope: 'openid email profile',
    },
    headers: [],
    problems: [],
  }),
  clientSecret: known('stored'),
  identity: known({
    probe: {
      kind: 'answered',
      url: 'https://identity.example.com/.well-known/openid-configuration',
      ms: 40,
      status: 200,
      skewMs: -1200,
    },
    discovery: { kind: 'found' },
  }),
  inference: known({ kind: 'answered', url: 'https://inference.example.com/prefix/v1/models', ms: 30, status: 401 }),
  redirect: known({ uri: 'http://127.0.0.1:18155/callback', kind: 'free' }),
  network: known({
    settings: {
      proxy: 'http://proxy.example.com:3128',
      proxySupport: 'override',
      proxyStrictSSL: true,
      systemCertificates: true,
      noProxy: ['*.internal.example.com'],
      proxyAuthorization: false,
    },
    variables: { HTTPS_PROXY: 'http://proxy.example.com:3128', NO_PROXY: 'localhost,127.0.0.1' },
    extraCertificates: { path: '/etc/ssl/company.pem', state: 'read' },
    isUnchecked: false,
  }),
  store: known({ kind: 'writable' }),
  session: known({ state: 'signedIn', generation: 7, expiresAt: AT + 41 * 60_000, isRefreshable: true }),
  shared: known({
    path: '/home/ada/.local/state/rolecall/desk/0123456789abcdef0123456789abcdef',
    folder: { mode: '700', isOurs: true },
    generation: 7,
    isSignedOut: false,
    windows: 3,
    holder: { kind: 'nobody' },
  }),
  chat: known({ isUsedWithoutParticipant: false, utilityModels: 'copilot' }),
  containment: known({ kind: 'bubblewrap' }),
  commandLine: known({ allowed: 1, isOpen: true }),
  problems: known([]),
} satisfies Diagnosis as Diagnosis;

/** As it looks where a member of one answer is another. */
export function withValue<Name extends Exclude<keyof Diagnosis, 'at'>>(
  name: Name,
  change: Readonly<Record<string, unknown>>,
  from: Diagnosis = healthy,
): Diagnosis {
  const gathered = from[name];
  const value = gathered.kind === 'known' ? gathered.value : {};
  return { ...from, [name]: known({ ...(value as object), ...change }) };
}
