import net from 'node:net';
import type { RedirectFact } from './facts.ts';

/** How the listener of a sign-in names itself in the `Server` header (RFC 9110 section 10.2.4). */
const OUR_NAME = 'Rolecall';
const ANSWER_MS = 1500;
const MAX_HEAD = 16_384;

/** A browser may resolve `localhost` to either family. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1': ['127.0.0.1'],
  '[::1]': ['::1'],
  localhost: ['127.0.0.1', '::1'],
};

/**
 * Who would receive the answer of a sign-in. Nothing is sent but a plain GET of `/` to a loopback port on which somebody
 * listens already.
 *
 * @param editorScheme The scheme of this editor's links, such as `vscode`.
 */
export async function inspectRedirectUri(
  uri: string,
  editorScheme: string,
  signal: AbortSignal,
): Promise<RedirectFact> {
  const url = URL.parse(uri);
  const hosts = url && Object.hasOwn(HOSTS, url.hostname) ? HOSTS[url.hostname] : undefined;
  if (url?.protocol === 'http:' && hosts && url.port !== '') {
    for (const host of hosts) {
      const found = await lookAt(host, Number(url.port), signal);
      if (found.kind !== 'free') return { uri, ...found };
    }
    return { uri, kind: 'free' };
  }
  const scheme = url?.protocol.slice(0, -1) ?? '';
  if (scheme === '' || scheme === 'http' || scheme === 'https') return { uri, kind: 'elsewhere' };
  return { uri, kind: 'editorLink', scheme, isThisEditor: scheme === editorScheme };
}

type Found =
  | { readonly kind: 'free' | 'ours' }
  | { readonly kind: 'taken'; readonly says?: string }
  | { readonly kind: 'refused'; readonly code: string };

async function lookAt(host: string, port: number, signal: AbortSignal): Promise<Found> {
  const answer = await greet(host, port, signal);
  if (answer === 'silent') return { kind: 'taken' };
  if (answer !== 'nobody') return answer.name === OUR_NAME ? { kind: 'ours' } : { kind: 'taken', says: answer.name };
  // Nobody answers: may we listen, too? Systems reserve ports, and not every machine has both families.
  const code = await tryToListen(host, port);
  if (code === undefined || (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'))) {
    return { kind: 'free' };
  }
  return code === 'EADDRINUSE' ? { kind: 'taken' } : { kind: 'refused', code };
}

/** By a bare socket: whatever an editor does to `node:http`, this asks the port itself. */
function greet(
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<{ readonly name: string } | 'silent' | 'nobody'> {
  return new Promise((resolve) => {
    let text = '';
    let isConnected = false;
    const socket = net.connect({ host, port });
    const stop = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const end = () => socket.destroy();
    stop.addEventListener('abort', end, { once: true });
    if (stop.aborted) end();
    socket.setEncoding('latin1');
    socket.once('connect', () => {
      isConnected = true;
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${net.isIPv6(host) ? `[${host}]` : host}:${port}\r\nConnection: close\r\n\r\n`,
      );
    });
    socket.on('data', (piece: string) => {
      text += piece;
      if (text.includes('\r\n\r\n') || text.length > MAX_HEAD) end();
    });
    socket.on('error', () => {}); // `close` follows, and tells enough.
    socket.on('close', () => {
      stop.removeEventListener('abort', end);
      const isHttp = text.startsWith('HTTP/');
      if (isHttp) resolve({ name: /^server:[ \t]*([^\r\n]{0,100})/im.exec(text)?.[1]?.trim() ?? '' });
      else resolve(isConnected ? 'silent' : 'nobody');
    });
  });
}

/** @returns the system's reason why not. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
