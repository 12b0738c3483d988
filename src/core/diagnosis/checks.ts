import * as l10n from '@vscode/l10n';
import type { CheckOutcome, ClientSecretFact, Diagnosis, Discovery, Probe, RedirectFact, SharedFact } from './facts.ts';
import { code, durationOf, type ReportLine, timeOf, utcTime } from './markdown.ts';
import { addressWithoutSecrets, adviceForErrorCodes, listWithoutCredentials, withoutCredentials } from './network.ts';

export type CheckName = Exclude<keyof Diagnosis, 'at'>;
type ValueOf<Name extends CheckName> = Diagnosis[Name] extends CheckOutcome<infer Value> ? Value : never;

/** One question of a diagnosis, and how its answer is shown. */
export interface DiagnosisCheck<Name extends CheckName> {
  /** The heading in the report; checks with the same heading follow each other. */
  readonly heading: () => string;
  /** The name of the check if it has no answer. */
  readonly label: () => string;
  /** How long the answer may take, in milliseconds. */
  readonly limitMs: number;
  readonly lines: (value: ValueOf<Name>, diagnosis: Diagnosis) => readonly ReportLine[];
}

/** For questions over the network; all others concern this machine. */
const NETWORK_MS = 10_000;
const LOCAL_MS = 4000;

/** The version of the identity service's interface description (specification of the identity service, Versioning). */
const SPECIFICATION_VERSION = '1.11.0';

/** Identity tokens and sessions tolerate a minute of difference. */
const MAX_SKEW_MS = 60_000;

/** Every check, in the order of the report. */
export const CHECKS: { readonly [Name in CheckName]: DiagnosisCheck<Name> } = {
  versions: {
    heading: () => l10n.t('Versions'),
    label: () => l10n.t('Versions'),
    limitMs: LOCAL_MS,
    lines: ({ extension, editor, shownIn, remote, runsOn, node, system }) => [
      { label: 'Rolecall', text: code(extension) },
      {
        label: l10n.t('Editor'),
        text:
          shownIn === 'desktop'
            ? l10n.t('{0}, on the desktop', code(editor))
            : l10n.t('{0}, in a browser', code(editor)),
      },
      { label: l10n.t('Remote'), text: remote === undefined ? l10n.t('no') : code(remote) },
      {
        label: l10n.t('Rolecall runs on'),
        text: runsOn === 'this machine' ? l10n.t('this machine') : l10n.t('the remote machine'),
      },
      { label: 'Node.js', text: code(node) },
      { label: l10n.t('System'), text: code(system) },
      { label: l10n.t('Identity specification'), text: code(SPECIFICATION_VERSION) },
    ],
  },
  connection: {
    heading: () => l10n.t('Settings'),
    label: () => l10n.t('Settings'),
    limitMs: LOCAL_MS,
    lines: (fact) => {
      if (fact.kind === 'unconfigured') {
        const finding = l10n.t(
          'Set rolecall.identity.url, rolecall.inference.url and rolecall.identity.clientId, or try the sandbox.',
        );
        return [{ label: l10n.t('Settings'), text: l10n.t('no cloud configured'), finding }];
      }
      if (fact.kind === 'misconfigured') {
        return [{ label: l10n.t('Settings'), text: l10n.t('invalid'), finding: code(fact.problem) }];
      }
      const { id, identityUrl, inferenceUrl, clientId, clientAuthentication, scope } = fact.connection;
      return [
        {
          label: l10n.t('Connection'),
          text: id === 'sandbox' ? l10n.t('the sandbox') : l10n.t('the configured services'),
        },
        { label: l10n.t('Identity service'), text: code(addressWithoutSecrets(identityUrl)) },
        { label: l10n.t('Inference service'), text: code(addressWithoutSecrets(inferenceUrl)) },
        { label: l10n.t('Client ID'), text: code(clientId) },
        { label: l10n.t('Client authentication'), text: code(clientAuthentication) },
        { label: l10n.t('Scopes'), text: code(scope) },
        {
          label: l10n.t('Extra headers'),
          text: fact.headers.length === 0 ? l10n.t('none') : fact.headers.map(code).join(', '),
        },
        ...fact.problems.map((problem) => ({
          label: l10n.t('Settings'),
          text: l10n.t('some values are ignored'),
          finding: code(problem),
        })),
      ];
    },
  },
  clientSecret: {
    heading: () => l10n.t('Settings'),
    label: () => l10n.t('Client secret'),
    limitMs: LOCAL_MS,
    lines: (value) => [
      {
        label: l10n.t('Client secret'),
        text: clientSecretText(value),
        ...(value === 'missing' && {
          finding: l10n.t(
            'These services require a client secret even with PKCE. Run "Rolecall: Set Client Secret…", or set rolecall.identity.clientAuthentication to none if your client has none.',
          ),
        }),
      },
    ],
  },
  identity: {
    heading: () => l10n.t('Services, without a token'),
    label: () => l10n.t('Identity service'),
    limitMs: NETWORK_MS,
    lines: ({ probe, discovery }) => [
      probeLine(l10n.t('Identity service'), probe),
      ...(discovery ? [discoveryLine(discovery)] : []),
      ...(probe.kind === 'answered' ? [clockLine(probe.skewMs)] : []),
    ],
  },
  inference: {
    heading: () => l10n.t('Services, without a token'),
    label: () => l10n.t('Inference service'),
    limitMs: NETWORK_MS,
    lines: (probe) => [probeLine(l10n.t('Inference service'), probe)],
  },
  redirect: {
    heading: () => l10n.t('Redirect URI'),
    label: () => l10n.t('Redirect URI'),
    limitMs: LOCAL_MS,
    lines: (fact, { versions }) => {
      const isRemote = versions.kind === 'known' && versions.value.runsOn === 'the remote machine';
      return [
        { label: l10n.t('Redirect URI'), text: code(addressWithoutSecrets(fact.uri)) },
        listenerLine(fact, isRemote),
      ];
    },
  },
  network: {
    heading: () => l10n.t('Proxy and certificates'),
    label: () => l10n.t('Network'),
    limitMs: LOCAL_MS,
    lines: ({ settings, variables, extraCertificates, isUnchecked }) => {
      const { proxy, proxySupport, proxyStrictSSL, systemCertificates, noProxy, proxyAuthorization } = settings;
      const set = Object.entries(variables);
      return [
        { label: 'http.proxy', text: proxy ? code(withoutCredentials(proxy)) : l10n.t('not set') },
        { label: 'http.proxySupport', text: proxySupport === undefined ? l10n.t('unknown') : code(proxySupport) },
        { label: 'http.proxyAuthorization', text: proxyAuthorization ? l10n.t('set') : l10n.t('not set') },
        {
          label: 'http.noProxy',
          text: noProxy?.length ? code(noProxy.map(listWithoutCredentials).join(', ')) : l10n.t('not set'),
        },
        ...set.map(([label, value]) => ({ label, text: code(listWithoutCredentials(value)) })),
        ...(set.length === 0 ? [{ label: l10n.t('Proxy variables'), text: l10n.t('none') }] : []),
        {
          label: 'http.proxyStrictSSL',
          text: onOff(proxyStrictSSL),
          ...(proxyStrictSSL === false && {
            finding: l10n.t(
              'Certificates are not verified behind a proxy, so tokens can be intercepted. Turn this setting on.',
            ),
          }),
        },
        { label: 'http.systemCertificates', text: onOff(systemCertificates) },
        certificatesLine(extraCertificates),
        ...(isUnchecked
          ? [
              {
                label: 'NODE_TLS_REJECT_UNAUTHORIZED',
                text: code('0'),
                finding: l10n.t(
                  'With this variable, certificates are not verified, so tokens can be intercepted. Remove it.',
                ),
              },
            ]
          : []),
        { label: l10n.t('Not checked'), text: l10n.t('proxies from the system’s settings or a PAC file') },
      ];
    },
  },
  store: {
    heading: () => l10n.t('Session'),
    label: () => l10n.t('Secret store'),
    limitMs: LOCAL_MS,
    lines: (fact) => [
      {
        label: l10n.t('Secret store'),
        text:
          fact.kind === 'writable'
            ? l10n.t('readable and writable')
            : l10n.t('readable; writing was not tested: {0}', fact.why),
      },
    ],
  },
  session: {
    heading: () => l10n.t('Session'),
    label: () => l10n.t('Session'),
    limitMs: LOCAL_MS,
    lines: ({ state, reason, generation, expiresAt, isRefreshable }, { at }) => {
      const finding = nextStep(state);
      const text = stateName(state) + (reason === undefined ? '' : `: ${code(reason)}`);
      const line: ReportLine = { label: l10n.t('Session'), text, ...(finding !== undefined && { finding }) };
      if (generation === undefined) return [line];
      return [
        line,
        { label: l10n.t('Generation'), text: String(generation) },
        {
          label: l10n.t('Access token'),
          text:
            expiresAt === undefined
              ? l10n.t('valid until the service rejects it')
              : l10n.t('valid until {0}', timeOf(expiresAt, at)),
        },
        {
          label: l10n.t('Token refresh'),
          text: isRefreshable === false ? l10n.t('not possible: a service token') : l10n.t('automatic'),
        },
      ];
    },
  },
  shared: {
    heading: () => l10n.t('Session'),
    label: () => l10n.t('Shared state'),
    limitMs: LOCAL_MS,
    lines: ({ path, folder, generation, isSignedOut, windows, holder }) => {
      const label = l10n.t('Shared folder');
      if (!folder) return [{ label, text: l10n.t('{0} does not exist yet: no one has signed in', code(path)) }];
      const isOpen = folder.mode !== undefined && !folder.mode.endsWith('00');
      const finding = folder.isOurs
        ? l10n.t('Other users can read the folder. Rolecall restricts access the next time it uses the folder.')
        : l10n.t('The folder does not belong to this user, so Rolecall does not use it. Remove or repair it.');
      return [
        {
          label,
          text: folder.mode === undefined ? code(path) : l10n.t('{0}, mode {1}', code(path), code(folder.mode)),
          ...((isOpen || !folder.isOurs) && { finding }),
        },
        {
          label: l10n.t('Shared generation'),
          text: generationText(generation, isSignedOut),
        },
        { label: l10n.t('Windows'), text: String(windows) },
        holderLine(holder),
      ];
    },
  },
  chat: {
    heading: () => l10n.t('Chat'),
    label: () => l10n.t('Chat'),
    limitMs: LOCAL_MS,
    lines: ({ missing, isUsedWithoutParticipant, utilityModels }) => [
      {
        label: '@rolecall',
        text: missing === undefined ? l10n.t('available') : l10n.t('not available'),
        ...(missing !== undefined && { finding: code(missing) }),
      },
      {
        label: l10n.t('Messages without @rolecall'),
        text: isUsedWithoutParticipant
          ? l10n.t('can use your cloud’s models, in Local chats')
          : l10n.t(
              'go to VS Code’s own assistant, which may ask for a GitHub sign-in; "Rolecall: Use My Cloud’s Models in VS Code’s Chat" changes that',
            ),
      },
      {
        label: 'chat.byokUtilityModelDefault',
        text: utilityModels === undefined ? l10n.t('unknown to this editor') : code(utilityModels),
      },
    ],
  },
  containment: {
    heading: () => l10n.t('Workspace tools'),
    label: () => l10n.t('Contained programs'),
    limitMs: NETWORK_MS,
    lines: (fact) => {
      const label = l10n.t('Contained programs');
      if (fact.kind !== 'none') return [{ label, text: l10n.t('yes, by {0}', fact.kind) }];
      const finding =
        fact.remedy === undefined
          ? l10n.t('{0} You are asked before each call.', code(fact.reason))
          : l10n.t('{0} To fix this, run {1}.', code(fact.reason), code(fact.remedy));
      return [{ label, text: l10n.t('no'), finding }];
    },
  },
  commandLine: {
    heading: () => l10n.t('Command line'),
    label: () => l10n.t('Programs in a terminal'),
    limitMs: LOCAL_MS,
    lines: ({ allowed, isOpen }) => [
      {
        label: l10n.t('Programs in a terminal'),
        text:
          allowed === 0
            ? l10n.t('none is allowed to use a sign-in')
            : l10n.t('{0} allowed to use a sign-in; "Reset Command Line Access" makes them ask again', allowed),
      },
      { label: l10n.t('Access through this window'), text: isOpen ? l10n.t('available') : l10n.t('not available') },
    ],
  },
  problems: {
    heading: () => l10n.t('Recent warnings and errors in this window'),
    label: () => l10n.t('Log'),
    limitMs: LOCAL_MS,
    lines: (problems) =>
      problems.length === 0
        ? [{ label: l10n.t('Log'), text: l10n.t('none') }]
        : problems.toReversed().map(({ at, level, message }) => ({
            label: level === 'error' ? l10n.t('{0}, error', utcTime(at)) : l10n.t('{0}, warning', utcTime(at)),
            text: code(message),
          })),
  },
};

/** A session's state in words. */
function stateName(state: string): string {
  const names: Readonly<Record<string, string>> = {
    starting: l10n.t('starting'),
    signedOut: l10n.t('signed out'),
    signingIn: l10n.t('signing in'),
    signedIn: l10n.t('signed in'),
    refreshing: l10n.t('signed in, refreshing the access token'),
    offline: l10n.t('signed in, offline'),
    ended: l10n.t('ended'),
    storeUnavailable: l10n.t('unknown: the secret store cannot be read'),
  };
  return names[state] ?? state;
}

/** What to do about a session, by the kind of its state. */
function nextStep(state: string): string | undefined {
  switch (state) {
    case 'ended':
      return l10n.t(
        'Sign in again. If it happens again, another machine or editor may use the same client: use a separate client for each.',
      );
    case 'storeUnavailable':
      return l10n.t('You have not been signed out. Fix the problem above, then reload the window.');
    case 'offline':
      return l10n.t('You are still signed in, and Rolecall keeps trying. Check the services above.');
    default:
      return undefined;
  }
}

function clientSecretText(fact: ClientSecretFact): string {
  switch (fact) {
    case 'stored':
      return l10n.t('in the secret store');
    case 'missing':
      return l10n.t('missing');
    case 'not needed':
      return l10n.t('not needed');
  }
}

function generationText(generation: number | undefined, isSignedOut: boolean | undefined): string {
  if (generation === undefined) return l10n.t('none');
  return isSignedOut ? l10n.t('{0}, signed out', String(generation)) : String(generation);
}

function probeLine(label: string, probe: Probe): ReportLine {
  if (probe.kind === 'answered') {
    const text = l10n.t('returned {0} after {1} ms', probe.status, String(probe.ms));
    if (probe.status === 407) return { label, text, finding: adviceForErrorCodes(['PROXY_407']) ?? '' };
    if (probe.status < 500) return { label, text };
    return {
      label,
      text,
      finding: l10n.t('The service, or a proxy in front of it, is failing. You don’t need to change anything here.'),
    };
  }
  const codes = probe.codes.map(code).join(', ');
  const finding = adviceForErrorCodes(probe.codes) ?? l10n.t('The request failed before a response arrived.');
  const text =
    codes === ''
      ? l10n.t('unreachable after {0} ms: {1}', String(probe.ms), code(probe.message))
      : l10n.t('unreachable after {0} ms: {1} ({2})', String(probe.ms), code(probe.message), codes);
  return { label, text, finding };
}

function discoveryLine(discovery: Discovery): ReportLine {
  const label = l10n.t('Discovery');
  switch (discovery.kind) {
    case 'found':
      return { label, text: l10n.t('found, for this issuer, with endpoints on the same host') };
    case 'absent':
      return { label, text: l10n.t('none ({0}): the endpoints in the specification are used', discovery.status) };
    case 'unusable':
      return {
        label,
        text: l10n.t('unusable'),
        finding: l10n.t('The service’s metadata cannot be used: {0}', code(discovery.problem)),
      };
  }
}

function clockLine(skewMs: number | undefined): ReportLine {
  const label = l10n.t('Clock');
  if (skewMs === undefined) return { label, text: l10n.t('the service does not send the time') };
  const apart = durationOf(Math.abs(skewMs));
  if (Math.abs(skewMs) <= MAX_SKEW_MS)
    return { label, text: l10n.t('this machine and the service agree within {0}', apart) };
  return {
    label,
    text:
      skewMs > 0
        ? l10n.t('this machine is {0} behind the service', apart)
        : l10n.t('this machine is {0} ahead of the service', apart),
    finding: l10n.t(
      'ID tokens and sessions are checked against the clock. Let the system set its clock automatically.',
    ),
  };
}

function listenerLine(fact: RedirectFact, isRemote: boolean): ReportLine {
  const label = l10n.t('Redirect listener');
  switch (fact.kind) {
    case 'free': {
      const finding = l10n.t(
        'If the browser runs on another machine than Rolecall, it cannot reach the redirect URI. Paste the address of the browser’s last page.',
      );
      return { label, text: l10n.t('free, so a sign-in can listen there'), ...(isRemote && { finding }) };
    }
    case 'ours':
      return { label, text: l10n.t('Rolecall, for a sign-in in progress in this or another window') };
    case 'taken':
      return {
        label,
        text: fact.program
          ? l10n.t('another program, which identifies itself as {0}', code(fact.program))
          : l10n.t('another program'),
        finding: l10n.t(
          'Another program uses this port. Stop it, or register another redirect URI for the client and set rolecall.identity.redirectUri to it.',
        ),
      };
    case 'refused':
      return {
        label,
        text: l10n.t('free, but the system does not allow Rolecall to listen ({0})', code(fact.code)),
        finding: l10n.t(
          'This port may be reserved. Register a redirect URI with another port and set rolecall.identity.redirectUri to it.',
        ),
      };
    case 'editorLink': {
      const finding = l10n.t(
        'The redirect URI opens another program. Paste the address of the last page, or register a redirect URI for this editor.',
      );
      return {
        label,
        text: fact.isThisEditor
          ? l10n.t('this editor, through its links')
          : l10n.t('a program with {0} links', code(fact.scheme)),
        ...(!fact.isThisEditor && { finding }),
      };
    }
    case 'elsewhere':
      return {
        label,
        text: l10n.t('unknown: not an address on this machine'),
        finding: l10n.t('The browser cannot return here after a sign-in. Paste the address of the last page.'),
      };
  }
}

function certificatesLine(
  certificates: { readonly path: string; readonly state: 'read' | 'unreadable' | 'no certificate' } | undefined,
): ReportLine {
  const label = 'NODE_EXTRA_CA_CERTS';
  if (!certificates) return { label, text: l10n.t('not set') };
  const text = code(certificates.path);
  if (certificates.state === 'read') return { label, text: l10n.t('{0} (read when the editor starts)', text) };
  const finding =
    certificates.state === 'unreadable'
      ? l10n.t('The file cannot be read, so Node.js ignores it.')
      : l10n.t('The file contains no certificate in PEM format, so Node.js ignores it.');
  return { label, text, finding };
}

function holderLine(holder: SharedFact['holder']): ReportLine {
  const label = l10n.t('Refreshing window');
  if (holder.kind === 'nobody') return { label, text: l10n.t('no window') };
  if (holder.kind === 'unreadable') {
    return {
      label,
      text: l10n.t('unknown: the newest lock file cannot be read'),
      finding: l10n.t(
        'The newest file in the folder {0} is damaged or from a newer version. Reload this window. If that does not help, close all other windows and delete that file.',
        code('locks'),
      ),
    };
  }
  const who = holder.isThisWindow
    ? l10n.t('this window')
    : l10n.t('the window with process ID {0}', String(holder.pid));
  if (holder.answers) return { label, text: who };
  return {
    label,
    text: l10n.t('{0}, which does not respond', who),
    finding: l10n.t(
      'That window is suspended or very busy, and no other window can refresh the session meanwhile. Resume or close it.',
    ),
  };
}

function onOff(value: boolean | undefined): string {
  if (value === undefined) return l10n.t('unknown');
  return value ? l10n.t('on') : l10n.t('off');
}
