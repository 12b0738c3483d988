// An authorization server of its own, in the few lines that matter: single-use refresh tokens, one session per client, no
// grace window, and a record of every exchange by which a spent token that comes back is explained or counted.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One refresh token sent by one process. */
interface Exchange {
  readonly pid: number;
  /** The generation of the sealed file when the token was sent, as the sender read it itself. */
  readonly seen: number;
  /** True when it was not spent yet when it arrived: the server itself let it wait. */
  readonly wasCurrent: boolean;
  /** True when the server never let the answer out. */
  dropped: boolean;
}

/** A token of a session that a sign-in had replaced at the server. */
interface Superseded {
  readonly seen: number;
  readonly pid: number;
  /** The session that had replaced it. */
  readonly by: number;
}

export interface ServerOptions {
  /** See {@link CountingServer.lifetime}. */
  readonly lifetime: number;
  readonly faults: boolean;
  /** How many times as often as usual there is one. */
  readonly density: number;
  /** Whether a process was killed: what it had in hand is lost. */
  readonly wasKilled: (pid: number) => boolean;
  /** Called when a refresh token arrives. */
  readonly onArrived: (pid: number) => void;
  /** Called between the rotation and its answer: the worst moment for anything to happen to the sender. */
  readonly onRotated: (pid: number) => void;
}

export class CountingServer {
  readonly #options: ServerOptions;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #spent = new Map<string, Exchange>();
  /** Who was told that a token is spent. */
  readonly #refused = new Map<string, number>();
  readonly #superseded: Superseded[] = [];
  /** From which generation on the windows know of a session. */
  readonly #known = new Map<number, number>();
  #sid = 0;
  #passing = 0;
  #serial = 0;
  #access = '';
  #refresh = '';
  /** Sessions that a lost answer has ended. */
  readonly lost = new Set<number>();
  readonly stories: string[] = [];
  /** Lifetime of the access tokens that are issued from now on, in seconds. */
  lifetime: number;
  rotations = 0;
  /** Spent tokens that came back although a newer one was stored, or nothing was lost. */
  reuse = 0;
  replays = 0;
  /** Sent by a process that was killed while the server let it wait; its successor was faster. */
  late = 0;
  readonly faults = new Map<string, number>();
  unauthorized = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.lifetime = options.lifetime;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The session a refresh token belongs to. */
  static sessionOf(refreshToken: string): number {
    return Number(refreshToken.split('.')[1]);
  }

  get session(): number {
    return this.#sid;
  }

  /** The windows know of the sign-in that began this session, from this generation on. */
  signedIn(session: number, generation: number): void {
    this.#known.set(session, generation);
  }

  /** Only a new access token is accepted from now on. */
  revokeAccess(): void {
    this.#access = '';
  }

  /** Tokens of a replaced session: honest while no window knew of the sign-in, counted as reuse afterwards. */
  judgeSuperseded(): number {
    for (const { seen, pid, by } of this.#superseded) {
      if (seen < (this.#known.get(by) ?? Number.POSITIVE_INFINITY)) continue;
      this.reuse += 1;
      this.stories.push(`${pid} sent a token of a replaced session at generation ${seen}`);
    }
    return this.#superseded.length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://server');
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (pathname === '/oauth2/v2/token') return this.#token(request, response, new URLSearchParams(text));
    if (pathname === '/sign-in') return this.#answer(response, 200, this.#newSession());
    if (pathname === '/api' || pathname.startsWith('/api/v1/')) {
      const accepted = request.headers.authorization === `Bearer ${this.#access}`;
      if (!accepted) this.unauthorized += 1;
      return this.#answer(response, accepted ? 200 : 401, accepted ? [] : { error: 'access_denied' });
    }
    this.#answer(response, 404, { error: 'not_found', error_description: 'no discovery here' });
  }

  async #token(request: IncomingMessage, response: ServerResponse, form: URLSearchParams): Promise<void> {
    const token = form.get('refresh_token') ?? '';
    const exchange: Exchange = {
      pid: Number(request.headers['x-pid']),
      seen: Number(request.headers['x-seen']),
      wasCurrent: token === this.#refresh,
      dropped: false,
    };
    this.#options.onArrived(exchange.pid);
    const fault = this.#options.faults ? this.#nextFault() : 'none';
    if (fault !== 'none') this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (fault === 'slow') await sleep(Math.random() * 300);
    if (fault === 'resetBefore') return void request.socket.destroy();
    if (fault === '429') return this.#answer(response, 429, { error: 'temporarily_unavailable' });
    if (fault === '500') return this.#answer(response, 500, { error: 'server_error', error_description: 'oops' });
    if (fault === '502') return void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>');
    if (!token.startsWith('rt.')) return this.#answer(response, 400, { error: 'invalid_grant' }); // Only asks whether we are there.
    if (token !== this.#refresh) return this.#refuse(response, token, exchange);
    this.#spent.set(token, exchange);
    this.rotations += 1;
    const pair = this.#issue();
    this.#options.onRotated(exchange.pid);
    if (fault === 'resetAfter') {
      exchange.dropped = true;
      return void request.socket.destroy();
    }
    if (fault === 'slowAfter') await sleep(Math.random() * 300);
    this.#answer(response, 200, pair);
  }

  /** When is left to chance; which, is not: each comes about equally often. */
  #nextFault(): (typeof FAULTS)[number] | 'none' {
    const { density } = this.#options;
    const dropEvery = Math.ceil(DROP_EVERY / density);
    if (this.rotations % dropEvery === Math.floor(dropEvery / 2)) return 'resetAfter';
    if (Math.random() >= PASSING_PART * density) return 'none';
    this.#passing += 1;
    return PASSING[this.#passing % PASSING.length] ?? 'none';
  }

  /** A spent token came back: the honest retry after a lost answer, or the mistake that must never happen. */
  #refuse(response: ServerResponse, token: string, again: Exchange): void {
    const sid = CountingServer.sessionOf(token);
    const first = this.#spent.get(token);
    const told = this.#refused.get(token);
    const { wasKilled } = this.#options;
    if (sid !== this.#sid) {
      this.#superseded.push({ seen: again.seen, pid: again.pid, by: this.#sid });
    } else if (again.wasCurrent && wasKilled(again.pid)) {
      this.late += 1;
    } else if (told !== undefined && !wasKilled(told)) {
      this.#count(`refused to ${told} before`, first, again);
    } else if (first && again.seen === first.seen && (first.dropped || wasKilled(first.pid))) {
      this.replays += 1;
      this.lost.add(sid);
    } else {
      this.#count('spent twice', first, again);
    }
    this.#refused.set(token, again.pid);
    this.#answer(response, 400, { error: 'invalid_grant', error_description: 'refresh token reuse' });
  }

  #count(what: string, first: Exchange | undefined, again: Exchange): void {
    this.reuse += 1;
    this.stories.push(`${what}: at generation ${first?.seen} by ${first?.pid}, at ${again.seen} by ${again.pid}`);
  }

  #newSession(): object {
    this.#sid += 1;
    return this.#issue();
  }

  /** The old pair is worth nothing from this moment on. */
  #issue(): object {
    this.#serial += 1;
    const secret = () => randomBytes(24).toString('base64url');
    this.#access = `at.${this.#sid}.${this.#serial}.${secret()}`;
    this.#refresh = `rt.${this.#sid}.${this.#serial}.${secret()}`;
    return {
      token_type: 'Bearer',
      access_token: this.#access,
      refresh_token: this.#refresh,
      expires_in: this.lifetime,
    };
  }

  #answer(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

const PASSING = ['slow', 'slowAfter', 'resetBefore', '429', '500', '502'] as const;
const PASSING_PART = 0.24;
/** Each of these ends a session, and signing in again takes a while. */
const DROP_EVERY = 30;

/** What a bad server or network does to a refresh; `resetAfter` drops the connection after rotating. */
export const FAULTS = [...PASSING, 'resetAfter'] as const;
