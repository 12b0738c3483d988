import type { CheckOutcome, Diagnosis, Discovery, Probe, RedirectFact, SharedFact } from './facts.ts';
import { code, durationOf, type ReportLine, timeOf } from './markdown.ts';
import { adviceForErrorCodes, listWithoutCredentials, plainAddress, withoutCredentials } from './network.ts';

export type CheckName = Exclude<keyof Diagnosis, 'at'>;
type ValueOf<Name extends CheckName> = Diagnosis[Name] extends CheckOutcome<infer Value> ? Value : never;

/** One question of a diagnosis, and how its answer reads. */
export interface Check<Name extends CheckName> {
  /** The heading it stands under; checks with the same heading follow each other. */
  readonly heading: string;
  /** Names the check where it has no answer. */
  readonly label: string;
  /** How long the answer may take, in milliseconds. */
  readonly limitMs: number;
  readonly lines: (value: ValueOf<Name>, diagnosis: Diagnosis) => readonly ReportLine[];
}

/** For what is asked over the network; the rest is asked on this machine. */
const NETWORK_MS = 10_000;
const LOCAL_MS = 4000;

/** Of the identity service's interface description (specification of the identity service, Versioning). */
export const SPECIFICATION_VERSION = '1.11.0';

/** Identity tokens tolerate a minute of difference, and so do sessions. */
const MAX_SKEW_MS = 60_000;

/** Every check, in the order of the report. */
export const CHECKS: { readonly [Name in CheckName]: Check<Name> } = {
  versions: {
    heading: 'Versions',
    label: 'Versions',
    limitMs: LOCAL_MS,
    lines: ({ extension, editor, shownIn, remote, runsOn, node, system }) => [
      { label: 'Rolecall', text: code(extension) },
      { label: 'Editor', text: `${code(editor)}, ${shownIn === 'desktop' ? 'on the desktop' : 'in a browser'}` },
      { label: 'Remote', text: remote === undefined ? 'no' : code(remote) },
      { label: 'Rolecall runs on', text: runsOn },
      { label: 'Node.js', text: code(node) },
      { label: 'System', text: code(system) },
      { label: 'Identity specification', text: code(SPECIFICATION_VERSION) },
    ],
  },
  connection: {
    heading: 'Settings',
    label: 'Settings',
    limitMs: LOCAL_MS,
    lines: (fact) => {
      if (fact.kind === 'unconfigured') {
        const finding =
          'Set rolecall.identity.url, rolecall.inference.url and rolecall.identity.clientId, or try the sandbox.';
        return [{ label: 'Settings', text: 'no cloud configured', finding }];
      }
      if (fact.kind === 'misconfigured') {
        return [{ label: 'Settings', text: 'invalid', finding: code(fact.problem) }];
      }
      const { id, identityUrl, inferenceUrl, clientId, clientAuthentication, scope } = fact.connection;
      return [
        { label: 'Connection', text: id === 'sandbox' ? 'the sandbox' : 'the configured services' },
        { label: 'Identity service', text: code(plainAddress(identityUrl)) },
        { label: 'Inference service', text: code(plainAddress(inferenceUrl)) },
        { label: 'Client ID', text: code(clientId) },
        { label: 'Client authentication', text: code(clientAuthentication) },
        { label: 'Scopes', text: code(scope) },
      ];
    },
  },
  clientSecret: {
    heading: 'Settings',
    label: 'Client secret',
    limitMs: LOCAL_MS,
    lines: (value) => [
      {
        label: 'Client secret',
        text: value === 'stored' ? 'in the secret store' : value,
        ...(value === 'missing' && {
          finding:
            'These services require a client secret even with PKCE. Run “Rolecall: Set Client Secret…”, or set rolecall.identity.clientAuthentication to none if your client has none.',
        }),
      },
    ],
  },
  identity: {
    heading: 'Services, without a token',
    label: 'Identity service',
    limitMs: NETWORK_MS,
    lines: ({ probe, discovery }) => [
      probeLine('Identity service', probe),
      ...(discovery ? [discoveryLine(discovery)] : []),
      ...(probe.kind === 'answered' ? [clockLine(probe.skewMs)] : []),
    ],
  },
  inference: {
    heading: 'Services, without a token',
    label: 'Inference service',
    limitMs: NETWORK_MS,
    lines: (probe) => [probeLine('Inference service', probe)],
  },
  redirect: {
    heading: 'Redirect URI',
    label: 'Redirect URI',
    limitMs: LOCAL_MS,
    lines: (fact, { versions }) => {
      const isRemote = versions.kind === 'known' && versions.value.runsOn === 'the remote machine';
      return [{ label: 'Redirect URI', text: code(plainAddress(fact.uri)) }, listenerLine(fact, isRemote)];
    },
  },
  network: {
    heading: 'Proxy and certificates',
    label: 'Network',
    limitMs: LOCAL_MS,
    lines: ({ settings, variables, extraCertificates, isUnchecked }) => {
      const { proxy, proxySupport, proxyStrictSSL, systemCertificates, noProxy, proxyAuthorization } = settings;
      const set = Object.entries(variables);
      return [
        { label: 'http.proxy', text: proxy ? code(withoutCredentials(proxy)) : 'not set' },
        { label: 'http.proxySupport', text: code(proxySupport ?? 'unknown') },
        { label: 'http.proxyAuthorization', text: proxyAuthorization ? 'set' : 'not set' },
        {
          label: 'http.noProxy',
          text: noProxy?.length ? code(noProxy.map(listWithoutCredentials).join(', ')) : 'not set',
        },
        ...set.map(([label, value]) => ({ label, text: code(listWithoutCredentials(value)) })),
        ...(set.length === 0 ? [{ label: 'Proxy variables', text: 'none' }] : []),
        {
          label: 'http.proxyStrictSSL',
          text: onOff(proxyStrictSSL),
          ...(proxyStrictSSL === false && {
            finding: 'Certificates are not verified behind a proxy, so tokens can be intercepted. Turn it on.',
          }),
        },
        { label: 'http.systemCertificates', text: onOff(systemCertificates) },
        certificatesLine(extraCertificates),
        ...(isUnchecked
          ? [
              {
                label: 'NODE_TLS_REJECT_UNAUTHORIZED',
                text: code('0'),
                finding: 'With this variable no certificate is verified, so tokens can be intercepted. Remove it.',
              },
            ]
          : []),
        { label: 'Not visible here', text: 'proxies from the system’s settings or a PAC file' },
      ];
    },
  },
  store: {
    heading: 'Session',
    label: 'Secret store',
    limitMs: LOCAL_MS,
    lines: (fact) => [
      {
        label: 'Secret store',
        text: fact.kind === 'writable' ? 'readable and writable' : `readable; not written to: ${fact.why}`,
      },
    ],
  },
  session: {
    heading: 'Session',
    label: 'Session',
    limitMs: LOCAL_MS,
    lines: ({ state, reason, generation, expiresAt, isRefreshable }, { at }) => {
      const finding = Object.hasOwn(NEXT_STEPS, state) ? NEXT_STEPS[state] : undefined;
      const text = code(state) + (reason === undefined ? '' : `: ${code(reason)}`);
      const line: ReportLine = { label: 'Session', text, ...(finding !== undefined && { finding }) };
      if (generation === undefined) return [line];
      return [
        line,
        { label: 'Generation', text: String(generation) },
        {
          label: 'Access token',
          text: expiresAt === undefined ? 'until the service refuses it' : `until ${timeOf(expiresAt, at)}`,
        },
        { label: 'Renewal', text: isRefreshable === false ? 'not possible: a service token' : 'automatic' },
      ];
    },
  },
  shared: {
    heading: 'Session',
    label: 'Shared state',
    limitMs: LOCAL_MS,
    lines: ({ path, folder, generation, isSignedOut, windows, holder }) => {
      const label = 'Shared folder';
      if (!folder) return [{ label, text: `${code(path)} does not exist yet: nobody has signed in` }];
      const isOpen = folder.mode !== undefined && !folder.mode.endsWith('00');
      const finding = folder.isOurs
        ? 'Other users can read the folder. Rolecall closes it the next time it is used.'
        : 'The folder does not belong to this user, so Rolecall does not use it. Remove or repair it.';
      return [
        {
          label,
          text: `${code(path)}${folder.mode === undefined ? '' : `, mode ${code(folder.mode)}`}`,
          ...((isOpen || !folder.isOurs) && { finding }),
        },
        {
          label: 'Shared generation',
          text: generation === undefined ? 'none' : `${generation}${isSignedOut ? ', signed out' : ''}`,
        },
        { label: 'Windows', text: String(windows) },
        holderLine(holder),
      ];
    },
  },
  containment: {
    heading: 'Workspace tools',
    label: 'Contained programs',
    limitMs: NETWORK_MS,
    lines: (fact) => {
      const label = 'Contained programs';
      if (fact.kind !== 'none') return [{ label, text: `yes, by ${fact.kind}` }];
      const step =
        fact.remedy === undefined ? 'You are asked before each call.' : `This mends it: ${code(fact.remedy)}`;
      return [{ label, text: 'no', finding: `${code(fact.reason)} ${step}` }];
    },
  },
  problems: {
    heading: 'Recent warnings and errors in this window',
    label: 'Log',
    limitMs: LOCAL_MS,
    lines: (problems) =>
      problems.length === 0
        ? [{ label: 'Log', text: 'none' }]
        : problems.toReversed().map(({ at, level, message }) => ({
            label: `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC, ${level}`,
            text: code(message),
          })),
  },
};

/** What to do about a session, by the kind of its state. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  ended:
    'Sign in again. If it happens again, another machine or editor may use the same client: use a separate client for each.',
  storeUnavailable: 'You have not been signed out. Fix the problem above, then reload the window.',
  offline: 'You are still signed in, and Rolecall keeps trying. Check the services above.',
};

function probeLine(label: string, probe: Probe): ReportLine {
  if (probe.kind === 'answered') {
    const text = `answered ${probe.status} after ${probe.ms} ms`;
    if (probe.status === 407) return { label, text, finding: adviceForErrorCodes(['PROXY_407']) ?? '' };
    if (probe.status < 500) return { label, text };
    return {
      label,
      text,
      finding: 'The service, or a proxy in front of it, is failing. Nothing needs to change here.',
    };
  }
  const codes = probe.codes.length > 0 ? ` (${probe.codes.map(code).join(', ')})` : '';
  const finding = adviceForErrorCodes(probe.codes) ?? 'The request failed before an answer arrived.';
  return { label, text: `unreachable: ${code(probe.message)}${codes}, after ${probe.ms} ms`, finding };
}

function discoveryLine(discovery: Discovery): ReportLine {
  const label = 'Discovery';
  switch (discovery.kind) {
    case 'found':
      return { label, text: 'found, for this issuer, with endpoints on the same host' };
    case 'absent':
      return { label, text: `none (${discovery.status}): the endpoints in the specification are used` };
    case 'unusable':
      return { label, text: 'unusable', finding: `The service’s metadata cannot be used: ${code(discovery.problem)}` };
  }
}

function clockLine(skewMs: number | undefined): ReportLine {
  const label = 'Clock';
  if (skewMs === undefined) return { label, text: 'the service does not send the time' };
  const apart = durationOf(Math.abs(skewMs));
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return { label, text: `this machine and the service agree within ${apart}` };
  return {
    label,
    text: `this machine is ${apart} ${skewMs > 0 ? 'behind' : 'ahead of'} the service`,
    finding: 'Identity tokens and sessions are checked against the clock. Let the system set its clock automatically.',
  };
}

function listenerLine(fact: RedirectFact, isRemote: boolean): ReportLine {
  const label = 'Callback listener';
  switch (fact.kind) {
    case 'free': {
      const finding =
        'If the browser runs on another machine than Rolecall, it cannot reach this address: paste the address of its last page.';
      return { label, text: 'none now: a sign-in can listen there', ...(isRemote && { finding }) };
    }
    case 'ours':
      return { label, text: 'Rolecall, for a sign-in in progress in this or another window' };
    case 'taken':
      return {
        label,
        text: `another program${fact.says ? `, which identifies itself as ${code(fact.says)}` : ''}`,
        finding:
          'Another program uses this port. Stop it, or register another redirect URI for the client and set rolecall.identity.redirectUri to it.',
      };
    case 'refused':
      return {
        label,
        text: `none, and the system does not let Rolecall listen (${code(fact.code)})`,
        finding:
          'This port may be reserved. Register a redirect URI with another port and set rolecall.identity.redirectUri to it.',
      };
    case 'editorLink': {
      const finding =
        'The redirect URI opens another program. Paste the address of the last page, or register a redirect URI for this editor.';
      return {
        label,
        text: fact.isThisEditor ? 'this editor, through its links' : `a program with ${code(fact.scheme)} links`,
        ...(!fact.isThisEditor && { finding }),
      };
    }
    case 'elsewhere':
      return {
        label,
        text: 'unknown: not an address on this machine',
        finding: 'The answer of a sign-in does not arrive here by itself: paste the address of the last page.',
      };
  }
}

function certificatesLine(
  certificates: { readonly path: string; readonly state: 'read' | 'unreadable' | 'no certificate' } | undefined,
): ReportLine {
  const label = 'NODE_EXTRA_CA_CERTS';
  if (!certificates) return { label, text: 'not set' };
  const text = code(certificates.path);
  if (certificates.state === 'read') return { label, text: `${text} (read when the editor starts)` };
  const what = certificates.state === 'unreadable' ? 'cannot be read' : 'contains no certificate in PEM format';
  return { label, text, finding: `The file ${what}; Node.js ignores it.` };
}

function holderLine(holder: SharedFact['holder']): ReportLine {
  const label = 'Renewed now by';
  if (holder.kind === 'nobody') return { label, text: 'nobody' };
  if (holder.kind === 'unreadable') {
    return {
      label,
      text: 'unknown: the newest lock file cannot be read',
      finding:
        'The newest file in the folder `locks` is damaged or from a newer version. Reload this window; if that does not help, close all other windows and delete that file.',
    };
  }
  const who = holder.isThisWindow ? 'this window' : `the window with process ID ${holder.pid}`;
  if (holder.answers) return { label, text: who };
  return {
    label,
    text: `${who}, which does not respond`,
    finding:
      'That window is suspended or very busy, and no other window renews the session meanwhile. Resume or close it.',
  };
}

function onOff(value: boolean | undefined): string {
  return value === undefined ? 'unknown' : value ? 'on' : 'off';
}
