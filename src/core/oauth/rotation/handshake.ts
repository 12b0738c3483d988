import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { parseJsonAs } from '../../base/json.ts';
import { createFileAtomically, readFileIfExists, replaceFileAtomically } from './files.ts';
import type { LineSocket } from './ipc.ts';
import { canTalk, type Protocol, protocolFields, protocolShape } from './protocol.ts';

/** The listening side: the holder of the mutex, a window that is notified of new sessions, or one that programs join. */
export type ListenerRole = 'holder' | 'window' | 'joined';

export interface HandshakeParams {
  readonly role: ListenerRole;
  /** Where the listening side listens. Part of the proof, so that nobody can relay the messages of two windows. */
  readonly address: string;
  /** Shared by the windows of this user; see `FolderKey`. */
  readonly key: Buffer;
  readonly protocol: Protocol;
}

/** `stranger`: the other side does not know the key. `closed`: it disconnected first. `newer`: it has another protocol version. */
export type HandshakeResult = 'proven' | 'stranger' | 'closed' | 'newer';

const greetingSchema = z.object({ ...protocolShape, nonce: z.string().check(z.minLength(16)) });
const proofSchema = z.object({ proof: z.string() });

/**
 * HMAC-SHA256 over the sender's side, the listener's role and address, and both greetings as they were sent. That covers
 * the nonces, versions and unknown members of both, and a message can't be reflected to its sender.
 */
export function proofOf(side: 'caller' | 'listener', params: HandshakeParams, hello: string, answer: string): string {
  const { key, role, address } = params;
  return createHmac('sha256', key)
    .update(JSON.stringify(['rolecall', side, role, address, hello, answer]))
    .digest('base64url');
}

/** Compares in constant time, so that the time does not reveal how much of a guess was right. */
export function isSameProof(proof: string, expected: string): boolean {
  const [a, b] = [Buffer.from(proof), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Authenticates both sides, for the side that connected. The listening side proves itself first. */
export async function handshakeAsClient(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
  const hello = line.send(greeting(params.protocol));
  const answer = await line.next();
  const greetingResult = understand(answer, params.protocol);
  if (answer === undefined || greetingResult !== 'understood')
    return greetingResult === 'understood' ? 'closed' : greetingResult;
  const proofText = await line.next();
  if (proofText === undefined) return 'closed';
  const proof = parseJsonAs(proofSchema, proofText)?.proof ?? '';
  if (!isSameProof(proof, proofOf('listener', params, hello, answer))) return 'stranger';
  line.send({ proof: proofOf('caller', params, hello, answer) });
  return 'proven';
}

/** Authenticates both sides, for the side that listens. */
export async function handshakeAsServer(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
  const hello = await line.next();
  const greetingResult = understand(hello, params.protocol);
  // Sent in any case: a caller with another version has to see that this window's differs.
  const answer = line.send(greeting(params.protocol));
  if (hello === undefined || greetingResult !== 'understood')
    return greetingResult === 'understood' ? 'closed' : greetingResult;
  line.send({ proof: proofOf('listener', params, hello, answer) });
  const proofText = await line.next();
  if (proofText === undefined) return 'closed';
  const proof = parseJsonAs(proofSchema, proofText)?.proof ?? '';
  return isSameProof(proof, proofOf('caller', params, hello, answer)) ? 'proven' : 'stranger';
}

function greeting(protocol: Protocol): Record<string, unknown> {
  return { ...protocolFields(protocol), nonce: randomBytes(24).toString('base64url') };
}

function understand(line: string | undefined, ours: Protocol): 'understood' | HandshakeResult {
  if (line === undefined) return 'closed';
  const stamp = parseJsonAs(z.object(protocolShape), line);
  if (!stamp) return 'stranger';
  if (!canTalk(ours, stamp)) return 'newer';
  return parseJsonAs(greetingSchema, line) ? 'understood' : 'stranger';
}

const KEY_FILE = 'windows.key';
const KEY_LENGTH = 32;

/**
 * The key by which the windows of one operating-system user recognize each other; made by the first window. It is in a
 * folder closed to others, so whoever knows it is this user. It is not the key that seals the session: a window that
 * has no session yet, or an old copy of the secret store, must be able to wait for its turn as well.
 */
export class FolderKey {
  readonly #file: string;
  #key: Buffer | undefined;

  constructor(folder: string) {
    this.#file = path.join(folder, KEY_FILE);
  }

  async get(): Promise<Buffer> {
    this.#key ??= await readOrMakeKey(this.#file);
    return this.#key;
  }

  /**
   * To be called when the other side did not know the key: perhaps the folder was removed and made anew. The next
   * {@link get} reads it again.
   */
  forget(): void {
    this.#key = undefined;
  }
}

async function readOrMakeKey(file: string): Promise<Buffer> {
  for (;;) {
    const key = await readFileIfExists(file);
    if (key?.length === KEY_LENGTH) return key;
    const fresh = randomBytes(KEY_LENGTH);
    // The second case is a file that a broken disk cut short.
    if (key === undefined) await createFileAtomically(file, fresh, true);
    else await replaceFileAtomically(file, fresh, true);
  }
}
