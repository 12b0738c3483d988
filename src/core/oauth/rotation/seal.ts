import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Connection } from '../../base/connection.ts';
import { parseJsonAs } from '../../base/json.ts';
import { readSession, type Session, writeSession } from '../session.ts';
import { canRead, type Protocol, protocolFields, protocolShape } from './protocol.ts';
import { END_REASONS } from './reconcile.ts';

/** Length of the random key in the secret store, in bytes. */
export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MAX_HEADER_BYTES = 4096;

const headerSchema = z.object({
  ...protocolShape,
  /** Grows with every rotation, sign-in, end and sign-out; never goes back. */
  generation: z.number().check(z.int(), z.nonnegative()),
  /** The {@link keyFingerprint} of the key. */
  key: z.string(),
  /** True when there is no session. In the readable line, so that a window without the key knows it too. */
  signedOut: z.optional(z.boolean()),
});

const contentSchema = z.object({
  /** The text that {@link writeSession} made. */
  session: z.optional(z.string()),
  /** When the access token stops being accepted, without the margin of `expiresAt`; in milliseconds since the epoch. */
  diesAt: z.optional(z.number()),
  /** A later version may know more reasons; the sentence is still right then. */
  ended: z.optional(z.object({ reason: z.catch(z.enum(END_REASONS), 'unknown'), sentence: z.string() })),
});

export type SealedHeader = z.infer<typeof headerSchema>;

/** The content of the sealed file: one entry per generation. */
export interface SessionEntry {
  readonly generation: number;
  /** Absent after a sign-out. */
  readonly session?: Session;
  readonly diesAt?: number;
  /** Present when the identity service no longer honors the session, which is then kept for a diagnosis only. */
  readonly ended?: { readonly reason: (typeof END_REASONS)[number]; readonly sentence: string };
}

export type Unsealed =
  | { readonly kind: 'missing' }
  | { readonly kind: 'open'; readonly entry: SessionEntry; readonly key: Buffer }
  /** Sealed with a key we do not hold: our copy of the secret store is old, or it is another editor's. */
  | { readonly kind: 'otherKey'; readonly header: SealedHeader }
  /** Written by a version whose format we do not know. */
  | { readonly kind: 'newer' }
  | { readonly kind: 'damaged'; readonly header?: SealedHeader };

/** Identifies a key without revealing anything about it. */
export function keyFingerprint(key: Buffer): string {
  return derive(key, 'rolecall key fingerprint', 8).toString('hex');
}

/**
 * One line of JSON that anybody of this user may read (no secret in it), then AES-256-GCM: iv, ciphertext, tag. The
 * line is authenticated with the rest.
 */
export function seal(key: Buffer, entry: SessionEntry, protocol: Protocol): Buffer {
  const header = {
    ...protocolFields(protocol),
    generation: entry.generation,
    key: keyFingerprint(key),
    ...(!entry.session && { signedOut: true }),
  };
  const content = {
    ...protocol.extras,
    ...(entry.session && { session: writeSession(entry.session) }),
    ...(entry.diesAt !== undefined && { diesAt: entry.diesAt }),
    ...(entry.ended && { ended: entry.ended }),
  };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), iv).setAAD(line);
  const body = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
  return Buffer.concat([line, iv, body, cipher.getAuthTag()]);
}

/** Opens what {@link seal} wrote with whichever of `keys` it was sealed with. Never throws. */
export function unseal(
  bytes: Buffer | undefined,
  keys: readonly Buffer[],
  protocol: Protocol,
  connection: Connection,
): Unsealed {
  if (bytes === undefined) return { kind: 'missing' };
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\n') + 1;
  const line = bytes.subarray(0, end);
  const stamp = parseJsonAs(z.object(protocolShape), line.toString());
  if (!stamp) return { kind: 'damaged' };
  if (!canRead(protocol, stamp)) return { kind: 'newer' };
  const header = parseJsonAs(headerSchema, line.toString());
  if (!header) return { kind: 'damaged' };
  const key = keys.find((candidate) => keyFingerprint(candidate) === header.key);
  if (!key) return { kind: 'otherKey', header };
  const text = decrypt(key, line, bytes.subarray(end));
  const content = text === undefined ? undefined : parseJsonAs(contentSchema, text);
  if (!content) return { kind: 'damaged', header };
  const { diesAt, ended } = content;
  try {
    const session = readSession(content.session, connection);
    const entry = {
      generation: header.generation,
      ...(session && { session }),
      ...(diesAt !== undefined && { diesAt }),
      ...(ended && { ended }),
    };
    return { kind: 'open', key, entry };
  } catch {
    // Authentic, so it was written on purpose: a session of a later version.
    return { kind: 'newer' };
  }
}

function decrypt(key: Buffer, line: Buffer, sealed: Buffer): string | undefined {
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key), sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(line).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return undefined; // The caller reports a wrong key or a damaged file.
  }
}

function sealingKey(key: Buffer): Buffer {
  return derive(key, 'rolecall session seal', 32);
}

/** RFC 5869; each use of the key has a label of its own. */
function derive(key: Buffer, label: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), label, length));
}
