import { MockAgent, fetch as undiciFetch } from 'undici';
import type { Fetch } from '../../../../src/core/base/http.ts';

export const ORIGIN = 'https://identity.example.com';

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** Instead of an answer: the connection fails so. */
  readonly failure?: Error;
}

/** What one request was, as the service saw it. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly origin: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * A service that answers from a list per method and path, each answer once and in order. Whatever else is asked, or asked
 * of another host, fails the request; {@link MockService.rest} tells what nobody asked for.
 */
export class MockService {
  readonly #agent = new MockAgent({ enableCallHistory: true });
  readonly fetch: Fetch;

  constructor() {
    this.#agent.disableNetConnect();
    this.fetch = ((url: string, init: object) =>
      undiciFetch(url, { ...init, dispatcher: this.#agent })) as unknown as Fetch;
  }

  on(method: 'GET' | 'POST', path: string, ...replies: readonly Reply[]): this {
    for (const { status, body = '', headers = {}, delay = 0, failure } of replies) {
      const interceptor = this.#agent.get(ORIGIN).intercept({ method, path });
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const type = typeof body === 'string' ? 'text/html' : 'application/json';
      if (failure) {
        interceptor.replyWithError(failure);
        continue;
      }
      const scope = interceptor.reply(status, text, { headers: { 'content-type': type, ...headers } });
      if (delay > 0) scope.delay(delay);
    }
    return this;
  }

  get requests(): readonly Request[] {
    return (this.#agent.getCallHistory()?.calls() ?? []).map(({ method, path, origin, headers, body }) => ({
      method: String(method),
      path: String(path),
      origin: String(origin),
      headers: { ...(headers as Record<string, string>) },
      body: String(body ?? ''),
    }));
  }

  /** `METHOD path` of every request, in order. */
  get asked(): readonly string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** Answers that were prepared and never asked for. */
  get rest(): number {
    return this.#agent.pendingInterceptors().length;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}
