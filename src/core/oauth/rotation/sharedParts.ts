import type { Session } from '../session.ts';
import type { BackOff } from './backOff.ts';
import type { Found, Held } from './choose.ts';
import { LIMITS, type Limits } from './limits.ts';
import { PROTOCOL } from './protocol.ts';
import { Renewals } from './renewals.ts';
import type { SharedTokenKeeperDeps } from './sharedTokenKeeper.ts';
import { Sharing } from './sharing.ts';
import { signIn, signOut } from './signInOut.ts';
import { stateRoot, thisMachine } from './statePaths.ts';
import type { WindowSession } from './windowSession.ts';

export interface SharedPartsDeps extends SharedTokenKeeperDeps {
  readonly window: WindowSession;
  readonly backOff: BackOff;
  /** As {@link Renewals} takes them. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly apply: (found: Found) => void;
  /** As {@link Sharing} takes them. */
  readonly onGeneration: (generation: number) => Promise<void>;
  readonly onFile: () => void;
  readonly onStore: () => void;
}

/** Everything that a window needs as soon as it reads, renews, begins or ends the shared session. */
export class SharedParts {
  readonly #deps: SharedPartsDeps;
  readonly #sharing: Sharing;
  readonly #renewals: Renewals;
  readonly #limits: Limits;
  #closing: Promise<void> | undefined;

  constructor(deps: SharedPartsDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? LIMITS;
    this.#sharing = new Sharing({
      ...deps,
      state: deps.state ?? stateRoot(thisMachine()),
      protocol: deps.protocol ?? PROTOCOL,
      limits: this.#limits,
      onGiveWay: () => this.#renewals.giveWayToAnother(),
    });
    this.#renewals = new Renewals({ ...deps, sharing: this.#sharing, limits: this.#limits });
  }

  /** Ready to read, write and be heard. @throws RolecallError `storage` when the folder cannot be used, or is not ours alone. */
  async open(): Promise<Sharing> {
    await this.#sharing.open();
    return this.#sharing;
  }

  /** File and, where that is not enough, the store. */
  read(): Promise<Found> {
    return this.#sharing.shared.read();
  }

  /** See {@link signIn}. */
  async signIn(held: Held): Promise<Found> {
    return signIn(await this.open(), held, this.#deps.window.generation, this.#limits);
  }

  /** See {@link signOut}. */
  async signOut() {
    return signOut(await this.open(), this.#deps.window.generation, this.#deps.log, this.#limits);
  }

  /** See {@link Renewals.beyond}. */
  renewBeyond(generation: number): Promise<Session> {
    return this.#renewals.beyond(generation);
  }

  /** See {@link Renewals.giveWay}. */
  giveWay(): void {
    this.#renewals.giveWay();
  }

  /** Once, for all who ask. See {@link Renewals.close} for how long it takes. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#sharing.close(), this.#renewals.close()]).then(() => {});
    return this.#closing;
  }
}
