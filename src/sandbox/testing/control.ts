import type { IncomingMessage, ServerResponse } from 'node:http';
import { readText, sendJson, target } from '../http.ts';
import type { RequestHandler } from '../types.ts';
import { FaultSyntaxError, type FaultTable } from './faults.ts';

/** What the control server gives tests access to. */
export interface Controlled {
  faults: FaultTable;
  counters: CounterTable;
  secrets: SecretLog;
  bodies: RequestLog;
  endSessions(): number;
  /** Issues a long-lived bearer token for a person, or returns `undefined` if there is no such person. */
  issueServiceToken(person: string, seconds: number): string | undefined;
}

/**
 * Lets tests control the sandbox. All paths start with a random segment. Any other path is answered with 404.
 *
 * | request                | effect                                                                                  |
 * |------------------------|-----------------------------------------------------------------------------------------|
 * | `POST /faults`         | adds a fault or an array of faults (`faults.ts`); returns the active faults             |
 * | `GET /faults`          | returns the active faults                                                               |
 * | `DELETE /faults`       | removes all faults                                                                      |
 * | `GET /counters`        | returns the counters as one flat object                                                 |
 * | `DELETE /counters`     | resets the counters                                                                     |
 * | `GET /secrets`         | returns every token, code, verifier, state, nonce and secret that was sent or received  |
 * | `GET /completions`     | returns the bodies of the last completion requests, oldest first (at most 50 and 4 MiB) |
 * | `POST /sessions/end`   | ends all sessions and revokes all service tokens; returns `{ended}`                     |
 * | `POST /service-tokens` | `{person, seconds?}` → `{token, expires_in}`: issues a long-lived bearer token          |
 */
export function controlHandler(key: string, controlled: Controlled): RequestHandler {
  return (req, res) => {
    const { path } = target(req);
    const action = path.startsWith(`/${key}/`) ? ACTIONS[`${req.method} ${path.slice(key.length + 1)}`] : undefined;
    if (action === undefined) {
      req.resume();
      sendJson(res, 404, { error: 'not_found', error_description: 'There is nothing here.' });
      return;
    }
    run(action, controlled, req, res).catch((error: unknown) => {
      const isBadRequest =
        error instanceof FaultSyntaxError || error instanceof SyntaxError || error instanceof RangeError;
      const error_description = error instanceof Error ? error.message : String(error);
      sendJson(res, isBadRequest ? 400 : 500, {
        error: isBadRequest ? 'invalid_request' : 'server_error',
        error_description,
      });
    });
  };
}

/** Returns the body of the answer, or `undefined` to answer 204. */
type Action = (controlled: Controlled, body: unknown) => unknown;

const ACTIONS: Record<string, Action> = {
  'GET /faults': ({ faults }) => faults.list(),
  'POST /faults': ({ faults }, body) => {
    for (const fault of Array.isArray(body) ? body : [body]) faults.add(fault);
    return faults.list();
  },
  'DELETE /faults': ({ faults }) => faults.clear(),
  'GET /counters': ({ counters }) => counters.toJSON(),
  'DELETE /counters': ({ counters }) => counters.clear(),
  'GET /secrets': ({ secrets }) => secrets.toJSON(),
  'GET /completions': ({ bodies }) => bodies.toJSON(),
  'POST /sessions/end': (controlled) => ({ ended: controlled.endSessions() }),
  'POST /service-tokens': (controlled, body) => {
    const { person, seconds = 90 * 24 * 3600 } = (body ?? {}) as { person?: unknown; seconds?: unknown };
    const token =
      typeof person === 'string' && typeof seconds === 'number'
        ? controlled.issueServiceToken(person, seconds)
        : undefined;
    if (token === undefined) throw new RangeError('person must be one of the people, seconds a number.');
    return { token, expires_in: seconds };
  },
};

async function run(action: Action, controlled: Controlled, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const text = await readText(req);
  const answer = action(controlled, text === '' ? undefined : JSON.parse(text));
  if (answer === undefined) {
    res.writeHead(204);
    res.end();
  } else {
    sendJson(res, 200, answer, { 'Cache-Control': 'no-store' });
  }
}

/**
 * Counters for tests to read. Both services have `requests.<service>`, `<service> <METHOD> <path>`, `host <Host
 * header>`, `faults.<kind>`, `status.<service>.<status>`, `unauthorized.<service>` (answers with 401),
 * `streams.<service>.opened`, `.ended`, `.aborted` (closed early by the client), `.cut` (closed early by a fault) and
 * the gauge `.open`. Each service adds counters of its own.
 */
export class CounterTable {
  readonly #values = new Map<string, number>();

  readonly count = (name: string, by = 1): void => {
    this.#values.set(name, this.get(name) + by);
  };

  get(name: string): number {
    return this.#values.get(name) ?? 0;
  }

  /** Resets the counters. Gauges (`….open`) keep their value, because what is open stays open. */
  clear(): void {
    for (const name of this.#values.keys()) {
      if (!name.endsWith('.open')) this.#values.delete(name);
    }
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const MAX_SECRETS = 10_000;

/** The secrets that were sent or received. Tests search for them in everything that a run leaves behind. */
export class SecretLog {
  readonly #values = new Set<string>();

  add(value: string): void {
    if (this.#values.size < MAX_SECRETS) this.#values.add(value);
  }

  toJSON(): string[] {
    return [...this.#values];
  }
}

/** Limits for all bodies together, because a sandbox may run for days. The size is that of the JSON in UTF-8. */
const MAX_BODIES = 50;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps the last completion requests, oldest first, for tests of what a client really sends to a model. A body that is
 * too long is dropped together with all earlier ones, so that the log has no gaps.
 */
export class RequestLog {
  /** Serialized, because the memory that an object takes is unknown. */
  readonly #bodies: Buffer[] = [];
  #bytes = 0;

  /** @param body a JSON value. */
  add(body: unknown): void {
    const text = Buffer.from(JSON.stringify(body));
    this.#bodies.push(text);
    this.#bytes += text.length;
    while (this.#bodies.length > MAX_BODIES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#bodies.shift()?.length ?? 0;
  }

  toJSON(): readonly unknown[] {
    return this.#bodies.map((text) => JSON.parse(text.toString()));
  }
}
