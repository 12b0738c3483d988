import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { LineSocket } from './lineSocket.ts';
import { canTalk, type Protocol, parseJson, protocolMembers, stampOf } from './protocol.ts';

/** What the listening side is: the holder of the exclusion, or a window that waits for news. */
export type Role = 'holder' | 'window';

export interface Proving {
  readonly role: Role;
  /** The address as the prover knows it: a stranger who passes messages on to the real window is found out. */
  readonly address: string;
  /** Known to the windows of this user only; see folderKey.ts. */
  readonly key: Buffer;
  readonly protocol: Protocol;
}

/** `stranger`: the other side does not know the key. `closed`: it went away first. `newer`: it speaks another version. */
export type Verdict = 'proven' | 'stranger' | 'closed' | 'newer';

const greetingSchema = z.object({ ...protocolMembers, nonce: z.string().check(z.minLength(16)) });
const proofSchema = z.object({ proof: z.string() });

/**
 * HMAC-SHA256 over who speaks, the role and address of the listening side, and both greetings as they were sent: so
 * nonces, versions and unknown members of both are bound, and no message can be sent back to its sender.
 */
export function proofOf(side: 'caller' | 'listener', proving: Proving, hello: string, answer: string): string {
  const { key, role, address } = proving;
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
export async function proveAsCaller(line: LineSocket, proving: Proving): Promise<Verdict> {
  const hello = line.send(greeting(proving.protocol));
  const answer = await line.next();
  const spoken = understand(answer, proving.protocol);
  if (answer === undefined || spoken !== 'understood') return spoken === 'understood' ? 'closed' : spoken;
  const theirs = await line.next();
  if (theirs === undefined) return 'closed';
  const proof = parseJson(proofSchema, theirs)?.proof ?? '';
  if (!isSameProof(proof, proofOf('listener', proving, hello, answer))) return 'stranger';
  line.send({ proof: proofOf('caller', proving, hello, answer) });
  return 'proven';
}

/** Proves to each other as the side that listens. */
export async function proveAsListener(line: LineSocket, proving: Proving): Promise<Verdict> {
  const hello = await line.next();
  const spoken = understand(hello, proving.protocol);
  // Greeted in any case: a caller of another version has to learn that this is one.
  const answer = line.send(greeting(proving.protocol));
  if (hello === undefined || spoken !== 'understood') return spoken === 'understood' ? 'closed' : spoken;
  line.send({ proof: proofOf('listener', proving, hello, answer) });
  const theirs = await line.next();
  if (theirs === undefined) return 'closed';
  const proof = parseJson(proofSchema, theirs)?.proof ?? '';
  return isSameProof(proof, proofOf('caller', proving, hello, answer)) ? 'proven' : 'stranger';
}

function greeting(protocol: Protocol): Record<string, unknown> {
  return { ...stampOf(protocol), nonce: randomBytes(24).toString('base64url') };
}

function understand(line: string | undefined, ours: Protocol): 'understood' | Verdict {
  if (line === undefined) return 'closed';
  const stamp = parseJson(z.object(protocolMembers), line);
  if (!stamp) return 'stranger';
  if (!canTalk(ours, stamp)) return 'newer';
  return parseJson(greetingSchema, line) ? 'understood' : 'stranger';
}
