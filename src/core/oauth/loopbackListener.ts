import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as l10n from '@vscode/l10n';
import { raceWithSignal } from '../base/abort.ts';
import { identifyListener, LISTENER_NAME, LOOPBACK_HOSTS } from '../base/addresses.ts';
import { RolecallError } from '../base/errors.ts';

/** The page the browser ends on. Text comes from the host, translated. */
export interface RedirectPage {
  readonly title: string;
  readonly text: string;
}

export interface LoopbackOptions {
  /** The registered redirect URI, for example `http://127.0.0.1:18155/callback`. */
  readonly redirectUri: string;
  /** The `state` of the one sign-in that is waited for. */
  readonly state: string;
  /** Where the browser goes from {@link LoopbackListener.newStartUrl}. */
  readonly authorizationUrl: string;
  readonly pages: {
    readonly done: RedirectPage;
    /** `why` may be empty. */
    readonly failed: (why: string) => RedirectPage;
    /** For requests that are not the awaited answer. */
    readonly refused: RedirectPage;
  };
}

/** A listener on the registered loopback address for one sign-in (RFC 8252 section 7.3). */
export interface LoopbackListener {
  /**
   * Opened in the browser instead of the authorization address, to which it redirects: editors decode and re-encode the
   * addresses they open, which breaks the parameters nested in an authorization address. A new one each time, with an
   * unguessable path that is good for one request: addresses stay in the history of a browser.
   */
  newStartUrl(): string;
  /** The first request to the redirect URI that carries the expected state. The browser waits for {@link reply}. */
  answer(signal: AbortSignal): Promise<URL>;
  /** Shows in the browser how the sign-in ended: well, or why not. */
  reply(why?: string): void;
  /** Frees the port. A browser that still waits gets a page that says there is no sign-in. */
  close(): Promise<void>;
}

/**
 * Serves the start address alone, on a port that the system chooses: for sign-ins whose answer does not come to a
 * loopback address.
 */
export async function serveStartPage(
  authorizationUrl: string,
): Promise<Pick<LoopbackListener, 'newStartUrl' | 'close'>> {
  const start = new StartPath();
  const server = createServer((request, response) => {
    if (request.method === 'GET' && start.take(request.url)) {
      response.writeHead(302, { location: authorizationUrl, ...HEADERS }).end();
      return;
    }
    response.writeHead(404, HEADERS).end();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { newStartUrl: () => `http://127.0.0.1:${port}${start.next()}`, close: () => closeServer(server) };
}

/** A listener on this machine answers at once; a program with another protocol does not answer. In milliseconds. */
const PROBE_MS = 500;

/** Which program uses the port of a loopback redirect URI: none, another window of Rolecall, or another program. */
export async function inspectPort(redirectUri: string, signal: AbortSignal): Promise<'nobody' | 'rolecall' | 'other'> {
  const { hosts, port } = loopbackTarget(redirectUri);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
  for (const answer of await Promise.all(hosts.map((host) => identifyListener(host, port, stop)))) {
    if (answer !== 'nobody') return answer !== 'silent' && answer.name === LISTENER_NAME ? 'rolecall' : 'other';
  }
  return 'nobody';
}

/** The path of the start address: the newest one, once. */
class StartPath {
  #path: string | undefined;

  next(): string {
    this.#path = `/start/${randomBytes(16).toString('base64url')}`;
    return this.#path;
  }

  take(path: string | undefined): boolean {
    if (path === undefined || path !== this.#path) return false;
    this.#path = undefined;
    return true;
  }
}

/** @throws RolecallError `configuration` when the port is taken or the redirect URI is not a loopback address. */
export async function listenForRedirect(options: LoopbackOptions): Promise<LoopbackListener> {
  const target = loopbackTarget(options.redirectUri);
  const provider = new URL(options.authorizationUrl).origin;
  const start = new StartPath();
  let resolve: (url: URL) => void = () => {};
  /** The response that the browser waits for until the sign-in has ended. */
  let browserResponse: ServerResponse | undefined;
  const reply = (why?: string) => {
    if (!browserResponse || browserResponse.writableEnded) return;
    if (why === undefined) send(browserResponse, 200, options.pages.done);
    else send(browserResponse, 400, options.pages.failed(why));
  };
  const answered = new Promise<URL>((fulfill) => {
    resolve = fulfill;
  });
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    if ((request.headersDistinct.host ?? []).length !== 1) {
      send(response, 400, options.pages.refused); // RFC 9112 section 3.2: `headers.host` would be the first of them.
      return;
    }
    const url = URL.parse(`${target.origin}${request.url}`);
    // Any Host: an editor served in a browser opens this through a proxy of its own. The path cannot be guessed.
    if (request.method === 'GET' && start.take(url?.pathname)) {
      response.writeHead(302, { location: options.authorizationUrl, ...HEADERS }).end();
      return;
    }
    // A foreign Host means that another site's name points at us.
    if (!url || request.headers.host !== target.host) {
      send(response, 421, options.pages.refused);
      return;
    }
    const refusal = refuse(request, url, target, options.state);
    const readable = isAwaited(url, target, options.state) ? readableBy(provider, request) : undefined;
    if (readable && request.method === 'OPTIONS') {
      response.writeHead(204, { ...HEADERS, ...readable, ...PREFLIGHT }).end();
      return;
    }
    if (refusal !== undefined) {
      send(response, refusal, options.pages.refused);
      return;
    }
    if (browserResponse !== undefined) {
      send(response, 409, options.pages.refused); // One answer for one sign-in.
      return;
    }
    response.setHeaders(new Headers(readable));
    browserResponse = response;
    resolve(new URL(`${options.redirectUri}${url.search}`));
  };
  const servers = await listen(target.hosts, target.port, options.redirectUri, handler);
  return {
    newStartUrl: () => target.origin + start.next(),
    answer: (signal) => raceWithSignal(answered, signal),
    reply,
    close: async () => {
      reply('');
      await Promise.all(servers.map(closeServer));
    },
  };
}

interface Target {
  readonly origin: string;
  readonly host: string;
  readonly hosts: readonly string[];
  readonly port: number;
  readonly pathname: string;
}

function loopbackTarget(redirectUri: string): Target {
  const url = URL.parse(redirectUri);
  const hosts = url && Object.hasOwn(LOOPBACK_HOSTS, url.hostname) ? LOOPBACK_HOSTS[url.hostname] : undefined;
  if (url?.protocol !== 'http:' || !hosts || url.port === '') {
    throw new RolecallError(
      'configuration',
      l10n.t(
        'rolecall.identity.redirectUri must be a loopback address with a port, such as http://127.0.0.1:18155/callback.',
      ),
    );
  }
  return { origin: url.origin, host: url.host, hosts, port: Number(url.port), pathname: url.pathname };
}

const HEADERS = {
  /** Lets a window or a diagnosis tell a waiting sign-in from another program that has the port. */
  server: LISTENER_NAME,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

/**
 * The provider's page may send the answer by itself, to close its tab when it has arrived (the sandbox's does). Only its origin
 * may read which program answered, and only for the expected answer: another program at this port does not identify itself so.
 */
function readableBy(provider: string, request: IncomingMessage): Record<string, string> | undefined {
  if (request.headers.origin !== provider) return undefined;
  return { 'access-control-allow-origin': provider, 'access-control-expose-headers': 'server', vary: 'origin' };
}

/** Browsers ask before a public page reaches an address of the user's own network. */
const PREFLIGHT = { 'access-control-allow-methods': 'GET', 'access-control-allow-private-network': 'true' };

/** Which status answers a request that is not the awaited one. */
function refuse(request: IncomingMessage, url: URL, target: Target, state: string): number | undefined {
  if (url.pathname !== target.pathname) return 404;
  if (request.method !== 'GET') return 405;
  return isAwaited(url, target, state) ? undefined : 400;
}

function isAwaited(url: URL, target: Target, state: string): boolean {
  return url.pathname === target.pathname && url.searchParams.get('state') === state;
}

function send(response: ServerResponse, status: number, page: RedirectPage): void {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(page.title)}</title><style>
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{display:grid;place-items:center;min-height:90vh;margin:0}main{max-width:34em;padding:2em;text-align:center}
</style><main><h1>${escapeHtml(page.title)}</h1><p>${escapeHtml(page.text)}</p></main></html>`;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...HEADERS }).end(html);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

async function listen(
  hosts: readonly string[],
  port: number,
  redirectUri: string,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server[]> {
  const servers: Server[] = [];
  for (const host of hosts) {
    const server = createServer({ maxHeaderSize: 32_768 }, handler); // Codes of 2.5 kB and more travel in the path.
    try {
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
      servers.push(server);
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code;
      const missing = code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'; // No IPv6 on this machine.
      if (missing && (servers.length > 0 || host !== hosts.at(-1))) continue;
      await Promise.all(servers.map(closeServer));
      const isOurs =
        code === 'EADDRINUSE' && (await inspectPort(redirectUri, new AbortController().signal)) === 'rolecall';
      throw isOurs ? waitsElsewhere(port, cause) : cannotListen(host, port, code, cause);
    }
  }
  return servers;
}

function cannotListen(host: string, port: number, code: string | undefined, cause: unknown): RolecallError {
  const sentence =
    code === 'EADDRINUSE'
      ? l10n.t(
          'Another program uses port {0}, so the browser cannot return to Rolecall. Close that program, sign in another way, or register another redirect URI and set rolecall.identity.redirectUri.',
          String(port),
        )
      : l10n.t(
          'Port {0} of {1} cannot be used ({2}), so the browser cannot return to Rolecall. Sign in another way, or register another redirect URI and set rolecall.identity.redirectUri.',
          String(port),
          host,
          code ?? '',
        );
  return new RolecallError('configuration', sentence, { cause, remedy: { kind: 'otherSignIn' } });
}

function waitsElsewhere(port: number, cause: unknown): RolecallError {
  return new RolecallError(
    'configuration',
    l10n.t(
      'Another window is waiting for a sign-in on port {0}. Finish or cancel that sign-in, or sign in another way.',
      String(port),
    ),
    { cause, remedy: { kind: 'otherSignIn' } },
  );
}

/** How long a page that has begun to arrive may take to finish. */
const GRACE_MS = 500;

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve()); // Frees the port at once.
    server.closeIdleConnections();
    // The answer page may be on its way still, and browsers open connections they never use.
    setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
  });
}
