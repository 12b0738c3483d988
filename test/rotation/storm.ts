// N windows, one session, no mercy: see the options. Everything random is left to chance; the numbers must hold anyway.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultInjector } from './faultInjector.ts';
import type { FromWindow } from './messages.ts';
import { Programs } from './programs.ts';
import type { StormOptions, StormResult } from './result.ts';
import { CountingServer } from './server.ts';
import { User } from './user.ts';
import { bundleWindow, type StormWindow, Windows } from './windows.ts';

/** Seconds. The windows never rest. */
const LIFETIME = 0.03;
/** Longest wait of a call on a stopped holder: the bound of two seconds, on a very busy machine. */
const SILENT_LIMIT_MS = 20_000;
const SETTLE_MS = 60_000;
/** Seconds, when the storm is over: the windows rest as soon as each has the newest token. */
const CALM_LIFETIME = 600;
/** Programs beside the windows that use their sign-in. */
const PROGRAMS = 2;

/** The files of the programs that storms start. */
export interface StormPrograms {
  readonly window: string;
  /** Beside the windows. */
  readonly program: string;
}

/** Makes them in a folder, where they find each other's compiled code, too. */
export async function bundleStorm(folder: string): Promise<StormPrograms> {
  const program = bundleWindow(folder, path.join(import.meta.dirname, 'stormProgram.ts'));
  return { window: await bundleWindow(folder), program: await program };
}

export async function storm(options: StormOptions, programs: StormPrograms): Promise<StormResult> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-storm-'));
  const run = new Storm(options, folder, programs);
  try {
    return await run.run();
  } finally {
    await run.close();
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Storm {
  readonly #options: StormOptions;
  readonly #server: CountingServer;
  readonly #windows: Windows;
  readonly #disturber: FaultInjector;
  readonly #user: User;
  readonly #lost = { explained: 0, unexplained: 0 };
  readonly #judged = new Set<number>();
  readonly #troubles: string[] = [];
  readonly #settled = new Map<number, number>();
  /** What the windows were told, and how often. */
  readonly #failures = new Map<string, number>();
  #longestSilentMs = 0;
  #serverUrl = '';

  readonly #program: string;
  readonly #meeting: string;
  #programs: Programs | undefined;

  constructor(options: StormOptions, folder: string, { window, program }: StormPrograms) {
    this.#program = program;
    this.#meeting = path.join(folder, 'programs');
    const state = path.join(folder, 'state');
    this.#options = options;
    this.#server = new CountingServer({
      lifetime: LIFETIME,
      faults: options.faults,
      density: options.density,
      wasKilled: (pid) => this.#windows.wasKilled(pid),
      onArrived: (pid) => this.#disturber.arrived(pid),
      onRotated: (pid) => this.#disturber.rotated(pid),
    });
    this.#windows = new Windows(
      window,
      (slot) => ({
        serverUrl: this.#serverUrl,
        state,
        programs: this.#meeting,
        storeFolder: path.join(folder, 'store'),
        storeMode: options.store,
        pace: options.pace,
        later: slot % 2 === 1,
        expectsSession: this.#user.signIns > 0,
      }),
      (window, message) => this.#hear(window, message),
    );
    this.#disturber = new FaultInjector(this.#windows, state, options.density, this.#troubles);
    this.#user = new User(this.#windows);
  }

  async run(): Promise<StormResult> {
    const { rotations, processes, limitMs, log } = this.#options;
    this.#serverUrl = await this.#server.listen();
    for (let slot = 0; slot < processes; slot += 1) this.#windows.open(slot);
    this.#programs = new Programs(
      this.#program,
      [this.#meeting, this.#serverUrl],
      this.#options.density,
      this.#troubles,
    );
    for (let count = 0; count < PROGRAMS; count += 1) this.#programs.open();
    const began = performance.now();
    for (let told = 0; this.#server.rotations < rotations; ) {
      const done = this.#server.rotations;
      const seconds = Math.round((performance.now() - began) / 1000);
      if (seconds * 1000 > limitMs) {
        this.#troubles.push(`only ${done} of ${rotations} rotations within ${limitMs / 1000} s`);
        break;
      }
      this.#user.look();
      await this.#disturber.disturb(done);
      this.#programs.disturb(done);
      if (done - told >= 100) {
        told = done;
        log?.(`${done} rotations in ${seconds} s`);
      }
      await sleep(10);
    }
    const seconds = (performance.now() - began) / 1000;
    const counted = this.#server.rotations;
    this.#server.lifetime = CALM_LIFETIME;
    await this.#settle('after the storm');
    await this.#openAgain();
    for (const [kind, times] of this.#programs.failures) log?.(`${times} questions of programs: ${kind}`);
    for (const [message, times] of this.#failures) log?.(`${times} times: ${message}`);
    return this.#result(counted, seconds);
  }

  async close(): Promise<void> {
    await this.#programs?.close();
    await this.#windows.close();
    await this.#server.close();
  }

  #result(rotations: number, seconds: number): StormResult {
    const superseded = this.#server.judgeSuperseded();
    const { reuse, replays, late, faults, unauthorized, stories } = this.#server;
    const { kills, reloads, crashes } = this.#windows;
    const { takeoversMs, stops, holderStops } = this.#disturber;
    return {
      rotations,
      reuse,
      lostExplained: this.#lost.explained,
      lostUnexplained: this.#lost.unexplained,
      takeoversMs,
      troubles: [...this.#troubles, ...crashes, ...stories],
      facts: {
        takeovers: takeoversMs.length,
        seconds,
        kills,
        stops,
        holderStops,
        longestSilentMs: this.#longestSilentMs,
        signIns: this.#user.signIns,
        reloads,
        replays,
        late,
        superseded,
        unauthorized,
        programAnswers: this.#programs?.answered ?? 0,
        programKills: this.#programs?.kills ?? 0,
        faults: Object.fromEntries(faults),
      },
    };
  }

  #hear(window: StormWindow, message: FromWindow): void {
    switch (message.type) {
      case 'ended':
        this.#judge(message.session, `${message.reason}: ${message.sentence}`);
        break;
      case 'signedOut':
        this.#lost.unexplained += 1;
        this.#troubles.push(`${window.pid} takes itself for signed out`);
        break;
      case 'reload':
        this.#user.askedToReload(window);
        break;
      case 'signedIn':
        this.#server.signedIn(message.session, message.generation);
        this.#user.signedIn();
        break;
      case 'notSignedIn':
        this.#user.notSignedIn(window);
        break;
      case 'settled':
        this.#settled.set(window.pid, message.generation);
        break;
      case 'holderSilent':
        this.#disturber.holderSilent();
        this.#longestSilentMs = Math.max(this.#longestSilentMs, message.waitedMs);
        if (message.waitedMs > SILENT_LIMIT_MS)
          this.#troubles.push(`told of a silent holder after ${message.waitedMs} ms`);
        break;
      case 'failed':
        this.#failures.set(message.message, (this.#failures.get(message.message) ?? 0) + 1);
        if (message.kind === 'unexpected') this.#troubles.push(message.message);
    }
  }

  /** A window says that the session is over: the user signs in again in one of them. */
  #judge(session: number, why: string): void {
    if (this.#judged.has(session)) return;
    this.#judged.add(session);
    this.#user.wantsSignIn = true;
    if (this.#server.lost.has(session)) this.#lost.explained += 1;
    else if (session === this.#server.session) {
      this.#lost.unexplained += 1;
      this.#troubles.push(`session ${session} ended, ${why}`);
    }
  }

  /** Every window comes to a token that the server accepts. */
  async #settle(when: string): Promise<void> {
    const until = performance.now() + SETTLE_MS;
    const told = new Set<number>();
    for (;;) {
      this.#user.look();
      const waiting = this.#windows.all.filter(({ pid }) => !this.#settled.has(pid));
      if (waiting.length === 0) return;
      for (const window of waiting) {
        if (!told.has(window.pid)) this.#windows.tell(window, { type: 'settle' });
        told.add(window.pid);
      }
      if (performance.now() > until) {
        this.#troubles.push(`${waiting.length} windows got no token ${when}`);
        return;
      }
      await sleep(50);
    }
  }

  /** All windows are closed; the next one goes on with the newest session. */
  async #openAgain(): Promise<void> {
    await this.#windows.closeAll();
    const newest = Math.max(...this.#settled.values());
    this.#server.revokeAccess(); // What is stored has to be good for another refresh.
    const before = { signIns: this.#user.signIns, lost: this.#lost.explained };
    this.#windows.open(0);
    await this.#settle('after all were closed');
    const generation = this.#settled.get(this.#windows.all[0]?.pid ?? 0) ?? 0;
    if (this.#user.signIns > before.signIns && this.#lost.explained === before.lost)
      this.#troubles.push('the window that was opened again had to sign in for no reason');
    if (generation < newest) this.#troubles.push(`opened again with generation ${generation}, below ${newest}`);
  }
}
