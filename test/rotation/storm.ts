// N windows, one session, no mercy: see the options. Everything random is left to chance; the numbers must hold anyway.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newestHolder } from './holder.ts';
import type { FromWindow } from './messages.ts';
import { CountingServer } from './server.ts';
import type { StoreMode } from './stores.ts';
import { bundleWindow, type StormWindow, Windows } from './windows.ts';

export interface StormOptions {
  readonly rotations: number;
  readonly processes: number;
  readonly store: StoreMode;
  /** The server delays, resets, drops the connection after rotating, answers 429, 500 and 502. */
  readonly faults: boolean;
  readonly limitMs: number;
  readonly log?: (line: string) => void;
}

export interface StormResult {
  readonly rotations: number;
  readonly reuse: number;
  /** Sessions that a kill, or a dropped answer, between the server's rotation and the store has ended. */
  readonly lostExplained: number;
  readonly lostUnexplained: number;
  /** From the kill of a holder to the next holder, in milliseconds. */
  readonly takeoversMs: readonly number[];
  /** What else went wrong. Empty in a good run. */
  readonly troubles: readonly string[];
  readonly facts: Readonly<Record<string, number>>;
}

const KILL_EVERY = 100;
const STOP_EVERY = 300;
/** Seconds. The windows never rest. */
const LIFETIME = 0.03;
/** Longest wait of a call on a stopped holder: the bound of two seconds and a slow machine. */
const SILENT_LIMIT_MS = 6000;

export async function storm(options: StormOptions): Promise<StormResult> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-storm-'));
  const run = new Storm(options, folder, await bundleWindow(folder));
  try {
    return await run.run();
  } finally {
    await run.close();
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Storm {
  readonly #options: StormOptions;
  readonly #state: string;
  readonly #server: CountingServer;
  readonly #windows: Windows;
  readonly #lost = { explained: 0, unexplained: 0 };
  readonly #judged = new Set<number>();
  readonly #troubles: string[] = [];
  readonly #takeoversMs: number[] = [];
  readonly #settled = new Map<number, number>();
  readonly #stuck = new Map<number, number>();
  readonly #facts = { stops: 0, signIns: 0, holderSilent: 0, longestSilentMs: 0 };
  /** What the windows were told, and how often. */
  readonly #failures = new Map<string, number>();
  #serverUrl = '';
  #wantsSignIn = true;
  #stopsNextSender = false;
  #signingIn: StormWindow | undefined;

  constructor(options: StormOptions, folder: string, program: string) {
    this.#options = options;
    this.#state = path.join(folder, 'state');
    this.#server = new CountingServer({
      lifetime: LIFETIME,
      faults: options.faults,
      wasKilled: (pid) => this.#windows.wasKilled(pid),
      onRotated: (pid) => this.#stopSender(pid),
    });
    this.#windows = new Windows(
      program,
      (slot) => ({
        serverUrl: this.#serverUrl,
        state: this.#state,
        storeFolder: path.join(folder, 'store'),
        storeMode: options.store,
        later: slot % 2 === 1,
      }),
      (window, message) => this.#hear(window, message),
    );
  }

  async run(): Promise<StormResult> {
    const { rotations, processes, limitMs, log } = this.#options;
    this.#serverUrl = await this.#server.listen();
    for (let slot = 0; slot < processes; slot += 1) this.#windows.open(slot);
    const began = performance.now();
    const last = { kill: 0, stop: 0, told: 0 };
    while (this.#server.rotations < rotations) {
      const done = this.#server.rotations;
      if (performance.now() - began > limitMs) {
        this.#troubles.push(`only ${done} of ${rotations} rotations within ${limitMs / 1000} s`);
        break;
      }
      if (this.#wantsSignIn) this.#signIn();
      if (done - last.kill >= KILL_EVERY * (0.5 + Math.random())) {
        last.kill = done;
        await this.#kill();
      } else if (done - last.stop >= STOP_EVERY * (0.5 + Math.random())) {
        last.stop = done;
        this.#stop();
      }
      if (done - last.told >= 100) {
        last.told = done;
        log?.(`${done} rotations in ${Math.round((performance.now() - began) / 1000)} s`);
      }
      await sleep(10);
    }
    for (const [message, times] of this.#failures) log?.(`${times} times: ${message}`);
    const { rotations: counted } = this.#server;
    const seconds = (performance.now() - began) / 1000;
    await this.#settle();
    const { reuse, replays, superseded, faults, unauthorized } = this.#server;
    const { kills, reloads, crashes } = this.#windows;
    return {
      rotations: counted,
      reuse,
      lostExplained: this.#lost.explained,
      lostUnexplained: this.#lost.unexplained,
      takeoversMs: this.#takeoversMs,
      troubles: [...this.#troubles, ...crashes, ...this.#server.stories],
      facts: {
        ...this.#facts,
        takeovers: this.#takeoversMs.length,
        seconds,
        kills,
        reloads,
        replays,
        superseded,
        faults,
        unauthorized,
      },
    };
  }

  async close(): Promise<void> {
    await this.#windows.close();
    await this.#server.close();
  }

  #hear(window: StormWindow, message: FromWindow): void {
    switch (message.type) {
      case 'ended':
        this.#judge(message.session, `${message.reason}: ${message.sentence}`);
        break;
      case 'reload':
        this.#reload(window);
        break;
      case 'signedIn':
        this.#wantsSignIn = false;
        this.#signingIn = undefined;
        this.#facts.signIns += 1;
        break;
      case 'notSignedIn':
        if (this.#signingIn?.pid === window.pid) this.#signingIn = undefined;
        break;
      case 'settled':
        this.#settled.set(window.pid, message.generation);
        break;
      case 'holderSilent':
        this.#facts.holderSilent += 1;
        this.#facts.longestSilentMs = Math.max(this.#facts.longestSilentMs, Math.round(message.waitedMs));
        if (message.waitedMs > SILENT_LIMIT_MS)
          this.#troubles.push(`told of a silent holder after ${message.waitedMs} ms`);
        break;
      case 'failed':
        this.#failures.set(message.message, (this.#failures.get(message.message) ?? 0) + 1);
        if (message.kind === 'unexpected') this.#troubles.push(message.message);
    }
  }

  /** A window says that the session is over; one of them signs in again. */
  #judge(session: number, why: string): void {
    if (this.#judged.has(session)) return;
    this.#judged.add(session);
    this.#wantsSignIn = true;
    if (this.#server.lost.has(session)) this.#lost.explained += 1;
    else if (session === this.#server.session) {
      this.#lost.unexplained += 1;
      this.#troubles.push(`session ${session} ended, ${why}`);
    }
  }

  /** "Reload this window; if this message stays, sign in here." */
  #reload(window: StormWindow): void {
    const times = (this.#stuck.get(window.slot) ?? 0) + 1;
    this.#stuck.set(window.slot, times);
    if (times % 4 !== 0) this.#windows.reload(window);
    else if (!this.#signingIn) {
      this.#signingIn = window;
      this.#windows.tell(window, { type: 'signIn' });
    }
  }

  /** One user signs in once at a time: a second sign-in would end the first at the server. */
  #signIn(): void {
    if (this.#signingIn && this.#windows.all.includes(this.#signingIn)) return;
    this.#signingIn = this.#random(({ stopped }) => !stopped);
    if (this.#signingIn) this.#windows.tell(this.#signingIn, { type: 'signIn' });
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
    while (performance.now() - began < 10_000) {
      const now = await newestHolder(this.#state);
      if (now && now.number > number) {
        this.#takeoversMs.push(performance.now() - began);
        return;
      }
      await sleep(1);
    }
    this.#troubles.push(`nobody took over from holder ${number} within 10 s`);
  }

  /** Somebody for a moment; or, for longer than the others wait, the next holder when its answer is on the way. */
  #stop(): void {
    if (Math.random() < 0.5) {
      this.#stopsNextSender = true;
      return;
    }
    const window = this.#random(() => true);
    if (!window) return;
    this.#facts.stops += 1;
    this.#windows.stop(window, 200 + Math.random() * 600);
  }

  #stopSender(pid: number): void {
    const window = this.#windows.all.find((candidate) => candidate.pid === pid);
    if (!this.#stopsNextSender || !window) return;
    this.#stopsNextSender = false;
    this.#facts.stops += 1;
    this.#windows.stop(window, 3000 + Math.random() * 1000);
  }

  /** After the storm every window comes to a token that the server accepts. */
  async #settle(): Promise<void> {
    const until = performance.now() + 30_000;
    for (;;) {
      if (this.#wantsSignIn) this.#signIn();
      const waiting = this.#windows.all.filter(({ pid }) => !this.#settled.has(pid));
      if (waiting.length === 0) return;
      for (const window of waiting) this.#windows.tell(window, { type: 'settle' });
      if (performance.now() > until) {
        this.#troubles.push(`${waiting.length} windows got no token after the storm`);
        return;
      }
      await sleep(500);
    }
  }

  #random(which: (window: StormWindow) => boolean): StormWindow | undefined {
    const windows = this.#windows.all.filter(which);
    return windows[Math.floor(Math.random() * windows.length)];
  }
}
