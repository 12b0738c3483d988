import { waitFor } from '../base/abort.ts';
import { RolecallError } from '../base/errors.ts';
import { type Fetch, refuseRedirect, retryAfterMs } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import type { TokenSource } from '../base/tokenSource.ts';
import { connectionError, enough, readBeginning, readText } from './body.ts';
import { MAX_ERROR_BODY_BYTES, readErrorText } from './errorBody.ts';
import { refusalError } from './errors.ts';
import type { Watch } from './watch.ts';

/** What the clients of the inference service are given. */
export interface InferenceDeps extends Pick<TokenSource, 'accessToken'>, Partial<Pick<TokenSource, 'rejected'>> {
  readonly fetch: Fetch;
  readonly log: Log;
}

/** `Authorization` of the specification. @throws RolecallError `configuration` for what is no token. */
export function authorization(token: string): string {
  // fetch would name the whole header in its error, and so put the token into the log.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new RolecallError('configuration', 'The access token holds characters that no token has. Sign in again.');
  }
  return `Bearer ${token}`;
}

/**
 * Sends one request and returns the answer once its status says success. The token never goes anywhere else: a redirect
 * is an error.
 *
 * @throws RolecallError for whatever the service, the network, a deadline or the user says.
 */
export async function send(
  { fetch, log }: InferenceDeps,
  url: string,
  init: { readonly method: 'GET' | 'POST'; readonly headers: Record<string, string>; readonly body?: string },
  watch: Watch,
  model?: string,
): Promise<Response> {
  const { signal } = watch;
  const sentAt = performance.now();
  const arriving = fetch(url, { ...init, redirect: 'manual', signal });
  // An answer that comes after we left is let go.
  void arriving.then((late) => (signal.aborted ? late.body?.cancel() : undefined)).catch(() => undefined);
  const response = await waitFor(arriving, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : connectionError(error, url);
  });
  log.debug(`${init.method} ${url}: ${response.status} after ${Math.round(performance.now() - sentAt)} ms`);
  refuseRedirect(response, url);
  if (!response.ok) throw await readRefusal(response, watch, url, model);
  return response;
}

/** How long to read the body of an error that is already certain. */
const ERROR_BODY_MS = 10_000;

async function readRefusal(response: Response, watch: Watch, url: string, model?: string): Promise<RolecallError> {
  watch.arm({ ms: ERROR_BODY_MS, reason: enough });
  const text = await readBeginning(readText(response, watch, url), MAX_ERROR_BODY_BYTES, watch);
  const wait = retryAfterMs(response.headers, Date.now());
  return refusalError({
    status: response.status,
    body: readErrorText(text),
    url,
    ...(model === undefined ? {} : { model }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}
