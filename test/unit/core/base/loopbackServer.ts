import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server on a free port of this machine for the tests of one `describe`; `answer` is set by each test. */
export function loopbackServer() {
  const state = {
    origin: '',
    answer: ((_request, response) => response.end()) as RequestListener,
    seen: [] as Seen[],
    /** A connection has been closed, perhaps before its request was read. */
    onClose: () => {},
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    state.seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    state.answer(request, response);
  });
  server.on('connection', (socket) => socket.on('close', () => state.onClose()));
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    state.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    state.seen.length = 0;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return state;
}
