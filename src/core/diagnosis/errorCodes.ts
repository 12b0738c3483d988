const MAX_DEPTH = 8;

/**
 * What the system says in an error of `fetch`, from the outside in: it hides its reasons in `cause`, several levels deep,
 * in `errors` when several addresses were tried, and sometimes only in the message (`net::ERR_…` of an editor that asks
 * through its browser, a proxy that refuses a tunnel).
 */
export function errorCodes(error: unknown): string[] {
  const found = new Set<string>();
  const look = (at: unknown, depth: number): void => {
    if (!(at instanceof Error) || depth > MAX_DEPTH) return;
    const { code, errors } = at as { code?: unknown; errors?: unknown };
    if (typeof code === 'string' && /^\w{1,64}$/.test(code)) found.add(code);
    const chromium = /\bnet::(ERR_\w{1,60})/.exec(at.message)?.[1];
    if (chromium !== undefined) found.add(chromium);
    const tunnel = /Proxy response \((\d{3})\)/.exec(at.message)?.[1];
    if (tunnel !== undefined) found.add(`PROXY_${tunnel}`);
    if (Array.isArray(errors)) for (const each of errors.slice(0, 4)) look(each, depth + 1);
    look(at.cause, depth + 1);
  };
  look(error, 0);
  return [...found];
}

const UNTRUSTED =
  'The certificate is not trusted here. Where a network inspects TLS, its root certificate belongs into the system’s store (which http.systemCertificates makes the editor read), or into the file that NODE_EXTRA_CA_CERTS names when the editor starts.';
const CLOCK = 'The certificate is not valid today: it has expired, or this machine’s clock is wrong.';
const NAME = 'The certificate is for another host name: the address is mistyped, or something stands between.';
const NO_ROUTE = 'Nothing was heard from there: a firewall, a missing VPN, or a proxy that has to be set (http.proxy).';
const CUT = 'The connection was cut on the way, as firewalls and proxies do.';

/** What a code means for whoever runs this machine; the first line that fits decides. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^PROXY_407$|^ERR_PROXY_AUTH|^ERR_UNEXPECTED_PROXY_AUTH$/,
    'The proxy wants a user name and a password (http.proxy, http.proxyAuthorization).',
  ],
  [/^PROXY_\d+$|^ERR_TUNNEL_CONNECTION_FAILED$/, 'The proxy refused to connect to that host.'],
  [/^ERR_PROXY_CONNECTION_FAILED$/, 'The proxy itself cannot be reached (http.proxy, proxy variables).'],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|^ERR_CERT_DATE_INVALID$/, CLOCK],
  [/ALTNAME|HOSTNAME_MISMATCH|^ERR_CERT_COMMON_NAME_INVALID$/, NAME],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE)|^ERR_CERT_AUTHORITY_INVALID$|INVALID_CA/,
    UNTRUSTED,
  ],
  [/^CERT_REVOKED$|^ERR_CERT_REVOKED$/, 'The certificate was revoked.'],
  [
    /^ERR_SSL_|^EPROTO$|^ERR_TLS_/,
    'What answers there does not speak TLS as expected: the address may want http://, or a proxy answers in its place.',
  ],
  [/^ECONNREFUSED$|^ERR_CONNECTION_REFUSED$/, 'Nothing listens there. Compare address and port.'],
  [
    /^ENOTFOUND$|^EAI_AGAIN$|^ERR_NAME_NOT_RESOLVED$/,
    'The host name is not known here. Compare the address, the VPN and the name servers; behind a proxy, set http.proxy.',
  ],
  [/TIMED?_?OUT|UNREACH|^ERR_INTERNET_DISCONNECTED$|^ERR_ADDRESS_UNREACHABLE$/, NO_ROUTE],
  [/^ECONNRESET$|^EPIPE$|^UND_ERR_SOCKET$|^ERR_CONNECTION_(RESET|CLOSED)$/, CUT],
];

/** What to do about the most telling of `codes`, if anything is known. */
export function adviceOn(codes: readonly string[]): string | undefined {
  return ADVICE.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1];
}
