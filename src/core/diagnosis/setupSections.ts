import type { ConnectionFact, Diagnosis, RedirectFact } from './facts.ts';
import { linesFor } from './gathered.ts';
import { code, type Line, type Section } from './markdown.ts';
import { plainAddress } from './plainAddress.ts';

/** Of the identity service's interface description (specification of the identity service, Versioning). */
export const SPECIFICATION_VERSION = '1.11.0';

export function versionsSection({ versions }: Diagnosis): Section {
  const lines = linesFor('Versions', versions, (value) => [
    { label: 'Rolecall', text: code(value.extension) },
    {
      label: 'Editor',
      text: `${code(value.editor)}, shown ${value.shownIn === 'desktop' ? 'on the desktop' : 'in a browser'}`,
    },
    { label: 'Remote', text: value.remote === undefined ? 'no' : code(value.remote) },
    { label: 'Rolecall runs on', text: value.runsOn },
    { label: 'Node.js', text: code(value.node) },
    { label: 'System', text: code(value.system) },
  ]);
  return {
    title: 'Versions',
    lines: [...lines, { label: 'Identity specification', text: code(SPECIFICATION_VERSION) }],
  };
}

export function addressesSection({ connection, clientSecret }: Diagnosis): Section {
  const secret = linesFor('Client secret', clientSecret, (value): Line[] => [
    {
      label: 'Client secret',
      text: value === 'stored' ? 'in the secret store' : value,
      ...(value === 'missing' && {
        finding:
          'These services want a client secret even with PKCE. Run “Rolecall: Set Client Secret…”, or set rolecall.identity.clientAuthentication to none if your client has none.',
      }),
    },
  ]);
  return { title: 'Addresses', lines: [...linesFor('Settings', connection, addressLines), ...secret] };
}

function addressLines(fact: ConnectionFact): Line[] {
  if (fact.kind === 'unconfigured') {
    return [
      {
        label: 'Settings',
        text: 'no services are configured',
        finding:
          'Set rolecall.identity.url, rolecall.inference.url and rolecall.identity.clientId, or try the sandbox.',
      },
    ];
  }
  if (fact.kind === 'misconfigured') {
    return [{ label: 'Settings', text: 'cannot be used', finding: code(fact.problem) }];
  }
  const { id, identityUrl, inferenceUrl, clientId, clientAuthentication, scope } = fact.connection;
  return [
    { label: 'Connection', text: id === 'sandbox' ? 'the sandbox' : 'the configured services' },
    { label: 'Identity service', text: code(plainAddress(identityUrl)) },
    { label: 'Inference service', text: code(plainAddress(inferenceUrl)) },
    { label: 'Client id', text: code(clientId) },
    { label: 'Client authentication', text: code(clientAuthentication) },
    { label: 'Scopes', text: code(scope) },
  ];
}

export function redirectSection({ redirect, versions }: Diagnosis): Section {
  const isAway = versions.kind === 'known' && versions.value.runsOn === 'the remote machine';
  const lines = linesFor('Redirect URI', redirect, (fact) => [
    { label: 'Redirect URI', text: code(plainAddress(fact.uri)) },
    listenerLine(fact, isAway),
  ]);
  return { title: 'Redirect URI', lines };
}

function listenerLine(fact: RedirectFact, isAway: boolean): Line {
  const label = 'Who listens';
  const away =
    'Where the browser runs on another machine than Rolecall, this address does not arrive there: paste the address of the last page.';
  switch (fact.kind) {
    case 'free':
      return {
        label,
        text: 'nobody now: a sign-in can listen there',
        ...(isAway && { finding: away }),
      };
    case 'ours':
      return { label, text: 'Rolecall, for a sign-in that is under way in this or another window' };
    case 'taken':
      return {
        label,
        text: `another program${fact.says ? `, which calls itself ${code(fact.says)}` : ''}`,
        finding:
          'Another program has this port. End it, or register another redirect URI for the client and set rolecall.identity.redirectUri to the same.',
      };
    case 'refused':
      return {
        label,
        text: `nobody, and the system does not let Rolecall listen (${code(fact.code)})`,
        finding:
          'This port cannot be listened on: it may be reserved. Register a redirect URI with another port and set rolecall.identity.redirectUri to the same.',
      };
    case 'editorLink':
      return {
        label,
        text: fact.isThisEditor
          ? 'this editor, by its links'
          : `an editor or program with links of ${code(fact.scheme)}`,
        ...(!fact.isThisEditor && {
          finding:
            'The redirect URI leads to another program than this editor. Paste the address of the last page, or register a redirect URI of this editor.',
        }),
      };
    case 'elsewhere':
      return {
        label,
        text: 'not known: it is no address of this machine',
        finding: 'The answer of a sign-in does not arrive here by itself: paste the address of the last page.',
      };
  }
}
