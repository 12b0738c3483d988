import * as l10n from '@vscode/l10n';
import { cancelled, RolecallError } from '../base/errors.ts';
import { abortableFetch, type Fetch, networkError, originOf } from '../base/http.ts';
import type { HttpRun } from './definition.ts';
import { OutputBuffer } from './output.ts';
import { fillJson, fillUrl } from './templates.ts';

/** Exactly what will be sent: consent shows this, and `runHttp` sends it. */
export interface HttpSpec {
  readonly method: HttpRun['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly outputLimit: number;
}

/**
 * Turns a definition and checked arguments into what will be sent. Sends nothing.
 *
 * @param allowedHosts what the user allowed, never the workspace; see {@link isAllowedHost}.
 * @throws {RolecallError} kind `tool` when a value is refused; `configuration` when the host is not allowed.
 */
export function prepareHttp(
  run: HttpRun,
  args: Readonly<Record<string, unknown>>,
  allowedHosts: readonly string[],
): HttpSpec {
  const url = fillUrl(run.url, args);
  refuseOtherHosts(url, allowedHosts);
  const body = run.body === undefined ? undefined : JSON.stringify(fillJson(run.body, args) ?? null);
  const headers = Object.fromEntries(Object.entries(run.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method: run.method,
    url: url.href,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body,
    timeoutMs: run.timeoutSeconds * 1000,
    outputLimit: run.outputLimit,
  };
}

/** @throws {RolecallError} `configuration` when the host is not allowed. */
export function refuseOtherHosts(url: URL, allowedHosts: readonly string[]): void {
  if (isAllowedHost(url, allowedHosts)) return;
  throw new RolecallError(
    'configuration',
    l10n.t(
      'Tools cannot send requests to "{0}" until you add that host to the setting "rolecall.tools.allowedHosts".',
      hostEntry(url),
    ),
    { remedy: { kind: 'changeSetting', setting: 'tools.allowedHosts' } },
  );
}

/**
 * The most bytes that are read, however few of them are kept: an endless body must not keep the connection until the
 * time limit.
 */
const maxReadBytes = 16 * 1024 * 1024;
const maxRedirects = 5;

/**
 * Sends one request and reads the answer as text for the model. Any status is an answer; 400 and above count as errors.
 * Redirects of GET and HEAD are followed on the same scheme, host and port; all others are reported to the model.
 *
 * @throws {RolecallError} `cancelled`, `timeout` (the tool's own time limit) or `offline` (no answer).
 */
export async function runHttp(
  spec: HttpSpec,
  { fetch, signal }: { readonly fetch: Fetch; readonly signal: AbortSignal },
): Promise<{ readonly content: string; readonly isError: boolean }> {
  if (signal.aborted) throw cancelled(signal.reason);
  const deadline = AbortSignal.timeout(spec.timeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  try {
    const response = await send(spec, fetch, stop);
    if (typeof response === 'string') return { content: response, isError: true };
    const head = `The server returned status ${response.status}.`;
    const body = await readBody(response, spec.outputLimit);
    return { content: `${head}\n${body}`, isError: response.status >= 400 };
  } catch (error) {
    if (signal.aborted) throw cancelled(error);
    if (deadline.aborted) {
      const message = `${originOf(spec.url)} did not respond within ${spec.timeoutMs / 1000} seconds, the time limit of the tool.`;
      throw new RolecallError('timeout', message, { cause: error });
    }
    if (error instanceof RolecallError) throw error;
    throw networkError(error, spec.url);
  }
}

/** The answer at the end of the redirects, or a sentence why one was not followed. */
async function send(spec: HttpSpec, fetch: Fetch, signal: AbortSignal): Promise<Response | string> {
  let url = spec.url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await abortableFetch(fetch, url, {
      method: spec.method,
      headers: { ...spec.headers },
      ...(spec.body !== undefined && { body: spec.body }),
      redirect: 'manual',
      credentials: 'omit',
      signal,
    });
    const isRedirect = [301, 302, 303, 307, 308].includes(response.status) || response.type === 'opaqueredirect';
    if (!isRedirect) return response;
    // Nobody reads this body, so it does not matter if canceling it fails.
    void response.body?.cancel().catch(() => {});
    const location = response.headers.get('location');
    const next = location === null ? null : URL.parse(location, url);
    if (next === null) return 'The server returned a redirect without a location.';
    if (next.origin !== new URL(url).origin || next.username !== '' || next.password !== '') {
      return `The server returned a redirect to another host (${next.origin}), which is not followed.`;
    }
    if (spec.method !== 'GET' && spec.method !== 'HEAD') {
      return `The server returned a redirect to ${next.pathname}; only GET and HEAD follow redirects.`;
    }
    if (redirects === maxRedirects) return `The server redirected more than ${maxRedirects} times.`;
    next.hash = '';
    url = next.href;
  }
}

async function readBody(response: Response, limit: number): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (!isText(type)) {
    void response.body?.cancel().catch(() => {}); // As above.
    return `The body has the type ${type}, which is not text, so it was not read.`;
  }
  const collected = new OutputBuffer(limit);
  let read = 0;
  if (response.body) {
    for await (const chunk of response.body) {
      collected.push(chunk);
      read += chunk.byteLength;
      if (read > maxReadBytes) break; // Leaving the loop closes the connection.
    }
  }
  if (read === 0) return 'The body is empty.';
  const text = collected.finish();
  return read > maxReadBytes
    ? `${text}\n[The body was longer than ${maxReadBytes} bytes; the rest was not read]`
    : text;
}

/** An answer without a type is taken for text, which it mostly is. */
function isText(type: string): boolean {
  return (
    type === '' ||
    /^\s*(?:text\/|application\/(?:[\w.+-]*(?:json|xml|yaml|javascript)|x-www-form-urlencoded))/i.test(type)
  );
}

/**
 * True when one of the entries of `rolecall.tools.allowedHosts` allows exactly the origin of this address:
 * `api.example.com` or `api.example.com:8443` for https, `localhost:3000` for http as well, as nothing leaves the machine,
 * and `http://intranet:8080` where plain http is wanted. An entry that cannot be parsed allows nothing.
 */
export function isAllowedHost(url: URL, entries: readonly string[]): boolean {
  return entries.some((entry) => originsOf(entry).includes(url.origin));
}

/** The entry with which the user would allow this address. */
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
