import * as l10n from '@vscode/l10n';
import { raceWithSignal } from './abort.ts';
import { cancelled, RolecallError } from './errors.ts';
import { formatSeconds } from './text.ts';

/** The platform's `fetch`. In the editor it is the extension host's own, which honours proxies and system certificates. */
export type Fetch = typeof globalThis.fetch;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** How long the whole exchange may take, body included, in milliseconds. */
  readonly deadlineMs: number;
  /** The largest body that is accepted, in bytes. */
  readonly maxBytes: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How long an exchange may go on after its deadline: after sleep, an answer that has already arrived is still read. */
const GRACE_MS = 100;

/**
 * The response, as soon as there is one. Rejects when `signal` aborts, whatever `fetch` does: the editor's own looks
 * for a proxy before it looks at the signal.
 *
 * @throws RolecallError `cancelled` when the signal aborts first; else whatever `fetch` rejects with.
 */
export async function abortableFetch(
  fetch: Fetch,
  url: string,
  init: RequestInit & { readonly signal: AbortSignal },
): Promise<Response> {
  const { signal } = init;
  if (signal.aborted) throw cancelled(signal.reason);
  const arriving = fetch(url, init);
  // A response that arrives later is of no use to anybody; the caller gets the error.
  void arriving.then((late) => (signal.aborted ? late.body?.cancel() : undefined)).catch(() => undefined);
  return raceWithSignal(arriving, signal);
}

/**
 * One exchange, read to its end. Any status is an answer; redirects are refused because a token must not travel along
 * with one (RFC 6750 section 5.3).
 *
 * @throws RolecallError `cancelled`, `timeout`, `offline` (no answer) or `protocol` (a redirect, a body too large).
 */
export async function sendRequest(
  fetch: Fetch,
  url: string,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const deadline = new AbortController();
  // After this machine was asleep or this process was stopped, a response that arrived meanwhile is still read: it may
  // contain the only copy of a new token.
  AbortSignal.timeout(request.deadlineMs).addEventListener('abort', () => {
    setTimeout(() => deadline.abort(), GRACE_MS);
  });
  try {
    const response = await abortableFetch(fetch, url, {
      method: request.method,
      ...(request.headers && { headers: request.headers }),
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline.signal]),
    });
    refuseRedirect(response, url);
    return {
      status: response.status,
      headers: response.headers,
      text: await readText(response, request.maxBytes, url),
    };
  } catch (error) {
    throw explainFailure(error, { url, deadlineMs: request.deadlineMs, signal, deadline: deadline.signal });
  }
}

/** @throws RolecallError `protocol` when the answer sends us elsewhere (`opaqueredirect` where `fetch` hides the status). */
export function refuseRedirect(response: Response, url: string): void {
  const redirected = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
  if (!redirected) return;
  void response.body?.cancel().catch(() => {}); // Nobody reads this body, so it does not matter if canceling it fails.
  throw new RolecallError(
    'protocol',
    l10n.t('{0} responded with a redirect. Rolecall does not follow redirects, to keep tokens safe.', originOf(url)),
    {
      details: { status: response.status },
    },
  );
}

/**
 * Milliseconds of a `Retry-After` header (RFC 9110 section 10.2.3: seconds or a date that begins with the day's name), if
 * there is a usable one.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN; // Date.parse takes `-5` for a year.
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The origin to name in a sentence; never the path or query, which may hold something private. */
export function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return l10n.t('The server');
  }
}

async function readText(response: Response, maxBytes: number, url: string): Promise<string> {
  const tooLarge = () =>
    new RolecallError(
      'protocol',
      l10n.t('{0} sent more than {1} MB, so the response was discarded.', originOf(url), Math.round(maxBytes / 1e6)),
    );
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(); // Leaving the loop cancels the body.
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

interface FailureContext {
  readonly url: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly deadline: AbortSignal;
}

function explainFailure(error: unknown, { url, deadlineMs, signal, deadline }: FailureContext): RolecallError {
  if (signal.aborted) return cancelled(error);
  if (deadline.aborted) {
    const sentence = l10n.t('{0} did not respond within {1}.', originOf(url), formatSeconds(deadlineMs));
    return new RolecallError('timeout', sentence, { cause: error });
  }
  if (error instanceof RolecallError) return error;
  return networkError(error, url);
}

/** What a system error code means, as the end of a sentence. */
function reasonOf(code: string | undefined): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return l10n.t('nothing is listening there');
    case 'ENOTFOUND':
      return l10n.t('the host name is unknown');
    case 'EAI_AGAIN':
      return l10n.t('the host name could not be looked up');
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return l10n.t('there is no network connection to it');
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return l10n.t('the connection was lost');
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return l10n.t('the connection timed out');
    case 'UND_ERR_HEADERS_TIMEOUT':
      return l10n.t('the response did not begin within 300 seconds, the editor’s limit');
    case 'UND_ERR_BODY_TIMEOUT':
      return l10n.t('the response paused for 300 seconds, the editor’s limit');
    case 'CERT_HAS_EXPIRED':
      return l10n.t('its certificate has expired');
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return l10n.t('its certificate is self-signed');
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return l10n.t('its certificate chain is not trusted on this machine');
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return l10n.t('its certificate chain is incomplete or not trusted on this machine');
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return l10n.t('its certificate is for another host name');
    default:
      return undefined;
  }
}

/** The error for a `fetch` that rejected: no answer was received, or only a part of one. */
export function networkError(error: unknown, url: string): RolecallError {
  if (isDamaged(error)) {
    const sentence = l10n.t(
      '{0} sent a response that cannot be decompressed. A proxy may have damaged it.',
      originOf(url),
    );
    return new RolecallError('protocol', sentence, { cause: error });
  }
  const code = causeCode(error);
  const reason = reasonOf(code) ?? l10n.t('the network request failed');
  return new RolecallError('offline', l10n.t('Could not reach {0}: {1}.', originOf(url), reason), {
    cause: error,
    ...(code && { details: { code } }),
  });
}

/** True where the codes of zlib (`Z_`, `ZSTD_`) or Brotli (`ERR_`) say that a body is not what its encoding says. */
function isDamaged(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1, at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^(Z_|ZSTD_|ERR__ERROR_)/.test(code)) return true;
  }
  return false;
}

/** `fetch` hides the reason in `cause`, sometimes two levels deep (and in `errors` when several addresses were tried). */
function causeCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const { code, errors } = at as { code?: unknown; errors?: unknown[] };
    if (typeof code === 'string' && reasonOf(code) !== undefined) return code;
    at = at.cause ?? errors?.[0];
  }
  return undefined;
}
