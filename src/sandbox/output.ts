import type { ServerResponse } from 'node:http';

/** Answers that a fault ended in the middle; whoever counts streams tells them from those the client left. */
export const cutByFault = new WeakSet<ServerResponse>();

/** The undisturbed ways out of a response whose own `writeHead`, `write` and `end` a fault has replaced. */
export class Output {
  readonly #res: ServerResponse;
  readonly #write: (chunk: Buffer, sent: () => void) => void;
  readonly #end: () => void;
  readonly #flushHeaders: () => void;
  readonly #writeHead: ServerResponse['writeHead'];
  /** Whether what is sent has another length than the handler announced. */
  readonly #changesLength: boolean;
  #unsent = 0;
  #cutting = false;

  constructor(res: ServerResponse, changesLength: boolean) {
    this.#res = res;
    this.#write = res.write.bind(res);
    this.#end = res.end.bind(res);
    this.#flushHeaders = res.flushHeaders.bind(res);
    this.#writeHead = res.writeHead;
    this.#changesLength = changesLength;
  }

  get streams(): boolean {
    return String(this.#res.getHeader('content-type') ?? '').startsWith('text/event-stream');
  }

  write(chunk: Buffer): void {
    this.#prepareHead();
    this.#unsent += 1;
    this.#write(chunk, () => {
      this.#unsent -= 1;
      this.#destroyWhenSent();
    });
  }

  end(): void {
    this.#prepareHead();
    this.#end();
  }

  /** Closes the connection in the middle of the answer; what was written before still goes out. */
  cut(): void {
    cutByFault.add(this.#res);
    this.#prepareHead();
    this.#flushHeaders();
    this.#cutting = true;
    setImmediate(() => this.#destroyWhenSent());
  }

  reset(): void {
    cutByFault.add(this.#res);
    this.#res.socket?.resetAndDestroy();
  }

  #destroyWhenSent(): void {
    if (this.#cutting && this.#unsent === 0) this.#res.destroy();
  }

  #prepareHead(): void {
    if (this.#res.headersSent) return;
    if (this.#changesLength) this.#res.removeHeader('content-length');
    this.#res.writeHead = this.#writeHead;
  }
}
