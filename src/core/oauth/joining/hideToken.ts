/**
 * The same bytes, but that `token` stands nowhere in them: a server may repeat what it was sent, and the token must not leave
 * the window. Only what could be its beginning is held back, so a stream arrives as it is sent.
 */
export async function* hideToken(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  token: string,
): AsyncGenerator<Uint8Array> {
  const secret = Buffer.from(token);
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    let bytes = Buffer.concat([kept, chunk]);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at)) {
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
