import * as z from 'zod/mini';
import type { Connection } from '../../base/connection.ts';
import { readSession, SESSION_VERSION, type Session, writeSession } from '../session.ts';
import { parseJsonAs } from './protocol.ts';
import { KEY_BYTES } from './seal.ts';

/** Version 1 was a bare session; see {@link readRecord}. */
export const RECORD_VERSION = 2;

const recordSchema = z.object({
  version: z.literal(RECORD_VERSION),
  /** base64. Seals the file that the windows share. */
  key: z.string(),
  /** The last session this window knew, as {@link writeSession} writes it: what survives when the file is gone. */
  session: z.optional(z.string()),
});

/** What the secret store holds for one connection; empty when there is nothing, or something for another connection. */
export interface SecretRecord {
  /** Absent in a store that an older version of Rolecall wrote. */
  readonly key?: Buffer;
  readonly session?: Session;
  /** `newer`: a later version of Rolecall wrote it; it must not be overwritten. `damaged`: it cannot be used. */
  readonly problem?: 'newer' | 'damaged';
}

export function readRecord(text: string | undefined, connection: Connection): SecretRecord {
  if (text === undefined) return {};
  const version = versionOf(text);
  if (version === undefined) return { problem: 'damaged' };
  if (version === SESSION_VERSION) return sessionIn(text, connection);
  if (version > RECORD_VERSION) return { problem: 'newer' };
  const record = parseJsonAs(recordSchema, text);
  const key = Buffer.from(record?.key ?? '', 'base64');
  if (!record || key.length !== KEY_BYTES) return { problem: 'damaged' };
  return { key, ...sessionIn(record.session, connection) };
}

export function writeRecord(key: Buffer, session: Session | undefined): string {
  return JSON.stringify({
    version: RECORD_VERSION,
    key: key.toString('base64'),
    ...(session && { session: writeSession(session) }),
  });
}

function sessionIn(text: string | undefined, connection: Connection): SecretRecord {
  try {
    const session = readSession(text, connection);
    return session ? { session } : {};
  } catch {
    return { problem: (versionOf(text ?? '') ?? 0) > SESSION_VERSION ? 'newer' : 'damaged' };
  }
}

function versionOf(text: string): number | undefined {
  return parseJsonAs(z.object({ version: z.number() }), text)?.version;
}
