import { SHORTEST_SECRET } from '../../base/knownSecrets.ts';

/** Hides `secrets` in the body of a response. The rest is the same. */
export function responseWithout(response: Response, secrets: readonly string[]): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(ReadableStream.from(hideSecrets(response.body, secrets)), { status, statusText, headers });
}

/**
 * The same bytes, but that no secret stands anywhere in them: a server may repeat what it was sent. Only what could be the
 * beginning of one is held back, so a stream arrives as it is sent. What is too short to be a secret is left alone.
 */
export function hideSecrets(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  secrets: readonly string[],
): AsyncIterable<Uint8Array> {
  const all = secrets.filter(({ length }) => length >= SHORTEST_SECRET).map((secret) => Buffer.from(secret));
  return all.reduce(hide, passOn(body));
}

async function* passOn(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}

async function* hide(body: AsyncIterable<Uint8Array>, secret: Buffer): AsyncGenerator<Uint8Array> {
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    let bytes = Buffer.concat([kept, chunk]);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + HIDDEN.length)) {
      bytes = Buffer.concat([bytes.subarray(0, at), HIDDEN, bytes.subarray(at + secret.length)]);
    }
    const begins = beginningAt(bytes, secret);
    kept = bytes.subarray(begins);
    if (begins > 0) yield bytes.subarray(0, begins);
  }
  if (kept.length > 0) yield kept;
}

const HIDDEN = Buffer.from('[hidden]');

/** Where the longest end of `bytes` begins that is a beginning of `secret`; the length of `bytes` where there is none. */
function beginningAt(bytes: Buffer, secret: Buffer): number {
  for (let at = Math.max(0, bytes.length - secret.length + 1); at < bytes.length; at += 1) {
    if (bytes.subarray(at).equals(secret.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}
