import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { disturbanceOf } from './disturbances.ts';
import { Output } from './output.ts';
import type { Fault, Service } from './types.ts';

/**
 * Puts a fault between a handler and its response. The handler goes on as if nothing happened: its `writeHead`, `write`
 * and `end` work, and only what leaves the program differs.
 */
export function disturbOutput(fault: Fault, service: Service, res: ServerResponse): void {
  const output = new Output(res, fault.kind === 'malformedItem' || fault.kind === 'garbage');
  const disturbance = disturbanceOf(fault, service, output);
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
