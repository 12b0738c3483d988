import type { Diagnosis, NetworkFact } from './facts.ts';
import { linesFor } from './gathered.ts';
import { code, type Line, type Section } from './markdown.ts';
import { withoutCredentials } from './network.ts';

export function networkSection({ network }: Diagnosis): Section {
  return { title: 'Proxy and certificates', lines: linesFor('Network', network, networkLines) };
}

function networkLines({ settings, variables, extraCertificates, isUnchecked }: NetworkFact): Line[] {
  const { proxy, proxySupport, proxyStrictSSL, systemCertificates, noProxy, proxyAuthorization } = settings;
  const names = Object.keys(variables);
  return [
    { label: 'http.proxy', text: proxy ? code(withoutCredentials(proxy)) : 'not set' },
    { label: 'http.proxySupport', text: code(proxySupport ?? 'not known') },
    { label: 'http.proxyAuthorization', text: proxyAuthorization ? 'set' : 'not set' },
    { label: 'http.noProxy', text: noProxy?.length ? code(noProxy.map(withoutCredentials).join(', ')) : 'not set' },
    ...(names.length === 0
      ? [{ label: 'Proxy variables', text: 'none' }]
      : names.map((name) => ({ label: name, text: code(listOf(variables[name] ?? '')) }))),
    strictLine(proxyStrictSSL),
    { label: 'http.systemCertificates', text: onOff(systemCertificates) },
    certificatesLine(extraCertificates),
    ...(isUnchecked
      ? [
          {
            label: 'NODE_TLS_REJECT_UNAUTHORIZED',
            text: code('0'),
            finding: 'With this variable nobody checks who answers: tokens can be taken on the way. Remove it.',
          },
        ]
      : []),
    { label: 'Not visible here', text: 'proxies of the system’s settings and of a PAC file' },
  ];
}

function strictLine(strict: boolean | undefined): Line {
  const line = { label: 'http.proxyStrictSSL', text: onOff(strict) };
  if (strict !== false) return line;
  const finding = 'Certificates are not checked where a proxy is used: tokens can be taken on the way. Turn it on.';
  return { ...line, finding };
}

function certificatesLine(certificates: NetworkFact['extraCertificates']): Line {
  const label = 'NODE_EXTRA_CA_CERTS';
  if (!certificates) return { label, text: 'not set' };
  const text = code(certificates.path);
  if (certificates.state === 'read') return { label, text: `${text} (read when the editor starts)` };
  const what = certificates.state === 'unreadable' ? 'cannot be read' : 'holds no certificate in PEM format';
  return { label, text, finding: `The file ${what}; Node.js ignores it.` };
}

/** Lists of hosts, or one proxy. */
function listOf(value: string): string {
  return value.split(',').map(withoutCredentials).join(', ');
}

function onOff(value: boolean | undefined): string {
  return value === undefined ? 'not known' : value ? 'on' : 'off';
}
