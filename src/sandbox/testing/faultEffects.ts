import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import { sendBody, sendJson } from '../http.ts';
import type { Service } from '../types.ts';
import type { Fault } from './faults.ts';

/** Identity errors by status; those of the identity specification's "Errors" first. */
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

/** The error body a service gives with a status; each half's own shape (spec "Errors" of both services). */
export function errorBody(service: Service, status: number, message?: string): object {
  const text = message ?? `Injected by the sandbox: ${STATUS_CODES[status] ?? status}.`;
  if (service === 'identity') return { error: IDENTITY_ERRORS[status] ?? 'server_error', error_description: text };
  const error_type = (STATUS_CODES[status] ?? 'ERROR').toUpperCase().replace(/[^A-Z]+/g, '_');
  return { error: { code: String(status), message: text, error_type, param: '' } };
}

/** Answers instead of the service, for the kinds `status` and `html`. The request's body is read and dropped. */
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
 * Puts a fault between a handler and its response. The handler goes on as if nothing happened: its `writeHead`, `write`
 * and `end` work, and only what leaves the program differs. `removed` settles when somebody removes the faults.
 */
export function injectFault(fault: Fault, service: Service, res: ServerResponse, removed: Promise<void>): void {
  const output = new Output(res, fault.kind === 'malformedItem' || fault.kind === 'garbage');
  const disturbance = disturbanceOf(fault, service, output, removed);
  let ended = false;
  Object.assign(res, {
    writeHead: (status: number, ...rest: unknown[]): ServerResponse => {
      keepHead(res, status, rest);
      return res;
    },
    flushHeaders: (): void => undefined,
    write: (chunk: unknown, ...rest: unknown[]): boolean => {
      disturbance.onChunk(toBuffer(chunk, rest[0]));
      callLater(rest);
      return true;
    },
    end: (...args: unknown[]): ServerResponse => {
      if (ended) return res;
      ended = true;
      const [chunk, encoding] = args;
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) {
        disturbance.onChunk(toBuffer(chunk, encoding));
      }
      disturbance.onEnd();
      callLater(args);
      return res;
    },
  });
}

/** Remembers status and headers in the response, so that they can still change before the first byte. */
function keepHead(res: ServerResponse, status: number, rest: readonly unknown[]): void {
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

/** Calls the callback among the arguments of `write` or `end`, if there is one. */
function callLater(args: readonly unknown[]): void {
  const callback = args.find((argument) => typeof argument === 'function');
  if (typeof callback === 'function') process.nextTick(callback);
}

/** What a fault does with the bytes of an answer. */
interface Disturbance {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
}

/** The kinds of `faults.ts` that let the request be processed. */
function disturbanceOf(fault: Fault, service: Service, output: Output, removed: Promise<void>): Disturbance {
  switch (fault.kind) {
    case 'late':
      return late(fault, output);
    case 'resetAfter':
      return { onChunk: () => undefined, onEnd: () => output.reset() };
    case 'cut':
      return upTo(fault, output, () => output.cut());
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

function late(fault: Fault, output: Output): Disturbance {
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

/** The first piece of a stream, half of any other body. */
const piece = (chunk: Buffer, { streams }: Output): number => (streams ? chunk.length : Math.ceil(chunk.length / 2));

/** Lets `afterBytes` pass (without it: the first `piece`) and then stops. */
function upTo(fault: Fault, output: Output, stop: () => void): Disturbance {
  let left = fault.afterBytes;
  let stopped = false;
  const stopOnce = (): void => {
    if (!stopped) stop();
    stopped = true;
  };
  return {
    onChunk: (chunk) => {
      if (stopped) return;
      left ??= piece(chunk, output);
      if (left > 0) output.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) stopOnce();
    },
    onEnd: stopOnce,
  };
}

/** Lets `afterBytes` pass (without it: the first `piece`), and the rest when the faults are removed. */
function silence(fault: Fault, output: Output, removed: Promise<void>): Disturbance {
  let left = fault.afterBytes;
  let kept: Buffer[] | undefined = [];
  let isOver = false;
  void removed.then(() => {
    for (const chunk of kept ?? []) output.write(chunk);
    kept = undefined;
    if (isOver) output.end();
  });
  return {
    onChunk: (chunk) => {
      if (kept === undefined) return output.write(chunk);
      left ??= piece(chunk, output);
      const passed = chunk.subarray(0, left);
      if (passed.length > 0) output.write(passed);
      kept.push(chunk.subarray(passed.length));
      left -= passed.length;
    },
    onEnd: () => {
      isOver = true;
      if (kept === undefined) output.end();
    },
  };
}

/** The pieces of a stream are whole events: the error comes after the piece in which `afterBytes` end. */
function midStreamError(fault: Fault, service: Service, output: Output): Disturbance {
  let left = fault.afterBytes ?? 1;
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    output.write(Buffer.from(`data: ${JSON.stringify(fault.body ?? errorBody(service, 500))}\n\n`));
    output.end();
  };
  return {
    onChunk: (chunk) => {
      if (over) return;
      output.write(chunk);
      left -= chunk.length;
      if (left <= 0) finish();
    },
    onEnd: finish,
  };
}

function garbage(fault: Fault, output: Output): Disturbance {
  const rubbish = typeof fault.body === 'string' ? fault.body : '{"choices":[{"delta":\u0000';
  let left = fault.afterBytes ?? 1;
  let done = false;
  return {
    onChunk: (chunk) => {
      if (output.streams) output.write(chunk);
      left -= chunk.length;
      if (done || left > 0) return;
      done = true;
      output.write(Buffer.from(output.streams ? `data: ${rubbish}\n\n` : rubbish));
    },
    onEnd: () => {
      if (!done) output.write(Buffer.from(rubbish));
      output.end();
    },
  };
}

/** Waits for the whole body and puts one item that is none in the middle of its array. */
function malformedItem(fault: Fault, output: Output): Disturbance {
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

/** Answers that a fault ended in the middle; whoever counts streams tells them from those the client left. */
export const cutByFault = new WeakSet<ServerResponse>();

/** The undisturbed ways out of a response whose own `writeHead`, `write` and `end` a fault has replaced. */
class Output {
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
