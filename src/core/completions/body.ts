import { RolecallError } from '../base/errors.ts';
import { noAnswer } from '../base/http.ts';
import { cutText } from '../base/text.ts';
import type { Watch } from './watch.ts';

/** The most of an answer that is read, in bytes. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The reason of an abort that ends the body early without an error: what matters has come. */
export const enough = Symbol('enough');

/**
 * The body of an answer as text, packet by packet, with one decoder, so that a character may be cut between packets; a
 * byte order mark is dropped. However the consumer leaves, the body is cancelled, which closes the
 * connection when it has not ended.
 *
 * @throws RolecallError the reason of the watch, `offline` when the connection is cut, `protocol` above `maxBytes`.
 */
export async function* readText(
  response: Response,
  watch: Watch,
  url: string,
  maxBytes = MAX_ANSWER_BYTES,
): AsyncGenerator<string, void, undefined> {
  if (!response.body) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // Whether the body minds does not matter: nobody reads it any more.
  const cancel = () => void reader.cancel().catch(() => undefined);
  watch.signal.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  let received = 0;
  try {
    for (;;) {
      watch.restart();
      const { done, value } = await reader.read();
      watch.pause();
      if (done) break;
      received += value.byteLength;
      if (received > maxBytes)
        throw new RolecallError('protocol', 'The answer of the service is too large to be read.');
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (!watch.signal.aborted) throw connectionError(error, url);
  } finally {
    watch.signal.removeEventListener('abort', cancel);
    cancel();
  }
  if (watch.signal.aborted && watch.signal.reason !== enough) throw watch.signal.reason;
  yield decoder.decode();
}

/** The beginning of a body as text, however it ends: for error bodies, where a part is better than nothing. */
export async function readBeginning(texts: AsyncIterable<string>, maxLength: number, watch: Watch): Promise<string> {
  let text = '';
  try {
    for await (const piece of texts) {
      text += piece;
      if (text.length >= maxLength) break;
    }
  } catch (error) {
    if (watch.signal.aborted) throw error;
  }
  return cutText(text, maxLength);
}

/** What `fetch` or the reading of a body threw; its own time limits are told as what they are. */
export function connectionError(error: unknown, url: string): RolecallError {
  if (error instanceof RolecallError) return error;
  const failed = noAnswer(error, url);
  const { code } = failed.facts;
  if (code !== 'UND_ERR_HEADERS_TIMEOUT' && code !== 'UND_ERR_BODY_TIMEOUT') return failed;
  return new RolecallError('timeout', failed.message, { cause: error, facts: failed.facts });
}
