import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { silentLog } from '../../../../src/core/base/log.ts';
import { firstSession, type Session, type TokenGrant, writeSession } from '../../../../src/core/oauth/session.ts';
import { type SessionState, type SessionStore, TokenKeeper } from '../../../../src/core/oauth/tokenKeeper.ts';
import { CONNECTION } from './connection.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const ACCOUNT = { id: 'sub-1', label: 'ada@example.com' };
export const HOUR: TokenGrant = { accessToken: 'access-1', refreshToken: 'refresh-1', expiresInSeconds: 3600 };

export const session = (grant: TokenGrant = HOUR, account = ACCOUNT): Session =>
  firstSession(CONNECTION, grant, account, NOW);

/** A promise with its handles outside. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

/** A keeper over a store in memory and a token endpoint played by the test. */
export function harness(stored: Session | string | undefined = session()) {
  const journal: string[] = [];
  const states: SessionState[] = [];
  const learned = new Set<string>();
  const h = {
    now: NOW,
    text: (typeof stored === 'object' ? writeSession(stored) : stored) as string | undefined,
    /** Set to make the next uses of the store fail or wait. */
    onRead: async () => {},
    onWrite: async () => {},
    onClear: async () => {},
    refresh: async (refreshToken: string): Promise<TokenGrant> => {
      const n = Number(refreshToken.split('-')[1]) + 1;
      return { accessToken: `access-${n}`, refreshToken: `refresh-${n}`, expiresInSeconds: 3600 };
    },
    journal,
    states,
    learned,
    get kinds() {
      return states.map(({ kind }) => kind);
    },
    get stored(): Session | undefined {
      return h.text === undefined ? undefined : JSON.parse(h.text);
    },
  };
  const store: SessionStore = {
    read: async () => {
      journal.push('read');
      await h.onRead();
      return h.text;
    },
    write: async (text) => {
      journal.push(`write ${(JSON.parse(text) as Session).accessToken}`);
      await h.onWrite();
      h.text = text;
    },
    clear: async () => {
      journal.push('clear');
      await h.onClear();
      h.text = undefined;
    },
  };
  const keeper = new TokenKeeper({
    connection: CONNECTION,
    store,
    refresh: (refreshToken, signal) => {
      assert.equal(signal.aborted, false);
      journal.push(`refresh ${refreshToken}`);
      return h.refresh(refreshToken);
    },
    learn: (secret) => secret !== undefined && learned.add(secret),
    log: silentLog,
    now: () => h.now,
  });
  keeper.onDidChange((state) => states.push(state));
  return Object.assign(h, { keeper });
}

export type Harness = ReturnType<typeof harness>;

/** Loaded, with the journal and the states of that forgotten; the access token has expired. */
export async function expired(stored?: Session): Promise<Harness> {
  const h = harness(stored);
  await h.keeper.load();
  h.now = NOW + 3_600_000;
  h.journal.length = 0;
  h.states.length = 0;
  return h;
}

export async function failure(promise: Promise<unknown>): Promise<RolecallError> {
  const error = await promise.then(
    (value) => assert.fail(`nothing was thrown but given: ${String(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RolecallError, String(error));
  return error;
}
