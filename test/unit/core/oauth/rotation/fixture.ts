import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Connection } from '../../../../../src/core/base/connection.ts';
import { RolecallError } from '../../../../../src/core/base/errors.ts';
import type { Log } from '../../../../../src/core/base/log.ts';
import type { SessionStore } from '../../../../../src/core/oauth/rotation/sessionSecretStore.ts';
import type { TokenManagerDeps } from '../../../../../src/core/oauth/rotation/sharedSessionService.ts';
import { connectionFolderName } from '../../../../../src/core/oauth/rotation/statePaths.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from '../../../../../src/core/oauth/rotation/timeouts.ts';
import { TokenManager } from '../../../../../src/core/oauth/rotation/tokenManager.ts';
import type { SessionState } from '../../../../../src/core/oauth/rotation/windowSession.ts';
import { firstSession, type Session, type TokenGrant } from '../../../../../src/core/oauth/session.ts';

export const connection: Connection = {
  id: 'service',
  label: 'identity.example.com',
  identityUrl: 'https://identity.example.com',
  inferenceUrl: 'https://inference.example.com',
  clientId: '0f9c7c1e',
  clientAuthentication: 'client_secret_post',
  redirectUri: 'http://127.0.0.1:18155/callback',
  scope: 'openid',
};

export const never = new AbortController().signal;

/** Pauses that take no time, and limits that nobody comes to: a test of a limit sets that one. */
export const PATIENT: Timeouts = {
  peerSilence: 60_000,
  acknowledgements: 60_000,
  storeRead: 60_000,
  storeWrite: 60_000,
  storeNewKey: 60_000,
  newKeyDelay: 25,
  keyRereadDelays: Array<number>(1000).fill(5),
  fileChange: 1,
  retryDelay: 0,
  firstPause: DEFAULT_TIMEOUTS.firstPause,
  rereadDelaysAfterRefusal: DEFAULT_TIMEOUTS.rereadDelaysAfterRefusal.map(() => 0),
  callerWait: 60_000,
  signInLockWait: 60_000,
  signOutLockWait: 60_000,
};

/** A secret store that every window sees alike, at once. */
export function sharedStore(): () => SessionStore & { text: string | undefined; reads: number; writes: number } {
  const store = {
    text: undefined as string | undefined,
    reads: 0,
    writes: 0,
    read: async () => {
      store.reads += 1;
      return store.text;
    },
    write: async (text: string) => {
      store.writes += 1;
      store.text = text;
    },
  };
  return () => store;
}

/** The browser's: each window reads once, and writes what it has read. */
export function snapshotStores(): { open(): SessionStore; blob: string | undefined } {
  const browser = {
    blob: undefined as string | undefined,
    open: (): SessionStore => {
      let snapshot = browser.blob;
      const keep = async (text: string) => {
        snapshot = text;
        browser.blob = text;
      };
      return { read: async () => snapshot, write: keep };
    },
  };
  return browser;
}

export function refusal(said = 'refresh token reuse'): RolecallError {
  return new RolecallError(
    'sessionEnded',
    `The identity service no longer accepts this sign-in. Server response: ${said}`,
    {
      details: { status: 400, code: 'invalid_grant', serverMessage: said },
    },
  );
}

/** The token endpoint: single-use refresh tokens, one session. */
export class FakeServer {
  #serial = 0;
  current = '';
  #spent = new Set<string>();
  /** How often a token was sent that this server has issued, and one that it has not. */
  refreshes = 0;
  probes = 0;
  reuse = 0;
  /** What happens to the next refreshes: `before` and `after` spending, then an answer as usual. */
  readonly plan: Partial<Record<'before' | 'after', (signal: AbortSignal) => Promise<void>>>[] = [];
  /** Lifetime of an access token in seconds. */
  lifetime = 3600;

  grant(): TokenGrant & { refreshToken: string } {
    this.#serial += 1;
    this.current = `refresh-${this.#serial}-${randomBytes(8).toString('hex')}`;
    return {
      accessToken: `access-${this.#serial}`,
      refreshToken: this.current,
      expiresInSeconds: this.lifetime,
    };
  }

  refresh = async (refreshToken: string, signal: AbortSignal): Promise<TokenGrant> => {
    const { before, after } = this.plan.shift() ?? {};
    if (refreshToken.startsWith('refresh-')) this.refreshes += 1;
    else this.probes += 1;
    await before?.(signal);
    if (this.#spent.has(refreshToken)) this.reuse += 1;
    if (refreshToken !== this.current) throw refusal();
    this.#spent.add(refreshToken);
    const grant = this.grant();
    await after?.(signal);
    return grant;
  };
}

export interface OpenWindow {
  readonly tokenManager: TokenManager;
  readonly states: SessionState['kind'][];
  readonly logged: string[];
}

/** A folder, a clock and a server for one test, and as many windows as it opens. All of it ends with the test. */
export class Setting {
  readonly server = new FakeServer();
  state = '';
  /** Added to the real time, in milliseconds. */
  later = 0;
  #windows: OpenWindow[] = [];

  static forEach(): Setting {
    const setting = new Setting();
    beforeEach(async () => {
      const fresh = new Setting();
      Object.assign(setting, { server: fresh.server, later: 0 });
      setting.state = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-state-'));
    });
    afterEach(async () => {
      await Promise.all(setting.#windows.map(({ tokenManager }) => tokenManager.dispose()));
      setting.#windows = [];
      // A refresh in the background may be writing.
      await fs.rm(setting.state, { recursive: true, force: true, maxRetries: 10 });
    });
    return setting;
  }

  get folder(): string {
    return path.join(this.state, connectionFolderName(connection.identityUrl, connection.clientId));
  }

  get sealed(): string {
    return path.join(this.folder, 'session.sealed');
  }

  now = (): number => Date.now() + this.later;

  /** A window that has loaded. */
  async open(store: SessionStore, deps: Partial<TokenManagerDeps> = {}): Promise<OpenWindow> {
    const logged: string[] = [];
    const write = (message: string) => logged.push(message);
    const log: Log = { trace: write, debug: write, info: write, warn: write, error: write };
    const tokenManager = this.tokenManager(store, { log, ...deps });
    const states: SessionState['kind'][] = [];
    tokenManager.onDidChange((state) => states.push(state.kind));
    const window = { tokenManager, states, logged };
    this.#windows.push(window);
    await tokenManager.load();
    return window;
  }

  /** One that has not begun, and is the test's to dispose of. */
  tokenManager(store: SessionStore, deps: Partial<TokenManagerDeps> = {}): TokenManager {
    return new TokenManager({
      connection,
      store,
      prepareRefresh: async () => (token, signal) => this.server.refresh(token, signal),
      addSecret: () => {},
      log: { trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      now: this.now,
      state: this.state,
      timeouts: PATIENT,
      ...deps,
    });
  }

  /** The result of a sign-in, as the host hands it over. */
  signedIn(id = 'ada'): Session {
    return firstSession(connection, this.server.grant(), { id, label: id }, this.now());
  }

  /** The access token of everybody is not fresh any more. */
  expire(): void {
    this.later += this.server.lifetime * 1000;
  }

  async header(): Promise<{ generation: number; key: string; signedOut?: boolean }> {
    const bytes = await fs.readFile(this.sealed);
    return JSON.parse(bytes.subarray(0, bytes.indexOf('\n')).toString());
  }
}
