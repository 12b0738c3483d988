// What happens to the windows of a storm: kill -9 and SIGSTOP, at random, most of it to the holder of the mutex.
import { setTimeout as sleep } from 'node:timers/promises';
import { newestHolder } from './holder.ts';
import type { StormWindow, Windows } from './windows.ts';

/** Rotations between two kills, and between two stops, on average. */
const KILL_EVERY = 16;
const STOP_EVERY = 50;
/** How many of the stops, a part of one, are of a holder: each takes seconds, in which nobody rotates. */
const HOLDER_PART = 0.4;
/** A stopped holder is told of within two seconds, and this is a very busy machine. */
const SILENT_LIMIT_MS = 30_000;
const TAKEOVER_LIMIT_MS = 30_000;

export class FaultInjector {
  readonly #windows: Windows;
  readonly #state: string;
  readonly #density: number;
  readonly #troubles: string[];
  readonly takeoversMs: number[] = [];
  /** Windows stopped for a moment, and holders stopped between their rotation and its answer. */
  stops = 0;
  holderStops = 0;
  #lastKill = 0;
  #lastStop = 0;
  #stopsNextSender = false;
  #frozen: { readonly window: StormWindow; readonly told: () => void } | undefined;

  /**
   * @param state The folder of the shared state.
   * @param density See `StormOptions`.
   */
  constructor(windows: Windows, state: string, density: number, troubles: string[]) {
    this.#windows = windows;
    this.#state = state;
    this.#density = density;
    this.#troubles = troubles;
  }

  /** @param done Rotations so far. */
  async disturb(done: number): Promise<void> {
    const isDue = (last: number, every: number) => (done - last) * this.#density >= every * (0.5 + Math.random());
    if (isDue(this.#lastKill, KILL_EVERY)) {
      this.#lastKill = done;
      await this.#kill();
    } else if (isDue(this.#lastStop, STOP_EVERY)) {
      this.#lastStop = done;
      this.#stop();
    }
  }

  /** A refresh token of `pid` has arrived at the server. */
  arrived(pid: number): void {
    const holder = this.#frozen?.window.pid;
    if (holder === undefined || holder === pid || this.#windows.wasKilled(holder)) return;
    // What a killed one had sent may arrive late.
    if (!this.#windows.wasKilled(pid)) this.#troubles.push(`${pid} renewed behind the back of the stopped ${holder}`);
  }

  /** The server has rotated for `pid`, and its answer is on the way. */
  rotated(pid: number): void {
    const window = this.#windows.all.find((candidate) => candidate.pid === pid);
    if (!this.#stopsNextSender || !window || window.stopped) return;
    this.#stopsNextSender = false;
    this.holderStops += 1;
    this.#windows.stop(window, this.#silence(window));
  }

  /** A window says that the holder does not answer. */
  holderSilent(): void {
    this.#frozen?.told();
  }

  async #kill(): Promise<void> {
    const holder = await newestHolder(this.#state);
    const held = this.#random(({ pid, stopped }) => pid === holder?.pid && !stopped);
    if (held && holder && Math.random() < 0.6) {
      this.#windows.kill(held);
      await this.#measure(holder.number);
      return;
    }
    const window = this.#random(() => true);
    if (window) this.#windows.kill(window);
  }

  /** Only a holder that was killed while it held tells something. */
  async #measure(number: number): Promise<void> {
    const began = performance.now();
    if (!(await newestHolder(this.#state))?.isListed) return;
    while (performance.now() - began < TAKEOVER_LIMIT_MS) {
      const now = await newestHolder(this.#state);
      if (now && now.number > number) {
        this.takeoversMs.push(performance.now() - began);
        return;
      }
      await sleep(1);
    }
    this.#troubles.push(`nobody took over from holder ${number} within ${TAKEOVER_LIMIT_MS / 1000} s`);
  }

  /**
   * Somebody for a moment; or the next holder, until the others have noticed and a little longer. A holder comes first,
   * because a short storm has few stops.
   */
  #stop(): void {
    if (this.holderStops === 0 || Math.random() < HOLDER_PART) {
      this.#stopsNextSender = true;
      return;
    }
    const window = this.#random(({ stopped }) => !stopped);
    if (!window) return;
    this.stops += 1;
    this.#windows.stop(window, 200 + Math.random() * 600);
  }

  /** Over when a window has said that the holder is silent, or the holder was killed as well. */
  async #silence(window: StormWindow): Promise<void> {
    const began = performance.now();
    let isTold = false;
    this.#frozen = {
      window,
      told: () => {
        isTold = true;
      },
    };
    while (!isTold && !this.#windows.wasKilled(window.pid)) {
      if (performance.now() - began > SILENT_LIMIT_MS) {
        this.#troubles.push(`nobody told that the stopped holder ${window.pid} is silent`);
        break;
      }
      await sleep(20);
    }
    await sleep(Math.random() * 500);
    this.#frozen = undefined;
  }

  #random(which: (window: StormWindow) => boolean): StormWindow | undefined {
    return pickOne(this.#windows.all.filter(which));
  }
}

export function pickOne<T>(values: readonly T[]): T | undefined {
  return values[Math.floor(Math.random() * values.length)];
}
