import { RolecallError } from './errors.ts';

/** http without TLS is for this machine only. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
}

/** @returns the origin. @throws RolecallError `configuration` with the sentence that says what to write. */
export function checkIdentityUrl(typed: string): string {
  const url = parse(typed, 'identity.url', 'https://identity.example.com');
  if (url.pathname !== '/' || url.search || url.hash) {
    throw wrong('identity.url', `must be only scheme and host, such as ${url.origin}`, url.origin);
  }
  return url.origin;
}

/** @returns the base address without a trailing slash; a path prefix is kept. */
export function checkInferenceUrl(typed: string): string {
  const url = parse(typed, 'inference.url', 'https://inference.example.com');
  if (/[?#]/.test(typed))
    throw wrong('inference.url', 'must not hold a query or a fragment', typed.replace(/[?#].*$/, ''));
  const base = url.href.replace(/\/+$/, '');
  const meant = base.replace(/\/+v1$/, '');
  if (meant !== base) {
    throw wrong('inference.url', `must not end in /v1, which Rolecall adds: write ${meant}`, meant);
  }
  if (typed.endsWith('/')) throw wrong('inference.url', `must not end with a slash: write ${meant}`, meant);
  return base;
}

/** @returns the URI as typed: the server compares it as a plain string. */
export function checkRedirectUri(typed: string): string {
  if (/\s/.test(typed) || !URL.canParse(typed))
    throw wrong('identity.redirectUri', 'must be an address such as http://127.0.0.1:18155/callback');
  // Also the lone `?` that a URL object drops: the server would add its own behind it.
  if (/[?#]/.test(typed)) {
    throw wrong('identity.redirectUri', 'must not hold a query or a fragment, because the server adds its own');
  }
  return typed;
}

function parse(typed: string, setting: string, example: string): URL {
  const url = /\s/.test(typed) ? null : URL.parse(typed);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw wrong(setting, `must be an address such as ${example}`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.href)) {
    throw wrong(setting, 'must begin with https:// because tokens are sent there; http:// is for this machine only');
  }
  if (url.username || url.password) throw wrong(setting, 'must not hold a user name or password');
  return url;
}

function wrong(setting: string, sentence: string, value?: string): RolecallError {
  return new RolecallError('configuration', `rolecall.${setting} ${sentence}.`, {
    remedy: { kind: 'changeSetting', setting, ...(value !== undefined && { value }) },
  });
}
