import { withTimeout } from '../../base/abort.ts';
import { type HandshakeParams, type HandshakeResult, handshakeAsClient } from './handshake.ts';
import { LineSocket } from './lineSocket.ts';

/** How often a silent holder is looked at, and asked, before it is given up. */
const LOOKS = 20;
const PINGS = 4;
const RETRY_MS = 10;

/**
 * - `gone`: nothing listens at the address any more: the holder released the mutex or died.
 * - `silent`: something listens and does not answer.
 * - `stranger`, `newer`: see {@link HandshakeResult}.
 */
export type HolderStatus = 'gone' | 'silent' | 'stranger' | 'newer' | 'refused';

/**
 * A connection to the holder, by which the system itself tells when the holder is gone: it closes the connection in the
 * moment the process ends. The holder has to prove itself and to keep answering. A line to a silent holder is kept and
 * watched again later, so that waiting for a stopped process never fills its queue of connections.
 */
export class HolderConnection {
  readonly number: number;
  readonly #silenceMs: number;
  readonly #status: Promise<HolderStatus>;
  readonly #stop = new AbortController();
  #heard = 0;
  #isUrgent = false;

  /** @param silenceMs A holder that says nothing for so long is stopped, asleep, or not a holder. */
  constructor(number: number, params: HandshakeParams, silenceMs: number) {
    this.number = number;
    this.#silenceMs = silenceMs;
    this.#status = this.#follow(params);
  }

  /** Waits until the holder is gone; it is asked to give way when this `isUrgent`. @throws RolecallError `cancelled` */
  async waitUntilGone(signal: AbortSignal, isUrgent: boolean): Promise<HolderStatus> {
    this.#isUrgent = isUrgent;
    // Looks are counted, not time: after this process itself was stopped, the holder still gets its chance.
    let quiet = 0;
    let heard = this.#heard;
    for (;;) {
      const over = await withTimeout(this.#status, this.#silenceMs / LOOKS, signal);
      if (over) return over;
      quiet = heard === this.#heard ? quiet + 1 : 0;
      heard = this.#heard;
      if (quiet >= LOOKS) return 'silent';
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** A cut connection proves nothing: only an address where nothing listens does. So it is retried until then. */
  async #follow(params: HandshakeParams): Promise<HolderStatus> {
    while (!this.#stop.signal.aborted) {
      const line = LineSocket.connect(params.address);
      const stop = () => line.close();
      this.#stop.signal.addEventListener('abort', stop, { once: true });
      const result = await this.#pingUntilClosed(line, params);
      stop();
      const code = await line.closed;
      this.#stop.signal.removeEventListener('abort', stop);
      if (result === 'stranger' || result === 'newer') return result;
      const fate = line.connected ? 'cut' : statusOfConnectError(code);
      if (fate === 'gone' || fate === 'refused') return fate;
      if (result === 'closed') await withTimeout(new Promise(() => {}), RETRY_MS, this.#stop.signal).catch(() => {}); // Closed.
    }
    return 'silent';
  }

  /** @returns `proven` when it was, and the connection has ended since. */
  async #pingUntilClosed(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
    const result = await handshakeAsClient(line, params);
    if (result !== 'proven') return result;
    this.#heard += 1;
    const ask = () => line.send({ ping: true, ...(this.#isUrgent && { giveWay: true }) });
    ask();
    const ping = setInterval(ask, this.#silenceMs / PINGS);
    while ((await line.next()) !== undefined) this.#heard += 1;
    clearInterval(ping);
    return 'proven';
  }
}

/** What it means that an address could not be connected to. */
export function statusOfConnectError(code: string | undefined): 'gone' | 'busy' | 'refused' {
  switch (code) {
    case 'ENOENT': // Released: a socket's file, or a pipe's name, goes with its listener.
    case 'ECONNREFUSED': // Dead: the file is left, nothing listens.
      return 'gone';
    case undefined:
    case 'EAGAIN': // Linux: the queue of a stopped listener is full.
    case 'EBUSY': // Windows: all instances of the pipe are taken.
    case 'EPIPE':
    case 'ECONNRESET':
    case 'ETIMEDOUT':
      return 'busy';
    default:
      return 'refused';
  }
}
