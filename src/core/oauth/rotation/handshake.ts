import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { LineSocket } from './lineSocket.ts';
import { canTalk, type Protocol, parseJsonAs, protocolFields, protocolShape } from './protocol.ts';

/** What the listening side is: the holder of the mutex, or a window that waits for news. */
export type ListenerRole = 'holder' | 'window';

export interface HandshakeParams {
  readonly role: ListenerRole;
  /** The address as the prover knows it: a stranger who passes messages on to the real window is found out. */
  readonly address: string;
  /** Known to the windows of this user only; see folderKey.ts. */
  readonly key: Buffer;
  readonly protocol: Protocol;
}

/** `stranger`: the other side does not know the key. `closed`: it went away first. `newer`: it speaks another version. */
export type HandshakeResult = 'proven' | 'stranger' | 'closed' | 'newer';

const greetingSchema = z.object({ ...protocolShape, nonce: z.string().check(z.minLength(16)) });
const proofSchema = z.object({ proof: z.string() });

/**
 * HMAC-SHA256 over who speaks, the role and address of the listening side, and both greetings as they were sent: so
 * nonces, versions and unknown members of both are bound, and no message can be sent back to its sender.
 */
export function proofOf(side: 'caller' | 'listener', params: HandshakeParams, hello: string, answer: string): string {
  const { key, role, address } = params;
  return createHmac('sha256', key)
    .update(JSON.stringify(['rolecall', side, role, address, hello, answer]))
    .digest('base64url');
}

/** Compares in constant time. */
export function isSameProof(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Proves to each other as the side that connected. The listening side has to prove first. */
export async function handshakeAsClient(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
  const hello = line.send(greeting(params.protocol));
  const answer = await line.next();
  const spoken = understand(answer, params.protocol);
  if (answer === undefined || spoken !== 'understood') return spoken === 'understood' ? 'closed' : spoken;
  const theirs = await line.next();
  if (theirs === undefined) return 'closed';
  const proof = parseJsonAs(proofSchema, theirs)?.proof ?? '';
  if (!isSameProof(proof, proofOf('listener', params, hello, answer))) return 'stranger';
  line.send({ proof: proofOf('caller', params, hello, answer) });
  return 'proven';
}

/** Proves to each other as the side that listens. */
export async function handshakeAsServer(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
  const hello = await line.next();
  const spoken = understand(hello, params.protocol);
  // Always greeted: a caller of another version has to see that this window speaks a different one.
  const answer = line.send(greeting(params.protocol));
  if (hello === undefined || spoken !== 'understood') return spoken === 'understood' ? 'closed' : spoken;
  line.send({ proof: proofOf('listener', params, hello, answer) });
  const theirs = await line.next();
  if (theirs === undefined) return 'closed';
  const proof = parseJsonAs(proofSchema, theirs)?.proof ?? '';
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
