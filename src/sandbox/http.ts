import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestHandler } from './types.ts';

/** The only address that the sandbox listens on. */
export const LOOPBACK = '127.0.0.1';

export interface Listener {
  origin: string;
  /** Sets the handler for all further requests. Requests that arrive before it is set are answered with 503. */
  handle(handler: RequestHandler): void;
  /** Stops listening and closes the open connections, including streams. */
  close(): Promise<void>;
}

/**
 * Listens on `port` of 127.0.0.1, or on a free port if `port` is 0. The handler is set later because it may need to
 * know the origin: an OpenID provider uses it as its issuer, for example.
 */
export async function listen(port: number): Promise<Listener> {
  let current: RequestHandler = (_req, res) => sendJson(res, 503, { error: 'server_error' });
  const server = createServer((req, res) => current(req, res));
  // Longer than any client keeps an idle connection, so that no client reuses a connection that is being closed.
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
 * Finds a port of 127.0.0.1 that is free now. It is likely to stay free until it is used, because no operating system
 * assigns ports below 32768 to programs that ask for any free port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(10_000, 32_768);
    try {
      const { close } = await listen(port);
      await close();
      return port;
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

/** Splits the target of a request into path and query. A target that is not a URL (`//`, `*`) becomes the path. */
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

/** Reads the whole body as text. @throws RangeError when it is longer than `limit` bytes. */
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
