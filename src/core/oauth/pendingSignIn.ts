import * as z from 'zod/mini';
import { type Connection, connectionKey } from '../base/connection.ts';
import type { PendingSignIn } from './authorizationServer.ts';

const VERSION = 1;

const schema = z.object({
  version: z.literal(VERSION),
  /** {@link connectionKey}. */
  key: z.string(),
  /** Milliseconds since the epoch. */
  until: z.number(),
  pending: z.object({
    state: z.string(),
    nonce: z.optional(z.string()),
    codeVerifier: z.string(),
    redirectUri: z.string(),
  }),
});

/**
 * A waiting sign-in as text for the secret store: the editor may give a link to another window than the one that asked.
 * It contains the PKCE verifier, so it is stored nowhere else.
 */
export function writePending(connection: Connection, pending: PendingSignIn, until: number): string {
  return JSON.stringify({ version: VERSION, key: connectionKey(connection), until, pending });
}

/**
 * @returns `undefined` when there is none for this connection and `state`, or its time is over. `now` in milliseconds.
 */
export function readPending(
  text: string | undefined,
  connection: Connection,
  state: string | null,
  now: number,
): PendingSignIn | undefined {
  if (text === undefined) return undefined;
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return undefined; // Not ours: no sign-in waits there.
  }
  const parsed = z.safeParse(schema, stored);
  if (!parsed.success || parsed.data.key !== connectionKey(connection) || parsed.data.until < now) return undefined;
  const { nonce, ...pending } = parsed.data.pending;
  return pending.state === state ? { ...pending, ...(nonce !== undefined && { nonce }) } : undefined;
}
