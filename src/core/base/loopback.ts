import net from 'node:net';

/** How the listener of a sign-in names itself, so that a window or a diagnosis can tell it from another program. */
export const LISTENER_NAME = 'Rolecall';

/** A browser may resolve `localhost` to either family (RFC 8252 section 8.3 advises against the name for that reason). */
export const LOOPBACK_HOSTS: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1': ['127.0.0.1'],
  '[::1]': ['::1'],
  localhost: ['127.0.0.1', '::1'],
};

const MAX_HEAD = 16_384;

/**
 * Who listens at a loopback port, by the name it gives in the `Server` header (RFC 9110 section 10.2.4). A bare socket:
 * whatever an editor does to `node:http`, this asks the port itself. Nothing is sent but a plain GET of `/`.
 *
 * @returns `silent` when a program accepts connections but has not answered in HTTP when `signal` aborts.
 */
export function identifyListener(
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<{ readonly name: string } | 'silent' | 'nobody'> {
  return new Promise((resolve) => {
    let text = '';
    let isConnected = false;
    const socket = net.connect({ host, port });
    const end = () => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
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
    socket.on('error', () => {}); // `close` follows.
    socket.on('close', () => {
      signal.removeEventListener('abort', end);
      const isHttp = text.startsWith('HTTP/');
      if (isHttp) resolve({ name: /^server:[ \t]*([^\r\n]{0,100})/im.exec(text)?.[1]?.trim() ?? '' });
      else resolve(isConnected ? 'silent' : 'nobody');
    });
  });
}
