import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from './types.ts';

/** The only address the sandbox ever listens on. */
export const LOOPBACK = '127.0.0.1';

export interface Listener {
  origin: string;
  /** Later requests go to this handler; until it is set they are answered 503. */
  handle(handler: RequestHandler): void;
  /** Refuses new connections and ends the open ones, streams included. */
  close(): Promise<void>;
}

/**
 * Listens on `port` of 127.0.0.1, or on a free port for 0. The handler comes later because it may need to know the
 * origin (an OpenID provider's issuer, for one).
 */
export async function listen(port: number): Promise<Listener> {
  let current: RequestHandler = (_req, res) => sendJson(res, 503, { error: 'server_error' });
  const server = createServer((req, res) => current(req, res));
  // Longer than any client keeps an idle connection, so that a reused connection never meets a closing one.
  server.keepAliveTimeout = 120_000;
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return {
    origin: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    handle: (handler) => {
      current = handler;
    },
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/**
 * A port of 127.0.0.1 that is free now, and likely to stay so until somebody listens there: no system gives ports below
 * 32768 to programs that ask for any.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(10_000, 32_768);
    try {
      const { close } = await listen(port);
      await close();
      return port;
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

/** Path and query of a request, apart. A target that is no URL (`//`, `*`) counts as the path it is. */
export function target(req: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = '/', query = ''] = (req.url ?? '/').split('?', 2);
  return { path, query: new URLSearchParams(query) };
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendBody(res, status, Buffer.from(JSON.stringify(body)), 'application/json', headers);
}

export function sendBody(
  res: ServerResponse,
  status: number,
  body: Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.writeHead(status, { 'Content-Type': contentType, 'Content-Length': String(body.length), ...headers });
  res.end(body);
}

/** The whole body as text. Throws a `RangeError` beyond `limit` bytes. */
export async function readText(req: IncomingMessage, limit = 65_536): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new RangeError(`The body is longer than ${limit} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
