import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import { cancelled, errorKinds, RolecallError } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import { handshakeAsClient } from '../rotation/handshake.ts';
import { LineSocket } from '../rotation/ipc.ts';
import { PROTOCOL, type Protocol } from '../rotation/protocol.ts';
import { challengeSchema, SILENCE_TIMEOUT_MS, type WindowRequest, windowReplySchema } from './messages.ts';

/** Bytes of a body in one frame: as a base64 line, it stays below the longest line of a {@link LineSocket}. */
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

/** Ends a reply with a failure, whose message is written for users. */
export function sendError(line: LineSocket, { kind, message }: RolecallError): void {
  line.send({ error: { kind, message: message.slice(0, 2000) } });
}

export interface FrameLimits {
  readonly maxBytes: number;
  /** How long the next frame may take, in milliseconds; without it, the other side may take any time. */
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

/** One frame of a body. @throws RolecallError the failure of the other side, or `protocol`. */
function readFrame(text: string): z.infer<typeof frameSchema> {
  const frame = parseJsonAs(frameSchema, text);
  if (frame?.error) throw remoteError(frame.error);
  if (frame) return frame;
  throw new RolecallError('protocol', 'The message could not be understood.');
}

/** An error of the other side. The remedy is the same here. */
function remoteError({ kind, message }: { readonly kind: string; readonly message: string }): RolecallError {
  return new RolecallError(errorKinds.find((errorKind) => errorKind === kind) ?? 'protocol', message);
}

/** The whole body. */
export async function readFrames(frames: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of frames) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Where a window listens, and what is needed to talk to it. */
export interface WindowAddress {
  readonly address: string;
  /** The folder's key: both sides prove that they know it. */
  readonly key: Buffer;
  /** The folder of this user's shared state. */
  readonly state: string;
  readonly protocol?: Protocol;
  /** See {@link SILENCE_TIMEOUT_MS}. */
  readonly silenceMs?: number;
}

/** One request to a window, on one connection. */
export interface ExchangeOptions {
  readonly request: (challenge: string) => WindowRequest;
  readonly body?: Buffer | undefined;
  /** Called when the user of the window is being asked. */
  readonly onAsking?: (() => void) | undefined;
  /** Called when the window closed the connection before or during its answer. */
  readonly onLost?: (error: RolecallError) => void;
}

export interface Reply {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string> | undefined;
  /** Leaving it closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly cancel: () => void;
}

/** The window could not be connected to, or is not a window of ours. */
export class UnreachableError extends RolecallError {
  /** Why the connection failed (`ECONNREFUSED`, …); `undefined` where there was one. */
  readonly code: string | undefined;

  constructor(code: string | undefined) {
    super('offline', closedText());
    this.code = code;
  }
}

/** The largest answer, in bytes: the clients of both services have limits of their own below it. */
const MAX_ANSWER = 128_000_000;

/**
 * Sends one request to a window. Leaving the body of the reply, or the signal, closes the connection.
 *
 * @throws RolecallError the window's own error; {@link UnreachableError}; `offline`, `protocol`, `rateLimited`,
 * `cancelled`.
 */
export async function exchange(
  { address, key, protocol = PROTOCOL, silenceMs = SILENCE_TIMEOUT_MS }: WindowAddress,
  { request, body, onAsking, onLost }: ExchangeOptions,
  signal: AbortSignal,
): Promise<Reply> {
  if (signal.aborted) throw cancelled(signal.reason);
  const line = LineSocket.connect(address);
  const stop = () => line.close();
  signal.addEventListener('abort', stop, { once: true });
  const release = () => {
    signal.removeEventListener('abort', stop);
    line.close();
  };
  const closed = () => {
    if (signal.aborted) return cancelled(signal.reason);
    const error = new RolecallError('offline', closedText());
    onLost?.(error);
    return error;
  };
  try {
    const params = { role: 'joined', address, key, protocol } as const;
    const result = await withTimeout(handshakeAsClient(line, params), silenceMs, signal);
    if (result !== 'proven') {
      line.close();
      throw new UnreachableError(line.connected ? undefined : await line.closed);
    }
    const greeted = await withTimeout(line.next(), silenceMs, signal); // At once, unless it stopped meanwhile.
    if (greeted === undefined) throw closed();
    const greeting = parseJsonAs(challengeSchema, greeted);
    if (!greeting) {
      const refusal = parseJsonAs(windowReplySchema, greeted)?.error;
      throw refusal ? remoteError(refusal) : unexpectedResponse();
    }
    line.send(request(greeting.challenge));
    await sendFrames(line, body ? [body] : []);
    for (;;) {
      const text = await line.next();
      if (text === undefined) throw closed();
      const reply = parseJsonAs(windowReplySchema, text);
      if (!reply) throw unexpectedResponse();
      if (reply.error) throw remoteError(reply.error);
      if (reply.asking) {
        onAsking?.();
        continue;
      }
      const frames = receiveFrames(line, { maxBytes: MAX_ANSWER }, closed);
      return { ...reply, body: untilReleased(frames, release), cancel: release };
    }
  } catch (error) {
    release();
    throw error;
  }
}

async function* untilReleased(frames: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* frames;
  } finally {
    release();
  }
}

export function unexpectedResponse(): RolecallError {
  return new RolecallError('protocol', l10n.t('The window sent an unexpected response.'));
}

function closedText(): string {
  return l10n.t('The editor window closed before it responded. Run the command again.');
}
