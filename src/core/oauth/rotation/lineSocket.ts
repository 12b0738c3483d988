import net from 'node:net';
import { systemErrorCode } from '../../base/errors.ts';

/** In UTF-16 units: longer than any message between windows. A peer that sends longer lines is disconnected. */
const MAX_LINE = 8192;
/** Lines that nobody has asked for yet, beyond which the other side has to wait. */
const MAX_WAITING = 64;

/** A socket or pipe that carries one JSON text per line. */
export class LineSocket {
  readonly #socket: net.Socket;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #partial = '';
  #ended = false;
  #connected: boolean;
  /** Resolves when the connection has closed, with the system's error code if it failed. */
  readonly closed: Promise<string | undefined>;

  constructor(socket: net.Socket) {
    this.#socket = socket.setEncoding('utf8');
    this.#connected = !socket.connecting;
    socket.once('connect', () => {
      this.#connected = true;
    });
    let code: string | undefined;
    socket.on('error', (error) => {
      code = systemErrorCode(error) ?? 'unknown';
    });
    socket.on('data', (text: string) => this.#receive(text));
    // A half-open connection is of no use.
    socket.on('end', () => socket.destroy());
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        this.#deliver(undefined);
        resolve(code);
      });
    });
  }

  static connect(address: string): LineSocket {
    return new LineSocket(net.connect({ path: address }));
  }

  /** Whether the other end has accepted the connection. */
  get connected(): boolean {
    return this.#connected;
  }

  /** @returns the line as sent, without the line break. */
  send(message: Readonly<Record<string, unknown>>): string {
    const line = JSON.stringify(message);
    if (!this.#ended) this.#socket.write(`${line}\n`);
    return line;
  }

  /** The next line, or `undefined` when the connection has closed. Only one call may wait at a time. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (this.#lines.length < MAX_WAITING && this.#socket.isPaused()) this.#socket.resume();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Resolves when what was sent has left this process, or the connection has closed: whoever sends much waits for it. */
  async drained(): Promise<void> {
    if (this.#ended || !this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#socket.off('drain', done).off('close', done);
        resolve();
      };
      this.#socket.on('drain', done).on('close', done);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Closes once everything that was sent has left. */
  end(): void {
    this.#socket.end();
  }

  #receive(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    if (this.#partial.length > MAX_LINE || lines.some(({ length }) => length > MAX_LINE)) {
      this.close();
      return;
    }
    for (const line of lines) this.#deliver(line);
    if (this.#lines.length >= MAX_WAITING) this.#socket.pause();
  }

  #deliver(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else if (line !== undefined) this.#lines.push(line);
  }
}
