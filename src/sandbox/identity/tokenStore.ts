import { createHash, randomBytes } from 'node:crypto';
import type { AdapterPayload } from 'oidc-provider';

/** Why a refresh token no longer works. */
export type Fate = 'spent' | 'superseded' | 'ended';

interface Entry {
  payload: AdapterPayload;
  /** Milliseconds since the epoch; `undefined` never expires. */
  expires: number | undefined;
}

/** The one live pair of tokens of a client and a person. */
interface Session {
  grantId: string;
  accessToken?: string | undefined;
  refreshToken?: string | undefined;
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64url');
const sessionKey = (payload: AdapterPayload): string => `${payload.clientId} ${payload.accountId}`;

/** Thrown where a token lost its session between being looked up and being used. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}

/**
 * Everything the identity service remembers, in memory, and the rule of the specification of the identity service "Limits": each client has a single
 * session per person. The order on refresh is the one of what servers of this kind do: the stored refresh token is compared and cleared
 * and the old access token dies before anything new is issued, all in one synchronous step, so that of two refreshes at
 * the same moment exactly one wins.
 */
export class TokenStore {
  readonly #models = new Map<string, Map<string, Entry>>();
  readonly #sessions = new Map<string, Session>();
  readonly #fates = new Map<string, Fate>();
  readonly #serviceTokens = new Map<string, { person: string; expires: number }>();

  put(model: string, id: string, payload: AdapterPayload, seconds: number | undefined): void {
    const entries = this.#entries(model);
    if (entries.size > 1000) {
      for (const [key, entry] of entries)
        if (entry.expires !== undefined && entry.expires <= Date.now()) entries.delete(key);
    }
    entries.set(id, { payload, expires: seconds === undefined ? undefined : Date.now() + seconds * 1000 });
  }

  get(model: string, id: string): AdapterPayload | undefined {
    return this.#entries(model).get(id)?.payload;
  }

  delete(model: string, id: string): void {
    this.#entries(model).delete(id);
  }

  find(model: string, matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    for (const { payload } of this.#entries(model).values()) if (matches(payload)) return payload;
    return undefined;
  }

  deleteGrant(model: string, grantId: string): void {
    const entries = this.#entries(model);
    for (const [id, { payload }] of entries) if (payload.grantId === grantId) entries.delete(id);
  }

  /** A sign-in's first access token ends the session before it; a refresh's one joins its session. */
  putAccessToken(id: string, payload: AdapterPayload, seconds: number | undefined): void {
    const key = sessionKey(payload);
    if (payload.gty === 'authorization_code') {
      this.#end(key, 'superseded');
      this.#sessions.set(key, { grantId: payload.grantId ?? '' });
    }
    const session = this.#current(payload);
    this.#forgetAccessToken(session);
    session.accessToken = id;
    this.put('AccessToken', id, payload, seconds);
  }

  putRefreshToken(id: string, payload: AdapterPayload, seconds: number | undefined): void {
    this.#current(payload).refreshToken = id;
    this.put('RefreshToken', id, payload, seconds);
  }

  /** Takes the stored refresh token out of its session and ends the access token that came with it. */
  spendRefreshToken(id: string): void {
    const payload = this.get('RefreshToken', id);
    const session = payload === undefined ? undefined : this.#sessions.get(sessionKey(payload));
    if (session?.refreshToken !== id) throw new SupersededError('refresh token reuse');
    session.refreshToken = undefined;
    this.delete('RefreshToken', id);
    this.#fates.set(digest(id), 'spent');
    this.#forgetAccessToken(session);
  }

  /** Takes an authorization code; of two exchanges at the same moment exactly one gets past this. */
  spendCode(id: string): void {
    const payload = this.get('AuthorizationCode', id);
    if (payload === undefined || payload.consumed) throw new SupersededError('authorization code already consumed');
    payload.consumed = true;
  }

  /** What became of a refresh token that is not stored any more; `undefined` for one never issued here. */
  fate(refreshToken: string): Fate | undefined {
    return this.#fates.get(digest(refreshToken));
  }

  /** The person a live access token or service token speaks for. */
  bearer(token: string): string | undefined {
    const entry = this.#entries('AccessToken').get(token);
    if (entry?.expires !== undefined && entry.expires > Date.now()) return entry.payload.accountId;
    const service = this.#serviceTokens.get(token);
    return service !== undefined && service.expires > Date.now() ? service.person : undefined;
  }

  /** A long-lived bearer token outside of every session, as people put them into settings. */
  issueServiceToken(person: string, seconds: number): string {
    const token = randomBytes(900).toString('base64url');
    this.#serviceTokens.set(token, { person, expires: Date.now() + seconds * 1000 });
    return token;
  }

  /** Ends every session, service tokens included; answers how many there were. */
  endAll(): number {
    const count = this.#sessions.size + this.#serviceTokens.size;
    for (const key of [...this.#sessions.keys()]) this.#end(key, 'ended');
    this.#serviceTokens.clear();
    return count;
  }

  #end(key: string, fate: Fate): void {
    const session = this.#sessions.get(key);
    if (session === undefined) return;
    this.#sessions.delete(key);
    this.#forgetAccessToken(session);
    if (session.refreshToken !== undefined) {
      this.delete('RefreshToken', session.refreshToken);
      this.#fates.set(digest(session.refreshToken), fate);
    }
  }

  #forgetAccessToken(session: Session): void {
    if (session.accessToken !== undefined) this.delete('AccessToken', session.accessToken);
    session.accessToken = undefined;
  }

  #current(payload: AdapterPayload): Session {
    const session = this.#sessions.get(sessionKey(payload));
    if (session === undefined || session.grantId !== payload.grantId) throw new SupersededError('session ended');
    return session;
  }

  #entries(model: string): Map<string, Entry> {
    let entries = this.#models.get(model);
    if (entries === undefined) {
      entries = new Map();
      this.#models.set(model, entries);
    }
    return entries;
  }
}
