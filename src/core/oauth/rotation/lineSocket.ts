import net from 'node:net';
import { systemErrorCode } from '../../base/errors.ts';

/** More than any message between windows holds; a peer that sends longer lines is cut off. */
const MAX_LINE = 8192;

/** A socket or pipe that carries one JSON text per line. */
export class LineSocket {
  readonly #socket: net.Socket;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #partial = '';
  #ended = false;
  #connected: boolean;
  /** Resolves when the connection is gone, with the system's error code when it never came about or was cut. */
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
    // Half a conversation is of no use to either side.
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

  /** False until the other end has accepted. */
  get connected(): boolean {
    return this.#connected;
  }

  /** @returns the line as sent, without its end. */
  send(message: Readonly<Record<string, unknown>>): string {
    const line = JSON.stringify(message);
    if (!this.#ended) this.#socket.write(`${line}\n`);
    return line;
  }

  /** The next line, or `undefined` when the connection is gone. One reader at a time. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    if (this.#partial.length > MAX_LINE || lines.some(({ length }) => length > MAX_LINE)) {
      this.close();
      return;
    }
    for (const line of lines) this.#deliver(line);
  }

  #deliver(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else if (line !== undefined) this.#lines.push(line);
  }
}
