import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Log } from '../core/base/log.ts';
import { Redactor, redactingLog } from '../core/base/redact.ts';

/**
 * Everything that could move a cursor, change the writing direction or run a command of a terminal; line ends and tabs
 * stay.
 */
const UNPRINTABLE = /(?!\u200d|[\t\n]|\r\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Text of a server or a model, without control characters: those become visible marks. */
function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** JSON whose strings hold no control character either. Any reader gets the same value. */
export function printableJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, 2).replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character.split('').map(escaped).join(''),
  );
}

export interface TerminalOptions {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Standard output for results, standard error for everything about them. */
export class Terminal {
  readonly #options: TerminalOptions;
  readonly #redactor = new Redactor();
  readonly #closed = new AbortController();
  #usesColor = true;
  #isVerbose = false;
  readonly log: Log;

  constructor(options: TerminalOptions) {
    this.#options = options;
    for (const stream of [options.stdout, options.stderr]) {
      stream.on('error', (error) => this.#closed.abort(error));
    }
    const write = (message: string) => {
      if (this.#isVerbose) this.note(message);
    };
    this.log = redactingLog({ trace: write, debug: write, info: write, warn: write, error: write }, this.#redactor);
  }

  /** Aborted when nothing more can be written, with the reason: `EPIPE` where the reader has enough, as `head` has. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  configure({ color, verbose }: { readonly color?: boolean; readonly verbose?: boolean }): void {
    this.#usesColor = color !== false;
    this.#isVerbose = verbose === true;
  }

  /** Hides this value in all output, whatever a message quotes. */
  addSecret(secret: string): void {
    this.#redactor.addSecret(secret);
  }

  /** Waits while the reader is slower. */
  async write(text: string): Promise<void> {
    const { stdout } = this.#options;
    if (this.closed.aborted || stdout.write(printable(text))) return;
    await once(stdout, 'drain', { signal: this.closed }).catch(() => {}); // Closed: `closed` says so.
  }

  async writeLine(text: string): Promise<void> {
    await this.write(`${text}\n`);
  }

  async writeJson(value: unknown): Promise<void> {
    await this.write(`${printableJson(value)}\n`);
  }

  /** A line on standard error. */
  readonly note = (text: string): void => {
    this.#options.stderr.write(`${this.#plain(text)}\n`);
  };

  error(text: string): void {
    const { stderr } = this.#options;
    // Node knows NO_COLOR and its like, and whether the stream is a terminal.
    const label = this.#usesColor ? styleText('red', 'error:', { stream: stderr }) : 'error:';
    stderr.write(`${label} ${this.#plain(text)}\n`);
  }

  #plain(text: string): string {
    return printable(this.#redactor.redact(text));
  }
}
