/**
 * The hosts workspace tools may send requests to, as the user writes them (setting `rolecall.tools.allowedHosts`):
 * `api.example.com` or `api.example.com:8443` for https, `localhost:3000` for http as well, as nothing leaves the
 * machine, and `http://intranet:8080` where plain http is wanted.
 */

/** True when one of the entries allows exactly the origin of this address. An entry nobody can read allows nothing. */
export function isAllowedHost(url: URL, entries: readonly string[]): boolean {
  return entries.some((entry) => originsOf(entry).includes(url.origin));
}

/** What the user would write to allow this address. */
export function hostEntry(url: URL): string {
  return url.protocol === 'https:' || isLoopback(url.hostname) ? url.host : url.origin;
}

function originsOf(entry: string): string[] {
  const text = entry.trim();
  const hasScheme = /^https?:\/\//i.test(text);
  const address = hasScheme ? text : `https://${text}`;
  if (!/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(address) || !URL.canParse(address)) return [];
  const url = new URL(address);
  if (hasScheme || !isLoopback(url.hostname)) return [url.origin];
  return [url.origin, new URL(address.replace(/^https/i, 'http')).origin];
}

/** RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
