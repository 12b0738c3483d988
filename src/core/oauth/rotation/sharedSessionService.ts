import type { Session } from '../session.ts';
import type { BackOff } from './backOff.ts';
import { PROTOCOL } from './protocol.ts';
import type { CurrentSession, SharedSessionState } from './reconcile.ts';
import { SessionRefresher } from './sessionRefresher.ts';
import { SharedState } from './sharedState.ts';
import { signIn, signOut } from './signInOut.ts';
import { stateRoot, thisMachine } from './statePaths.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';
import type { TokenManagerDeps } from './tokenManager.ts';
import type { WindowSession } from './windowSession.ts';

export interface SharedSessionServiceDeps extends TokenManagerDeps {
  readonly window: WindowSession;
  readonly backOff: BackOff;
  /** As {@link SessionRefresher} takes them. */
  readonly enqueue: <T>(work: () => Promise<T>) => Promise<T>;
  readonly applyState: (found: SharedSessionState) => void;
  /** As {@link Sharing} takes them. */
  readonly onGeneration: (generation: number) => Promise<void>;
  readonly onFile: () => void;
  readonly onStore: () => void;
}

/** Everything that a window needs as soon as it reads, renews, begins or ends the shared session. */
export class SharedSessionService {
  readonly #deps: SharedSessionServiceDeps;
  readonly #sharedState: SharedState;
  readonly #refresher: SessionRefresher;
  readonly #limits: Timeouts;
  #closing: Promise<void> | undefined;

  constructor(deps: SharedSessionServiceDeps) {
    this.#deps = deps;
    this.#limits = deps.timeouts ?? DEFAULT_TIMEOUTS;
    this.#sharedState = new SharedState({
      ...deps,
      state: deps.state ?? stateRoot(thisMachine()),
      protocol: deps.protocol ?? PROTOCOL,
      timeouts: this.#limits,
      onGiveWay: () => this.#refresher.giveWayToAnother(),
    });
    this.#refresher = new SessionRefresher({ ...deps, sharedState: this.#sharedState, timeouts: this.#limits });
  }

  /** Ready to read, write and be heard. @throws RolecallError `storage` when the folder cannot be used, or is not ours alone. */
  async open(): Promise<SharedState> {
    await this.#sharedState.open();
    return this.#sharedState;
  }

  /** File and, where that is not enough, the store. */
  read(): Promise<SharedSessionState> {
    return this.#sharedState.shared.read();
  }

  /** See {@link signIn}. */
  async signIn(current: CurrentSession): Promise<SharedSessionState> {
    return signIn(await this.open(), current, this.#deps.window.generation, this.#limits);
  }

  /** See {@link signOut}. */
  async signOut() {
    return signOut(await this.open(), this.#deps.window.generation, this.#deps.log, this.#limits);
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
