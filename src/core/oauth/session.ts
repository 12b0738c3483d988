import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { type Connection, connectionKey } from '../base/connection.ts';
import { RolecallError } from '../base/errors.ts';

/** Version of a session in the secret store. A newer one is left alone: see {@link readSession}. */
export const SESSION_VERSION = 1;

const accountSchema = z.object({ id: z.string(), label: z.string() });

const sessionSchema = z.object({
  version: z.literal(SESSION_VERSION),
  /** {@link connectionKey} of the connection it was signed in with; another address or client is not served by it. */
  key: z.string(),
  /** Grows by one with each rotation: of two sessions the higher one is valid. */
  generation: z.number(),
  accessToken: z.string(),
  refreshToken: z.optional(z.string()),
  /** When the access token stops being used, in milliseconds since the epoch; absent when only a 401 shows it. */
  expiresAt: z.optional(z.number()),
  account: accountSchema,
});

/** A signed-in session as it is stored. Access tokens are opaque (the servers encrypt them) and never parsed. */
export type Session = z.infer<typeof sessionSchema>;
export type Account = z.infer<typeof accountSchema>;

/** What the token endpoint gave (RFC 6749 section 5.1), with the claims of the id_token when there was one. */
export interface TokenGrant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly expiresInSeconds?: number;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The first session of a sign-in. `now` in milliseconds. */
export function firstSession(connection: Connection, grant: TokenGrant, account: Account, now: number): Session {
  return {
    version: SESSION_VERSION,
    key: connectionKey(connection),
    generation: 1,
    account,
    ...tokensOf(grant, now),
  };
}

/** The session after a rotation. A server that sends no new refresh token means that the old one stays (RFC 6749 section 6). */
export function rotatedSession(session: Session, grant: TokenGrant, now: number): Session {
  const { expiresAt: _old, ...kept } = session;
  return { ...kept, ...tokensOf(grant, now), generation: session.generation + 1 };
}

/**
 * Reads what the secret store holds for `connection`.
 *
 * @returns `undefined` when there is nothing, or something for another connection.
 * @throws RolecallError `storage` when a newer version of Rolecall wrote it (reload the window) or it cannot be read.
 */
export function readSession(text: string | undefined, connection: Connection): Session | undefined {
  if (text === undefined) return undefined;
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    // Without the cause: a SyntaxError quotes the text, and the text holds tokens.
    throw new RolecallError('storage', l10n.t('The stored session cannot be read. Sign out, then sign in again.'));
  }
  refuseNewer(stored);
  const session = z.safeParse(sessionSchema, stored);
  if (!session.success) {
    throw new RolecallError('storage', l10n.t('The stored session is damaged. Sign out, then sign in again.'), {
      cause: session.error,
    });
  }
  return session.data.key === connectionKey(connection) ? session.data : undefined;
}

export function writeSession(session: Session): string {
  return JSON.stringify(session);
}

/** The account, from the claims of OpenID Connect Core section 5.1; servers may leave out any of them. */
export function accountOf(claims: Readonly<Record<string, unknown>> | undefined, fallback: string): Account {
  const text = (name: string) => {
    const value = claims?.[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const id = text('sub') ?? fallback;
  return { id, label: text('email') ?? text('preferred_username') ?? text('name') ?? text('sub') ?? fallback };
}

function tokensOf(grant: TokenGrant, now: number) {
  const lifetime = grant.expiresInSeconds;
  return {
    accessToken: grant.accessToken,
    ...(grant.refreshToken !== undefined && { refreshToken: grant.refreshToken }),
    ...(lifetime !== undefined && { expiresAt: now + (lifetime - Math.min(60, lifetime / 10)) * 1000 }),
  };
}

function refuseNewer(stored: unknown): void {
  const version = z.safeParse(z.object({ version: z.number() }), stored);
  if (version.success && version.data.version > SESSION_VERSION) {
    throw new RolecallError(
      'storage',
      l10n.t('The session was stored by a newer version of Rolecall. Reload this window to use it.'),
    );
  }
}
