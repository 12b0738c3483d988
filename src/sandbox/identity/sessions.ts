import { randomBytes } from 'node:crypto';

/** Lengths, in characters, of what real services of this kind issue. */
const ACCESS_TOKEN_LENGTH = 1500;
const REFRESH_TOKEN_LENGTH = 1200;

/** Why a refresh token no longer works. */
type Fate = 'spent' | 'superseded' | 'ended';

interface Issued {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Whom tokens speak for, and what was asked for at the sign-in. */
export interface Grant {
  readonly client: string;
  readonly person: string;
  readonly scopes: readonly string[];
}

/** The one live pair of tokens of a client and a person. */
export interface Session {
  readonly grant: Grant;
  access: Issued;
  refresh: Issued;
}

export interface InvalidToken {
  readonly reason: 'unknown' | 'expired' | Fate;
}

/** An opaque token of this length; six bits a character. */
export function randomToken(length: number): string {
  return randomBytes(Math.ceil(length * 0.75))
    .toString('base64url')
    .slice(0, length);
}

/**
 * Who is signed in, in memory, and the rule of the identity specification's "Limits": each client has a single session
 * per person. A refresh compares the token, ends the old pair and issues the new one in one synchronous step, so that of
 * two at the same moment exactly one wins.
 */
export class Sessions {
  readonly #lifetimes: { readonly accessTokenSeconds: number; readonly refreshTokenSeconds: number };
  readonly #sessions = new Map<string, Session>();
  /** Refresh tokens that were live once; they stay as long as the process. */
  readonly #fates = new Map<string, Fate>();
  readonly #serviceTokens = new Map<string, { readonly person: string; readonly expires: number }>();

  constructor(lifetimes: { readonly accessTokenSeconds: number; readonly refreshTokenSeconds: number }) {
    this.#lifetimes = lifetimes;
  }

  /** Begins a session and ends the one before it. */
  signIn(grant: Grant): Session {
    const before = this.#sessions.get(keyOf(grant));
    if (before) this.#end(before, 'superseded');
    const session: Session = { grant, ...this.#issue() };
    this.#sessions.set(keyOf(grant), session);
    return session;
  }

  refresh(client: string, token: string): Session | InvalidToken {
    const session = [...this.#sessions.values()].find(({ refresh }) => refresh.token === token);
    if (!session || session.grant.client !== client) return { reason: this.#fates.get(token) ?? 'unknown' };
    if (session.refresh.expires <= Date.now()) return { reason: 'expired' };
    this.#fates.set(token, 'spent');
    Object.assign(session, this.#issue());
    return session;
  }

  /** Ends the session if it is still this one. */
  end(session: Session): void {
    if (this.#sessions.get(keyOf(session.grant)) === session) this.#end(session, 'ended');
  }

  /** The session of a live access token. */
  of(accessToken: string): Session | undefined {
    const session = [...this.#sessions.values()].find(({ access }) => access.token === accessToken);
    return session && session.access.expires > Date.now() ? session : undefined;
  }

  /** The person a live access token or service token speaks for. */
  bearer(token: string): string | undefined {
    const service = this.#serviceTokens.get(token);
    if (service) return service.expires > Date.now() ? service.person : undefined;
    return this.of(token)?.grant.person;
  }

  /** A long-lived bearer token outside of every session, as people put them into settings. */
  issueServiceToken(person: string, seconds: number): string {
    const token = randomToken(REFRESH_TOKEN_LENGTH);
    this.#serviceTokens.set(token, { person, expires: Date.now() + seconds * 1000 });
    return token;
  }

  /** Ends every session, service tokens included. @returns how many there were. */
  endAll(): number {
    const count = this.#sessions.size + this.#serviceTokens.size;
    for (const session of [...this.#sessions.values()]) this.#end(session, 'ended');
    this.#serviceTokens.clear();
    return count;
  }

  #issue(): Pick<Session, 'access' | 'refresh'> {
    const issued = (length: number, seconds: number): Issued => ({
      token: randomToken(length),
      expires: Date.now() + seconds * 1000,
    });
    return {
      access: issued(ACCESS_TOKEN_LENGTH, this.#lifetimes.accessTokenSeconds),
      refresh: issued(REFRESH_TOKEN_LENGTH, this.#lifetimes.refreshTokenSeconds),
    };
  }

  #end(session: Session, fate: Fate): void {
    this.#sessions.delete(keyOf(session.grant));
    this.#fates.set(session.refresh.token, fate);
  }
}

const keyOf = ({ client, person }: Grant): string => `${client} ${person}`;
