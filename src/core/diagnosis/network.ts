import fs from 'node:fs/promises';
import * as l10n from '@vscode/l10n';
import type { NetworkFact } from './facts.ts';

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** The proxies and certificates in the environment. */
export async function inspectEnvironment(env: NodeJS.ProcessEnv): Promise<Omit<NetworkFact, 'settings'>> {
  const variables: Record<string, string> = {};
  for (const name of VARIABLES.flatMap((upper) => [upper, upper.toLowerCase()])) {
    const value = env[name];
    // On Windows both spellings are one variable.
    if (value && !(process.platform === 'win32' && name !== name.toUpperCase())) variables[name] = value;
  }
  const path = env.NODE_EXTRA_CA_CERTS;
  return {
    variables,
    ...(path && { extraCertificates: { path, state: await readCertificates(path) } }),
    isUnchecked: env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
  };
}

async function readCertificates(path: string): Promise<'read' | 'unreadable' | 'no certificate'> {
  try {
    return (await fs.readFile(path, 'utf8')).includes('-----BEGIN CERTIFICATE-----') ? 'read' : 'no certificate';
  } catch {
    return 'unreadable'; // That it cannot be read is the finding.
  }
}

/**
 * A proxy's address without user name, password and path. Passwords that should have been encoded are not parsed:
 * everything before the last `@` is hidden, and everything where a query or fragment makes that uncertain.
 */
export function withoutCredentials(address: string): string {
  const [, scheme = '', rest = ''] = /^\s*([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(address) ?? [];
  const at = rest.lastIndexOf('@');
  if (at < 0) return scheme + rest.replace(/[/?#\s].*$/s, '');
  return `${scheme}‹hidden›${/[?#]/.test(rest) ? '' : `@${rest.slice(at + 1).replace(/[/\s].*$/s, '')}`}`;
}

/** A list of hosts, or one proxy: where there is an `@`, a comma may belong to a password. */
export function listWithoutCredentials(list: string): string {
  return list.includes('@') ? withoutCredentials(list) : list.split(',').map(withoutCredentials).join(', ');
}

/** An address as it was typed, without user name, password, query and fragment, in which secrets travel. */
export function addressWithoutSecrets(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)?[^/]*@/i, '$1');
}

const MAX_DEPTH = 8;

/**
 * The error codes in a failure of `fetch`, from the outside in: the reasons are in `cause`, several levels deep,
 * in `errors` when several addresses were tried, and sometimes only in the message (`net::ERR_…` of an editor that asks
 * through its browser, a proxy that refuses a tunnel).
 */
export function errorCodes(error: unknown): string[] {
  const codes = new Set<string>();
  const look = (at: unknown, depth: number): void => {
    if (!(at instanceof Error) || depth > MAX_DEPTH) return;
    const { code, errors } = at as { code?: unknown; errors?: unknown };
    if (typeof code === 'string' && /^\w{1,64}$/.test(code)) codes.add(code);
    const chromium = /\bnet::(ERR_\w{1,60})/.exec(at.message)?.[1];
    if (chromium !== undefined) codes.add(chromium);
    const tunnel = /Proxy response \((\d{3})\)/.exec(at.message)?.[1];
    if (tunnel !== undefined) codes.add(`PROXY_${tunnel}`);
    if (Array.isArray(errors)) for (const inner of errors.slice(0, 4)) look(inner, depth + 1);
    look(at.cause, depth + 1);
  };
  look(error, 0);
  return [...codes];
}

const untrusted = () =>
  l10n.t(
    'The certificate is not trusted on this machine. If your network inspects TLS, add its root certificate to the system’s store (read by the editor with http.systemCertificates), or to the file named by NODE_EXTRA_CA_CERTS when the editor starts.',
  );
const clock = () => l10n.t('The certificate is not valid now: it has expired, or the clock of this machine is wrong.');
const name = () =>
  l10n.t('The certificate is for another host name: the address is mistyped, or the connection is intercepted.');
const noRoute = () => l10n.t('No response. Check the firewall, the VPN and the proxy (http.proxy).');
const cut = () => l10n.t('The connection was closed on the way, possibly by a firewall or a proxy.');

/** The meaning of a code for the user of this machine; the first match decides. */
const ADVICE: readonly (readonly [RegExp, () => string])[] = [
  [
    /^PROXY_407$|^ERR_PROXY_AUTH|^ERR_UNEXPECTED_PROXY_AUTH$/,
    () => l10n.t('The proxy requires a user name and password (http.proxy, http.proxyAuthorization).'),
  ],
  [/^PROXY_\d+$|^ERR_TUNNEL_CONNECTION_FAILED$/, () => l10n.t('The proxy refused to connect to that host.')],
  [/^ERR_PROXY_CONNECTION_FAILED$/, () => l10n.t('The proxy itself cannot be reached (http.proxy, proxy variables).')],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|^ERR_CERT_DATE_INVALID$/, clock],
  [/ALTNAME|HOSTNAME_MISMATCH|^ERR_CERT_COMMON_NAME_INVALID$/, name],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE)|^ERR_CERT_AUTHORITY_INVALID$|INVALID_CA/,
    untrusted,
  ],
  [/^CERT_REVOKED$|^ERR_CERT_REVOKED$/, () => l10n.t('The certificate was revoked.')],
  [
    /^ERR_SSL_|^EPROTO$|^ERR_TLS_/,
    () =>
      l10n.t('The server did not respond with TLS: the address may need http://, or a proxy responded in its place.'),
  ],
  [
    /^ECONNREFUSED$|^ERR_CONNECTION_REFUSED$/,
    () => l10n.t('Nothing is listening there. Check the address and the port.'),
  ],
  [
    /^ENOTFOUND$|^EAI_AGAIN$|^ERR_NAME_NOT_RESOLVED$/,
    () =>
      l10n.t(
        'The host name cannot be resolved. Check the address, the VPN and the name servers. Behind a proxy, set http.proxy.',
      ),
  ],
  [/TIMED?_?OUT|UNREACH|^ERR_INTERNET_DISCONNECTED$|^ERR_ADDRESS_UNREACHABLE$/, noRoute],
  [/^ECONNRESET$|^EPIPE$|^UND_ERR_SOCKET$|^ERR_CONNECTION_(RESET|CLOSED)$/, cut],
];

/** What to do about the most telling of `codes`, if anything is known. */
export function adviceForErrorCodes(codes: readonly string[]): string | undefined {
  return ADVICE.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1]();
}
