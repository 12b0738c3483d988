import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import { errorKinds, RolecallError } from '../../base/errors.ts';
import type { LineSocket } from '../rotation/lineSocket.ts';
import { parseJsonAs } from '../rotation/protocol.ts';

/** Bytes of a body in one line: as base64 with what is around it, it stays below the longest line of a {@link LineSocket}. */
const FRAME_BYTES = 4500;

const frameSchema = z.object({
  data: z.optional(z.base64()),
  end: z.optional(z.literal(true)),
  error: z.optional(z.object({ kind: z.string(), message: z.string() })),
});

/** Sends a body piece by piece, no faster than the other side reads. */
export async function sendFrames(
  line: LineSocket,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength; at += FRAME_BYTES) {
      const piece = chunk.subarray(at, at + FRAME_BYTES);
      line.send({ data: Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64') });
      await line.drained();
    }
  }
  line.send({ end: true });
}

/** Ends a reply with a failure. The message has been made for people. */
export function sendError(line: LineSocket, { kind, message }: RolecallError): void {
  line.send({ error: { kind, message: message.slice(0, 2000) } });
}

export interface FrameLimits {
  readonly maxBytes: number;
  /** For the next frame, in milliseconds; none where the other side may take any time. */
  readonly silenceMs?: number;
}

/**
 * The body that {@link sendFrames} sends.
 *
 * @param closed What to throw when the connection ends first: a part never looks whole.
 */
export async function* receiveFrames(
  line: LineSocket,
  { maxBytes, silenceMs }: FrameLimits,
  closed: () => RolecallError,
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  for (;;) {
    const text = silenceMs === undefined ? await line.next() : await withTimeout(line.next(), silenceMs);
    if (text === undefined) throw closed();
    const frame = readFrame(text);
    if (frame.end) return;
    const bytes = Buffer.from(frame.data ?? '', 'base64');
    received += bytes.byteLength;
    if (received > maxBytes) throw new RolecallError('protocol', 'The message is too large.');
    yield bytes;
  }
}

/** A line of a body. @throws RolecallError the failure of the other side, or `protocol`. */
function readFrame(text: string): z.infer<typeof frameSchema> {
  const frame = parseJsonAs(frameSchema, text);
  if (frame?.error) throw errorOf(frame.error);
  if (frame) return frame;
  throw new RolecallError('protocol', 'The message was not understood.');
}

/** What an error of the other side is here: what helps is the same. */
export function errorOf({ kind, message }: { readonly kind: string; readonly message: string }): RolecallError {
  return new RolecallError(errorKinds.find((known) => known === kind) ?? 'protocol', message);
}

/** All of a body. */
export async function readAll(frames: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of frames) pieces.push(piece);
  return Buffer.concat(pieces);
}
