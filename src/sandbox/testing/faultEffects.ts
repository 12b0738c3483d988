import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import { sendBody, sendJson } from '../http.ts';
import type { Service } from '../types.ts';
import type { Fault } from './faults.ts';

/** Values of `error` by status. See the identity specification, "Errors". */
const IDENTITY_ERRORS: Record<number, string> = {
  401: 'access_denied',
  403: 'forbidden',
  500: 'server_error',
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'request_entity_too_large',
  415: 'unsupported_media_type',
};

/** The error body of a service for a status. See "Errors" in the specification of each service. */
export function errorBody(service: Service, status: number, message?: string): object {
  const text = message ?? `Injected by the sandbox: ${STATUS_CODES[status] ?? status}.`;
  if (service === 'identity') return { error: IDENTITY_ERRORS[status] ?? 'server_error', error_description: text };
  const error_type = (STATUS_CODES[status] ?? 'ERROR').toUpperCase().replace(/[^A-Z]+/g, '_');
  return { error: { code: String(status), message: text, error_type, param: '' } };
}

/** Answers in place of the service (kinds `status` and `html`). Discards the body of the request. */
export function respondWithFault(fault: Fault, service: Service, req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  const headers = fault.headers ?? {};
  if (fault.kind === 'html') {
    const status = fault.status ?? 502;
    const title = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
    const page = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>sandbox proxy</center>\r\n</body>\r\n</html>\r\n`;
    sendBody(res, status, Buffer.from(typeof fault.body === 'string' ? fault.body : page), 'text/html', headers);
    return;
  }
  const status = fault.status ?? 500;
  if (typeof fault.body === 'string') sendBody(res, status, Buffer.from(fault.body), 'text/plain', headers);
  else sendJson(res, status, fault.body ?? errorBody(service, status), headers);
}

/**
 * Injects a fault between a handler and its response. The handler does not notice: `writeHead`, `write` and `end`
 * succeed, and only what is sent differs.
 *
 * @param removed resolves when the faults are removed.
 */
export function injectFault(fault: Fault, service: Service, res: ServerResponse, removed: Promise<void>): void {
  const output = new Output(res, fault.kind === 'malformedItem' || fault.kind === 'garbage');
  const effect = effectOf(fault, service, output, removed);
  let ended = false;
  Object.assign(res, {
    writeHead: (status: number, ...rest: unknown[]): ServerResponse => {
      storeHead(res, status, rest);
      return res;
    },
    flushHeaders: (): void => undefined,
    write: (chunk: unknown, ...rest: unknown[]): boolean => {
      effect.onChunk(toBuffer(chunk, rest[0]));
      scheduleCallback(rest);
      return true;
    },
    end: (...args: unknown[]): ServerResponse => {
      if (ended) return res;
      ended = true;
      const [chunk, encoding] = args;
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) {
        effect.onChunk(toBuffer(chunk, encoding));
      }
      effect.onEnd();
      scheduleCallback(args);
      return res;
    },
  });
}

/** Stores status and headers in the response, so that they can still change until the first byte is sent. */
function storeHead(res: ServerResponse, status: number, rest: readonly unknown[]): void {
  res.statusCode = status;
  const headers = rest.find((argument) => typeof argument === 'object' && argument !== null);
  if (Array.isArray(headers)) {
    for (let index = 0; index + 1 < headers.length; index += 2)
      res.appendHeader(String(headers[index]), headers[index + 1]);
    return;
  }
  for (const [name, value] of Object.entries((headers ?? {}) as OutgoingHttpHeaders)) {
    if (value !== undefined) res.setHeader(name, value);
  }
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8');
  return Buffer.from(chunk as Uint8Array);
}

/** Schedules the callback in the arguments of `write` or `end`, if there is one. */
function scheduleCallback(args: readonly unknown[]): void {
  const callback = args.find((argument) => typeof argument === 'function');
  if (typeof callback === 'function') process.nextTick(callback);
}

/** What a fault does with the bytes of an answer. */
interface Effect {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
}

/** The effects of the fault kinds that let the service process the request. */
function effectOf(fault: Fault, service: Service, output: Output, removed: Promise<void>): Effect {
  switch (fault.kind) {
    case 'late':
      return late(fault, output);
    case 'resetAfter':
      return { onChunk: () => undefined, onEnd: () => output.reset() };
    case 'cut':
      return stopAfter(fault, output, () => output.cut());
    case 'silence':
      return silence(fault, output, removed);
    case 'midStreamError':
      return midStreamError(fault, service, output);
    case 'garbage':
      return garbage(fault, output);
    default:
      return malformedItem(fault, output);
  }
}

function late(fault: Fault, output: Output): Effect {
  const chunks: Buffer[] = [];
  return {
    onChunk: (chunk) => {
      chunks.push(chunk);
    },
    onEnd: () => {
      setTimeout(() => {
        output.write(Buffer.concat(chunks));
        output.end();
      }, fault.ms ?? 1000).unref();
    },
  };
}

/** How many bytes pass by default: the first chunk of a stream, or half of the first chunk of any other body. */
const defaultLength = (chunk: Buffer, { streams }: Output): number =>
  streams ? chunk.length : Math.ceil(chunk.length / 2);

/** Lets `afterBytes` bytes pass, and then calls `stop`. */
function stopAfter(fault: Fault, output: Output, stop: () => void): Effect {
  let left = fault.afterBytes;
  let stopped = false;
  const stopOnce = (): void => {
    if (!stopped) stop();
    stopped = true;
  };
  return {
    onChunk: (chunk) => {
      if (stopped) return;
      left ??= defaultLength(chunk, output);
      if (left > 0) output.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) stopOnce();
    },
    onEnd: stopOnce,
  };
}

/** Lets `afterBytes` bytes pass, and the rest when the faults are removed. */
function silence(fault: Fault, output: Output, removed: Promise<void>): Effect {
  let left = fault.afterBytes;
  let pending: Buffer[] | undefined = [];
  let hasEnded = false;
  void removed.then(() => {
    for (const chunk of pending ?? []) output.write(chunk);
    pending = undefined;
    if (hasEnded) output.end();
  });
  return {
    onChunk: (chunk) => {
      if (pending === undefined) return output.write(chunk);
      left ??= defaultLength(chunk, output);
      const sendable = chunk.subarray(0, left);
      if (sendable.length > 0) output.write(sendable);
      pending.push(chunk.subarray(sendable.length));
      left -= sendable.length;
    },
    onEnd: () => {
      hasEnded = true;
      if (pending === undefined) output.end();
    },
  };
}

/** Sends the error after the chunk in which `afterBytes` is reached. The chunks of a stream are whole events. */
function midStreamError(fault: Fault, service: Service, output: Output): Effect {
  let left = fault.afterBytes ?? 1;
  let finished = false;
  const finish = (): void => {
    if (finished) return;
    finished = true;
    output.write(Buffer.from(`data: ${JSON.stringify(fault.body ?? errorBody(service, 500))}\n\n`));
    output.end();
  };
  return {
    onChunk: (chunk) => {
      if (finished) return;
      output.write(chunk);
      left -= chunk.length;
      if (left <= 0) finish();
    },
    onEnd: finish,
  };
}

function garbage(fault: Fault, output: Output): Effect {
  const invalidJson = typeof fault.body === 'string' ? fault.body : '{"choices":[{"delta":\u0000';
  let left = fault.afterBytes ?? 1;
  let inserted = false;
  return {
    onChunk: (chunk) => {
      if (output.streams) output.write(chunk);
      left -= chunk.length;
      if (inserted || left > 0) return;
      inserted = true;
      output.write(Buffer.from(output.streams ? `data: ${invalidJson}\n\n` : invalidJson));
    },
    onEnd: () => {
      if (!inserted) output.write(Buffer.from(invalidJson));
      output.end();
    },
  };
}

/** Waits for the whole body and inserts an invalid item in the middle of its array. */
function malformedItem(fault: Fault, output: Output): Effect {
  const chunks: Buffer[] = [];
  return {
    onChunk: (chunk) => {
      chunks.push(chunk);
    },
    onEnd: () => {
      output.write(withMalformedItem(Buffer.concat(chunks), fault.body ?? 42));
      output.end();
    },
  };
}

function withMalformedItem(body: Buffer, item: unknown): Buffer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return body;
  }
  const list = Array.isArray(parsed) ? parsed : (parsed as { data?: unknown } | null)?.data;
  if (!Array.isArray(list)) return body;
  list.splice(Math.floor(list.length / 2), 0, item);
  return Buffer.from(JSON.stringify(parsed));
}

/** Responses that a fault has cut off, as opposed to those that the client has closed. */
export const cutByFault = new WeakSet<ServerResponse>();

/** The original methods of a response whose `writeHead`, `write` and `end` a fault has replaced. */
class Output {
  readonly #res: ServerResponse;
  readonly #write: (chunk: Buffer, sent: () => void) => void;
  readonly #end: () => void;
  readonly #flushHeaders: () => void;
  readonly #writeHead: ServerResponse['writeHead'];
  /** Whether the length of what is sent differs from the `Content-Length` of the handler. */
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

  /** Closes the connection in the middle of the answer, after everything written before has been sent. */
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
