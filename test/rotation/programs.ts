import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { FromProgram } from './messages.ts';

/** Rotations between two kills, on average. */
const KILL_EVERY = 25;
/** What may happen to a program: its window was killed or stopped, or the session is over. */
const EXPECTED = ['offline', 'timeout', 'signedOut', 'sessionEnded', 'storage', 'rateLimited', 'server'];

/** The programs beside the windows of a storm. A killed one is replaced at once. */
export class Programs {
  readonly #file: string;
  readonly #args: readonly string[];
  readonly #density: number;
  readonly #running = new Set<ChildProcess>();
  readonly #troubles: string[];
  #closing = false;
  #lastKill = 0;
  answered = 0;
  /** Why others got no answer, and how many. */
  readonly failures = new Map<string, number>();
  kills = 0;

  /** @param density See `StormOptions`. */
  constructor(file: string, args: readonly string[], density: number, troubles: string[]) {
    this.#file = file;
    this.#args = args;
    this.#density = density;
    this.#troubles = troubles;
  }

  open(): void {
    const temporary = path.dirname(this.#file);
    const child = fork(this.#file, [...this.#args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
      env: { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: path.join(temporary, 'compiled') },
    });
    this.#running.add(child);
    child.on('message', (message: FromProgram) => this.#hear(message));
    child.on('exit', (code, signal) => {
      this.#running.delete(child);
      if (this.#closing) return;
      if (signal !== 'SIGKILL') this.#troubles.push(`a program ended with ${code ?? signal}`);
      this.open();
    });
  }

  /** @param done Rotations so far. */
  disturb(done: number): void {
    if ((done - this.#lastKill) * this.#density < KILL_EVERY * (0.5 + Math.random())) return;
    this.#lastKill = done;
    this.kills += 1;
    [...this.#running].at(Math.floor(Math.random() * this.#running.size))?.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(
      [...this.#running].map(async (child) => {
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await exited;
      }),
    );
  }

  #hear(message: FromProgram): void {
    switch (message.type) {
      case 'answered':
        this.answered += 1;
        break;
      case 'gotToken':
        this.#troubles.push('a program was given a token');
        break;
      case 'notAnswered':
        this.failures.set(message.kind, (this.failures.get(message.kind) ?? 0) + 1);
        if (!EXPECTED.includes(message.kind)) this.#troubles.push(`a program failed: ${message.message}`);
    }
  }
}
