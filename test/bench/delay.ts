// How long a chunk that has arrived takes to be in VS Code's hands: from the bytes at the socket, through fetch, the client
// of completions and the relay of the provider of models, to `progress.report`.
import diagnostics from 'node:diagnostics_channel';
import { createServer, type ServerResponse } from 'node:http';
import { registerHooks } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { streamCompletion } from '../../src/core/completions/client.ts';
import { silentLog } from '../support/silentLog.ts';
import { type Figure, median, withinLimit } from './figure.ts';

const CHUNKS = 2_000;
const WARM_UP = 200;
/** What is promised for the median, in milliseconds. */
const LIMIT_MS = 2;

const NAME = 'delay from a chunk’s arrival to its part in VS Code, median';

/** Asks, and calls `arrived` for each chunk of text that has come through; ends with the answer. */
type Reader = (url: string, arrived: () => void) => Promise<unknown>;

export async function delays(chunk: string, end: string): Promise<Figure[]> {
  const relayed = await readerThroughRelay();
  const ours = await delayOf(relayed, chunk, end);
  const bare = await delayOf(readBare, chunk, end);
  return [
    withinLimit(NAME, ours, 'ms', LIMIT_MS),
    {
      name: NAME,
      value: ours,
      unit: 'ms',
      against: 'fetch, decoding and JSON.parse alone',
      ratio: ours / bare,
      higherIsBetter: false,
    },
  ];
}

/** Milliseconds from the bytes of one chunk at the socket to what the reader makes of it. */
async function delayOf(read: Reader, chunk: string, end: string): Promise<number> {
  let asked: (response: ServerResponse) => void = () => {};
  const answering = new Promise<ServerResponse>((resolve) => {
    asked = resolve;
  });
  const server = createServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'text/event-stream' }).flushHeaders();
    asked(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = bytesOf(port);
  const measured: number[] = [];
  let told: () => void = () => {};
  try {
    const done = read(`http://127.0.0.1:${port}`, () => {
      measured.push(performance.now() - socket.arrivedAt());
      told();
    });
    const response = await answering;
    for (let count = 0; count < CHUNKS; count++) {
      const through = new Promise<void>((resolve) => {
        told = resolve;
      });
      response.write(chunk);
      await Promise.race([through, done]);
    }
    response.end(end);
    await done;
  } finally {
    socket.dispose();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  if (measured.length !== CHUNKS) throw new Error(`${measured.length} of ${CHUNKS} chunks came through.`);
  return median(measured.slice(WARM_UP));
}

/** When bytes came last on the connection that `fetch` opens to this port. */
function bytesOf(port: number): { arrivedAt: () => number; dispose: () => void } {
  let at = Number.NaN;
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.remotePort !== port) return;
    // What the system has read is pushed here, before anybody parses it.
    const push = socket.push.bind(socket);
    socket.push = (bytes, encoding) => {
      at = performance.now();
      return push(bytes, encoding);
    };
  };
  diagnostics.subscribe('undici:client:connected', watch);
  return { arrivedAt: () => at, dispose: () => diagnostics.unsubscribe('undici:client:connected', watch) };
}

/** The relay as it is, with a stand-in for the few things of the editor that it touches. */
async function readerThroughRelay(): Promise<Reader> {
  const editor = `
    export class LanguageModelTextPart { constructor(value) { this.value = value; } }
    export const l10n = { t: (text) => text };`;
  const hooks = registerHooks({
    resolve: (name, context, next) =>
      name === 'vscode'
        ? { url: `data:text/javascript,${encodeURIComponent(editor)}`, shortCircuit: true }
        : next(name, context),
  });
  const { streamToChat } = await import('../../src/host/chat/streamAdapter.ts');
  hooks.deregister();
  return async (inferenceUrl, arrived) => {
    const deps = { fetch, log: silentLog, accessToken: async () => 'token' };
    const request = { model: 'org/model', messages: [{ role: 'user', content: 'Hello' }] };
    const events = streamCompletion(deps, { inferenceUrl }, request, {}, new AbortController().signal);
    const { complete } = await streamToChat(events, { report: arrived }, silentLog);
    if (!complete) throw new Error('The completion is not whole.');
  };
}

const readBare: Reader = async (url, arrived) => {
  const { body } = await fetch(url, { method: 'POST' });
  const decoder = new TextDecoder();
  for await (const packet of body as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(packet, { stream: true });
    if (text.includes('[DONE]')) return;
    JSON.parse(text.slice('data: '.length));
    arrived();
  }
};
