import type { Connection } from '../../base/connection.ts';
import type { Log } from '../../base/log.ts';
import type { Session } from '../session.ts';
import type { BackOff } from './backOff.ts';
import { PROTOCOL, type Protocol } from './protocol.ts';
import type { CurrentSession, SharedSessionState } from './reconcile.ts';
import type { Refresh } from './sendRefreshToken.ts';
import { SessionRefresher } from './sessionRefresher.ts';
import type { SessionStore } from './sessionSecretStore.ts';
import { SharedState } from './sharedState.ts';
import { storeSignIn, storeSignOut } from './signInOut.ts';
import { stateRoot, thisMachine } from './statePaths.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';
import type { WindowSession } from './windowSession.ts';

export interface TokenManagerDeps {
  readonly connection: Connection;
  readonly store: SessionStore;
  /**
   * Gets what a refresh needs from the editor, such as the client's secret. It may take any time: it is called before this
   * window's turn, so that an editor that never answers holds up no other window.
   */
  readonly prepareRefresh: () => Promise<Refresh>;
  /** Adds a value to those that the log hides. */
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
  /** The folder of this user's shared state; that of `stateRoot` unless given. */
  readonly state?: string;
  /**
   * Separates the secret stores of one user's editors, which do not see each other's secrets: for example the editor's
   * URI scheme (`vscode`, `vscode-insiders`).
   */
  readonly storeName?: string;
  readonly protocol?: Protocol;
  readonly random?: () => number;
  readonly timeouts?: Timeouts;
}

export interface SharedSessionServiceDeps extends TokenManagerDeps {
  readonly window: WindowSession;
  readonly backOff: BackOff;
  /** As {@link SessionRefresher} takes them. */
  readonly enqueue: <T>(work: () => Promise<T>) => Promise<T>;
  readonly applyState: (state: SharedSessionState) => void;
  /** As {@link SharedState} takes them. */
  readonly onGeneration: (generation: number) => Promise<void>;
  readonly onFile: () => void;
  readonly onStore: () => void;
}

/** What a window needs to read, refresh, begin or end the shared session. Loaded on first use. */
export class SharedSessionService {
  readonly #deps: SharedSessionServiceDeps;
  readonly #sharedState: SharedState;
  readonly #refresher: SessionRefresher;
  readonly #timeouts: Timeouts;
  #closing: Promise<void> | undefined;

  constructor(deps: SharedSessionServiceDeps) {
    this.#deps = deps;
    this.#timeouts = deps.timeouts ?? DEFAULT_TIMEOUTS;
    this.#sharedState = new SharedState({
      ...deps,
      state: deps.state ?? stateRoot(thisMachine()),
      protocol: deps.protocol ?? PROTOCOL,
      timeouts: this.#timeouts,
      onGiveWay: () => this.#refresher.giveWayToAnother(),
    });
    this.#refresher = new SessionRefresher({ ...deps, sharedState: this.#sharedState, timeouts: this.#timeouts });
  }

  /**
   * Makes it ready to read, write and be notified. @throws RolecallError `storage` when the folder cannot be used, or
   * is not ours alone.
   */
  async open(): Promise<SharedState> {
    await this.#sharedState.open();
    return this.#sharedState;
  }

  /** Reads the file and, where that is not enough, the store. */
  read(): Promise<SharedSessionState> {
    return this.#sharedState.shared.read();
  }

  /** See {@link storeSignIn}. */
  async signIn(current: CurrentSession): Promise<SharedSessionState> {
    return storeSignIn(await this.open(), current, this.#deps.window.generation, this.#timeouts);
  }

  /** See {@link storeSignOut}. */
  async signOut() {
    return storeSignOut(await this.open(), this.#deps.window.generation, this.#deps.log, this.#timeouts);
  }

  /** See {@link SessionRefresher.sessionNewerThan}. */
  sessionNewerThan(generation: number): Promise<Session> {
    return this.#refresher.sessionNewerThan(generation);
  }

  /** See {@link SessionRefresher.supersede}. */
  supersede(): void {
    this.#refresher.supersede();
  }

  /** Once, for all who ask. See {@link SessionRefresher.close} for how long it takes. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#sharedState.close(), this.#refresher.close()]).then(() => {});
    return this.#closing;
  }
}
