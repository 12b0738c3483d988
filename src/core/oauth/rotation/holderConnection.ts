import { delay, withTimeout } from '../../base/abort.ts';
import { type HandshakeParams, type HandshakeResult, handshakeAsClient } from './handshake.ts';
import { LineSocket } from './ipc.ts';

/** The number of checks, and pings, before a holder counts as silent. */
const CHECKS = 20;
const PINGS = 4;
const RETRY_MS = 10;

/**
 * - `gone`: nothing listens at the address any more: the holder released the mutex or died.
 * - `silent`: something listens but does not answer.
 * - `stranger`, `newer`: see {@link HandshakeResult}.
 */
export type HolderStatus = 'gone' | 'silent' | 'stranger' | 'newer' | 'refused';

/**
 * A connection to the holder. The system closes it as soon as the holder's process ends. The holder has to authenticate
 * and to keep answering pings. The connection to a silent holder is kept for later, so that waiting for a stopped process
 * doesn't fill its queue of connections.
 */
export class HolderConnection {
  readonly number: number;
  readonly #silenceMs: number;
  readonly #status: Promise<HolderStatus>;
  readonly #stop = new AbortController();
  #messageCount = 0;
  #isUrgent = false;

  /** @param silenceMs A holder that sends nothing for this long is stopped, suspended, or no holder at all. */
  constructor(number: number, params: HandshakeParams, silenceMs: number) {
    this.number = number;
    this.#silenceMs = silenceMs;
    this.#status = this.#follow(params);
  }

  /** Waits until the holder is gone, and asks it to give way if `isUrgent`. @throws RolecallError `cancelled` */
  async waitUntilGone(signal: AbortSignal, isUrgent: boolean): Promise<HolderStatus> {
    this.#isUrgent = isUrgent;
    // Checks are counted, not time: if this process itself was suspended, the holder still gets all of its checks.
    let quiet = 0;
    let messageCount = this.#messageCount;
    for (;;) {
      const status = await withTimeout(this.#status, this.#silenceMs / CHECKS, signal);
      if (status) return status;
      quiet = messageCount === this.#messageCount ? quiet + 1 : 0;
      messageCount = this.#messageCount;
      if (quiet >= CHECKS) return 'silent';
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /**
   * Connects again until nothing listens at the address: a closed connection does not prove that the holder is gone.
   */
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
      if (result === 'closed') await delay(RETRY_MS, this.#stop.signal).catch(() => {}); // Closed.
    }
    return 'silent';
  }

  /** @returns `proven` when the holder authenticated and the connection has closed since. */
  async #pingUntilClosed(line: LineSocket, params: HandshakeParams): Promise<HandshakeResult> {
    const result = await handshakeAsClient(line, params);
    if (result !== 'proven') return result;
    this.#messageCount += 1;
    const ask = () => line.send({ ping: true, ...(this.#isUrgent && { giveWay: true }) });
    ask();
    const ping = setInterval(ask, this.#silenceMs / PINGS);
    while ((await line.next()) !== undefined) this.#messageCount += 1;
    clearInterval(ping);
    return 'proven';
  }
}

/** What a failure to connect tells about the holder. */
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
