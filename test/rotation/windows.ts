import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import type { FromWindow, ToWindow, WindowOptions } from './messages.ts';

export interface StormWindow {
  readonly slot: number;
  readonly process: ChildProcess;
  readonly pid: number;
  stopped: boolean;
}

/** How long a stopped window stays stopped: some milliseconds, or until something happens. */
export type StopEnd = number | Promise<unknown>;

/** One file of plain JavaScript, as the extension is shipped: a window that is opened again is there in no time. */
export async function bundleWindow(
  folder: string,
  entry = path.join(import.meta.dirname, 'stormWindow.ts'),
): Promise<string> {
  const outfile = path.join(folder, `${path.basename(entry, '.ts')}.mjs`);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    // Some packages are CommonJS and require what Node has.
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` },
    platform: 'node',
    target: 'node22',
    logLevel: 'error',
  });
  return outfile;
}

/** The processes of a storm. A killed one is replaced at once, as a user opens the window again. */
export class Windows {
  readonly #program: string;
  readonly #temporary: string;
  readonly #options: (slot: number) => WindowOptions;
  readonly #onMessage: (window: StormWindow, message: FromWindow) => void;
  readonly #open = new Map<number, StormWindow>();
  readonly #killed = new Set<number>();
  #closing = false;
  /** Ends that nobody ordered. */
  readonly crashes: string[] = [];
  kills = 0;
  reloads = 0;

  constructor(
    program: string,
    options: (slot: number) => WindowOptions,
    onMessage: (window: StormWindow, message: FromWindow) => void,
  ) {
    this.#program = program;
    this.#temporary = path.dirname(program);
    this.#options = options;
    this.#onMessage = onMessage;
  }

  get all(): readonly StormWindow[] {
    return [...this.#open.values()];
  }

  wasKilled(pid: number): boolean {
    return this.#killed.has(pid);
  }

  open(slot: number): void {
    let child: ChildProcess;
    try {
      child = fork(this.#program, [JSON.stringify(this.#options(slot))], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: [],
        env: {
          ...process.env,
          // Killed windows leave sockets behind, which go with the folder of the storm.
          TMPDIR: this.#temporary,
          // Most of what a window costs is compiling the same program again.
          NODE_COMPILE_CACHE: path.join(this.#temporary, 'compiled'),
        },
      });
    } catch (error) {
      this.crashes.push(`window ${slot} could not be opened: ${(error as Error).message}`);
      return;
    }
    const window: StormWindow = { slot, process: child, pid: child.pid ?? 0, stopped: false };
    this.#open.set(slot, window);
    child.on('message', (message: FromWindow) => this.#onMessage(window, message));
    child.on('error', () => {}); // A message to a window that has just gone.
    child.on('exit', (code, signal) => {
      if (this.#closing) return;
      if (!this.#killed.has(window.pid)) this.crashes.push(`${window.pid} ended with ${code ?? signal}`);
      if (this.#open.get(slot) === window) this.open(slot);
    });
  }

  tell(window: StormWindow, message: ToWindow): void {
    if (window.process.connected) window.process.send(message, () => {});
  }

  /** kill -9. */
  kill(window: StormWindow): void {
    this.#killed.add(window.pid);
    this.kills += 1;
    window.process.kill('SIGKILL');
  }

  /** The user reloads the window: the editor ends its process and starts another. */
  reload(window: StormWindow): void {
    if (this.#open.get(window.slot) !== window) return;
    this.#killed.add(window.pid);
    this.reloads += 1;
    window.process.kill('SIGKILL');
  }

  /** SIGSTOP. */
  stop(window: StormWindow, end: StopEnd): void {
    if (window.stopped) return;
    window.stopped = true;
    window.process.kill('SIGSTOP');
    const over = typeof end === 'number' ? sleep(end) : end;
    void over.finally(() => {
      window.process.kill('SIGCONT');
      window.stopped = false;
    });
  }

  /** Every window is closed at once, as when the user quits the editor or the machine goes down. */
  async closeAll(): Promise<void> {
    await Promise.all(
      this.all.map(async (window) => {
        this.#open.delete(window.slot);
        const { process: child } = window;
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        this.#killed.add(window.pid);
        child.kill('SIGKILL');
        await exited;
      }),
    );
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.closeAll();
  }
}
