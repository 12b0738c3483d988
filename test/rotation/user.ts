import { pickOne } from './faultInjector.ts';
import type { StormWindow, Windows } from './windows.ts';

/** Does what the windows ask for: signs in, in one window at a time, and reloads. */
export class User {
  readonly #windows: Windows;
  /** How often the window in this place has asked for a reload since the last sign-in. */
  readonly #reloads = new Map<number, number>();
  #signingIn: StormWindow | undefined;
  /** Somebody has to sign in, at first and after the end of a session. */
  wantsSignIn = true;
  signIns = 0;

  constructor(windows: Windows) {
    this.#windows = windows;
  }

  /** Signs in where that is needed. A second sign-in at the same time would end the first at the server. */
  look(): void {
    if (!this.wantsSignIn || this.#isSigningIn) return;
    this.#signIn(pickOne(this.#windows.all.filter(({ stopped }) => !stopped)));
  }

  signedIn(): void {
    this.wantsSignIn = false;
    this.#signingIn = undefined;
    this.signIns += 1;
    this.#reloads.clear(); // There may be a new key, for which one reload is enough.
  }

  notSignedIn(window: StormWindow): void {
    if (this.#signingIn?.pid === window.pid) this.#signingIn = undefined;
  }

  /** "Reload this window. If this message stays, sign in here." */
  askedToReload(window: StormWindow): void {
    const times = (this.#reloads.get(window.slot) ?? 0) + 1;
    this.#reloads.set(window.slot, times);
    if (times % 4 !== 0) this.#windows.reload(window);
    else if (!this.#isSigningIn) this.#signIn(window);
  }

  /** Not when the window has been closed meanwhile. */
  get #isSigningIn(): boolean {
    return this.#signingIn !== undefined && this.#windows.all.includes(this.#signingIn);
  }

  #signIn(window: StormWindow | undefined): void {
    this.#signingIn = window;
    if (window) this.#windows.tell(window, { type: 'signIn' });
  }
}
