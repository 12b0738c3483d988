import { createServer, type Server } from 'node:net';

/** Another program on a port, which says something of its own, or nothing and reads on. */
export async function occupy(
  host: string,
  port = 0,
  says: 'hello' | 'nothing' = 'hello',
): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    if (says === 'hello') socket.end('hello\r\n');
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return { server, port: (server.address() as { port: number }).port };
}

export const release = (server: Server) => new Promise((resolve) => server.close(resolve));

export async function freePort(): Promise<number> {
  const { server, port } = await occupy('127.0.0.1');
  await release(server);
  return port;
}

/** Whether this machine has it at all. */
export async function hasIpv6(): Promise<boolean> {
  try {
    await release((await occupy('::1')).server);
    return true;
  } catch {
    return false;
  }
}
