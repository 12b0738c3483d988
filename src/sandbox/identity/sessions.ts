import { randomBytes } from 'node:crypto';

/** Token lengths, in characters, that are typical of comparable services. */
const ACCESS_TOKEN_LENGTH = 1500;
const REFRESH_TOKEN_LENGTH = 1200;

/** Why a refresh token no longer works. */
type EndReason = 'spent' | 'superseded' | 'ended';

interface IssuedToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** The client, person and scopes that tokens are issued for. */
export interface Grant {
  readonly client: string;
  readonly person: string;
  readonly scopes: readonly string[];
}

/** The current access token and refresh token of a client and a person. */
export interface Session {
  readonly grant: Grant;
  access: IssuedToken;
  refresh: IssuedToken;
}

export interface InvalidToken {
  readonly reason: 'unknown' | 'expired' | EndReason;
}

/** Creates an opaque token of `length` characters. Each character holds six random bits. */
export function randomToken(length: number): string {
  return randomBytes(Math.ceil(length * 0.75))
    .toString('base64url')
    .slice(0, length);
}

/**
 * The sessions and service tokens, kept in memory. Each client has a single session per person (identity specification,
 * "Limits"). A refresh compares the token, invalidates the old pair and issues a new one in one synchronous step, so
 * that exactly one of two concurrent refreshes succeeds.
 */
export class Sessions {
  readonly #lifetimes: { readonly accessTokenSeconds: number; readonly refreshTokenSeconds: number };
  readonly #sessions = new Map<string, Session>();
  /** Refresh tokens that are no longer valid. They are kept until the process ends. */
  readonly #endReasons = new Map<string, EndReason>();
  readonly #serviceTokens = new Map<string, { readonly person: string; readonly expires: number }>();

  constructor(lifetimes: { readonly accessTokenSeconds: number; readonly refreshTokenSeconds: number }) {
    this.#lifetimes = lifetimes;
  }

  /** Starts a session, and ends the previous one of the same client and person. */
  signIn(grant: Grant): Session {
    const previous = this.#sessions.get(keyOf(grant));
    if (previous) this.#end(previous, 'superseded');
    const session: Session = { grant, ...this.#issue() };
    this.#sessions.set(keyOf(grant), session);
    return session;
  }

  refresh(client: string, token: string): Session | InvalidToken {
    const session = [...this.#sessions.values()].find(({ refresh }) => refresh.token === token);
    if (!session || session.grant.client !== client) return { reason: this.#endReasons.get(token) ?? 'unknown' };
    if (session.refresh.expires <= Date.now()) return { reason: 'expired' };
    this.#endReasons.set(token, 'spent');
    Object.assign(session, this.#issue());
    return session;
  }

  /** Ends the session unless a newer one has superseded it. */
  end(session: Session): void {
    if (this.#sessions.get(keyOf(session.grant)) === session) this.#end(session, 'ended');
  }

  /** The session of an access token that is valid now. */
  of(accessToken: string): Session | undefined {
    const session = [...this.#sessions.values()].find(({ access }) => access.token === accessToken);
    return session && session.access.expires > Date.now() ? session : undefined;
  }

  /** The person whose access token or service token this is, if it is valid now. */
  bearer(token: string): string | undefined {
    const service = this.#serviceTokens.get(token);
    if (service) return service.expires > Date.now() ? service.person : undefined;
    return this.of(token)?.grant.person;
  }

  /** Issues a long-lived bearer token that does not belong to a session. Users put such tokens into their settings. */
  issueServiceToken(person: string, seconds: number): string {
    const token = randomToken(REFRESH_TOKEN_LENGTH);
    this.#serviceTokens.set(token, { person, expires: Date.now() + seconds * 1000 });
    return token;
  }

  /** Ends all sessions and revokes all service tokens. @returns the number of both together. */
  endAll(): number {
    const count = this.#sessions.size + this.#serviceTokens.size;
    for (const session of [...this.#sessions.values()]) this.#end(session, 'ended');
    this.#serviceTokens.clear();
    return count;
  }

  #issue(): Pick<Session, 'access' | 'refresh'> {
    const createToken = (length: number, seconds: number): IssuedToken => ({
      token: randomToken(length),
      expires: Date.now() + seconds * 1000,
    });
    return {
      access: createToken(ACCESS_TOKEN_LENGTH, this.#lifetimes.accessTokenSeconds),
      refresh: createToken(REFRESH_TOKEN_LENGTH, this.#lifetimes.refreshTokenSeconds),
    };
  }

  #end(session: Session, reason: EndReason): void {
    this.#sessions.delete(keyOf(session.grant));
    this.#endReasons.set(session.refresh.token, reason);
  }
}

const keyOf = ({ client, person }: Grant): string => `${client} ${person}`;
