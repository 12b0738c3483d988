import * as l10n from '@vscode/l10n';
import { raceWithSignal } from '../base/abort.ts';
import type { TokenSource } from '../base/connection.ts';
import { cancelled, type ErrorDetails, RolecallError } from '../base/errors.ts';
import { abortableFetch, type Fetch, networkError, refuseRedirect, retryAfterMs } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { redactValues } from '../base/redact.ts';
import { truncate } from '../base/text.ts';
import type { DeadlineSignal } from './deadlineSignal.ts';
import { MAX_ERROR_BODY_BYTES, readErrorText } from './errorBody.ts';
import { errorOfResponse } from './errors.ts';

/** Where the requests go: the part of a connection that this room needs. */
export interface InferenceConnection {
  /** `{inference_url}` of the specification. */
  readonly inferenceUrl: string;
}

/** @throws RolecallError `configuration` when the address cannot be used. */
export function endpointUrl(
  { inferenceUrl }: InferenceConnection,
  path: '/v1/chat/completions' | '/v1/models',
): string {
  const text = `${inferenceUrl.replace(/\/+$/, '')}${path}`;
  // Without its slashes `https://` would take the path for a host, and the token would go there.
  if (!URL.canParse(inferenceUrl) || !URL.canParse(text)) {
    throw new RolecallError(
      'configuration',
      l10n.t('The address of the inference service is not a valid URL such as https://host.'),
    );
  }
  return text;
}

/** What the clients of the inference service need. */
export interface InferenceDeps extends Pick<TokenSource, 'accessToken'>, Partial<Pick<TokenSource, 'refreshAfter401'>> {
  readonly fetch: Fetch;
  readonly log: Log;
  /** Sent with every request besides those of the operation, see `readExtraHeaders`. Their values may be secrets. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** `Authorization` of the specification. @throws RolecallError `configuration` for what is no token. */
export function authorizationHeader(token: string): string {
  // fetch would name the whole header in its error, and so put the token into the log.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new RolecallError('configuration', l10n.t('The access token contains invalid characters. Sign in again.'));
  }
  return `Bearer ${token}`;
}

/**
 * Sends one request and returns the answer once its status is a success. The token never goes anywhere else: a redirect
 * is an error.
 *
 * @throws RolecallError when the service, the network, a deadline or the user ends the request.
 */
export async function sendInferenceRequest(
  { fetch, log, headers }: InferenceDeps,
  url: string,
  init: { readonly method: 'GET' | 'POST'; readonly headers: Record<string, string>; readonly body?: string },
  deadline: DeadlineSignal,
  model?: string,
): Promise<Response> {
  const { signal } = deadline;
  const sentAt = performance.now();
  const request = { ...init, headers: { ...headers, ...init.headers }, redirect: 'manual', signal } as const;
  const response = await abortableFetch(fetch, url, request).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : connectionError(error, url);
  });
  log.debug(`${init.method} ${url}: ${response.status} after ${Math.round(performance.now() - sentAt)} ms`);
  refuseRedirect(response, url);
  if (!response.ok) throw await readRefusal(response, deadline, url, model);
  return response;
}

/** How long to read the body of an error that is already certain. */
const ERROR_BODY_MS = 10_000;

async function readRefusal(
  response: Response,
  deadline: DeadlineSignal,
  url: string,
  model?: string,
): Promise<RolecallError> {
  deadline.arm({ ms: ERROR_BODY_MS, reason: () => BODY_COMPLETE });
  const text = await readPrefix(readText(response, deadline, url), MAX_ERROR_BODY_BYTES, deadline);
  const wait = retryAfterMs(response.headers, Date.now());
  return errorOfResponse({
    status: response.status,
    body: readErrorText(text),
    url,
    ...(model === undefined ? {} : { model }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

/** A token to send now; Stop does not wait for it. */
export async function accessToken(deps: InferenceDeps, signal: AbortSignal): Promise<string> {
  if (signal.aborted) throw cancelled(signal.reason);
  return await raceWithSignal(deps.accessToken(signal), signal);
}

/** A token other than `token`, which the service answered with 401, if there is one; Stop does not wait for it. */
export async function tokenAfter401(
  deps: InferenceDeps,
  token: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) throw cancelled(signal.reason);
  if (!deps.refreshAfter401) return undefined;
  const newer = await raceWithSignal(deps.refreshAfter401(token, signal), signal);
  return newer === token ? undefined : newer;
}

/** `error`, without the values of headers: some services repeat them in their errors. */
export function withoutSecrets(
  error: RolecallError,
  token: string,
  { headers = {} }: Pick<InferenceDeps, 'headers'>,
): RolecallError {
  const secrets = [token, ...Object.values(headers)];
  const facts = Object.entries(error.details).map(([name, fact]) => [
    name,
    typeof fact === 'string' ? redactValues(fact, secrets) : fact,
  ]);
  const message = redactValues(error.message, secrets);
  const same =
    message === error.message && facts.every(([name, fact]) => fact === error.details[name as keyof ErrorDetails]);
  // Without the cause, which may contain them as well.
  if (same) return error;
  return new RolecallError(error.kind, message, { details: Object.fromEntries(facts), remedy: error.remedy });
}

/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The reason of an abort that ends the body early without an error: everything needed has arrived. */
export const BODY_COMPLETE = Symbol('enough');

/**
 * The body of an answer as text, packet by packet, with one decoder, so that a character may be cut between packets; a
 * byte order mark is dropped. However the consumer leaves, the body is cancelled, which closes the
 * connection when it has not ended.
 *
 * @throws RolecallError the reason of `deadline`, `offline` when the connection is cut, `protocol` above `maxBytes`.
 */
export async function* readText(
  response: Response,
  deadline: DeadlineSignal,
  url: string,
  maxBytes = MAX_ANSWER_BYTES,
): AsyncGenerator<string, void, undefined> {
  if (!response.body) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // An error here does not matter: the body is no longer read.
  const cancel = () => void reader.cancel().catch(() => undefined);
  deadline.signal.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  let received = 0;
  try {
    for (;;) {
      deadline.restart();
      const { done, value } = await reader.read();
      deadline.pause();
      if (done) break;
      received += value.byteLength;
      if (received > maxBytes)
        throw new RolecallError('protocol', l10n.t('The response from the service is too large.'));
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (!deadline.signal.aborted) throw connectionError(error, url);
  } finally {
    deadline.signal.removeEventListener('abort', cancel);
    cancel();
  }
  if (deadline.signal.aborted && deadline.signal.reason !== BODY_COMPLETE) throw deadline.signal.reason;
  yield decoder.decode();
}

/** The beginning of a body as text, even if reading it fails: a part of an error body is better than nothing. */
export async function readPrefix(
  texts: AsyncIterable<string>,
  maxLength: number,
  deadline: DeadlineSignal,
): Promise<string> {
  let text = '';
  try {
    for await (const piece of texts) {
      text += piece;
      if (text.length >= maxLength) break;
    }
  } catch (error) {
    if (deadline.signal.aborted) throw error;
  }
  return truncate(text, maxLength);
}

/** The error for a failure of `fetch` or of reading a body; its own time limits become `timeout` errors. */
function connectionError(error: unknown, url: string): RolecallError {
  if (error instanceof RolecallError) return error;
  const failure = networkError(error, url);
  const { code } = failure.details;
  if (code !== 'UND_ERR_HEADERS_TIMEOUT' && code !== 'UND_ERR_BODY_TIMEOUT') return failure;
  return new RolecallError('timeout', failure.message, { cause: error, details: failure.details });
}
