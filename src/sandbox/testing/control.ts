import type { IncomingMessage, ServerResponse } from 'node:http';
import { readText, sendJson, target } from '../http.ts';
import type { RequestHandler } from '../types.ts';
import { FaultSyntaxError, type FaultTable } from './faults.ts';

/** What the control server steers. */
export interface Controlled {
  faults: FaultTable;
  counters: CounterTable;
  secrets: SecretLog;
  bodies: RequestLog;
  endSessions(): number;
  /** A long-lived bearer token for a person; `undefined` when there is no such person. */
  issueServiceToken(person: string, seconds: number): string | undefined;
}

/**
 * The tests' remote control, under one random path segment; without it everything is 404.
 *
 * | request                | what it does                                                                       |
 * |------------------------|------------------------------------------------------------------------------------|
 * | `POST /faults`         | adds a fault (`faults.ts`), or each of an array; answers the faults in force          |
 * | `GET /faults`          | the faults in force                                                                |
 * | `DELETE /faults`       | removes them all                                                                   |
 * | `GET /counters`        | the counters, one flat object                                                      |
 * | `DELETE /counters`     | starts counting over                                                               |
 * | `GET /secrets`         | every token, code, verifier, state, nonce and secret seen on the wire, for canary tests |
 * | `GET /completions`     | the bodies of the last requests for a completion, oldest first: 50, and 4 MiB in all |
 * | `POST /sessions/end`   | ends every session and service token; answers `{ended}`                            |
 * | `POST /service-tokens` | `{person, seconds?}` → `{token, expires_in}`: a long-lived bearer outside of sessions |
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
      const asked = error instanceof FaultSyntaxError || error instanceof SyntaxError || error instanceof RangeError;
      const error_description = error instanceof Error ? error.message : String(error);
      sendJson(res, asked ? 400 : 500, { error: asked ? 'invalid_request' : 'server_error', error_description });
    });
  };
}

/** The answer's body; `undefined` answers 204. */
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
 * Named numbers for tests to read. Counted for both services: `requests.<service>`, `<service> <METHOD> <path>`,
 * `host <Host header>`, `faults.<kind>`, `unauthorized.<service>` (answers with 401), `streams.<service>.opened`, `.ended`,
 * `.aborted` (the client closed before the end), `.cut` (a fault did) and the gauge `.open`; and what the halves count.
 */
export class CounterTable {
  readonly #values = new Map<string, number>();

  readonly count = (name: string, by = 1): void => {
    this.#values.set(name, this.get(name) + by);
  };

  get(name: string): number {
    return this.#values.get(name) ?? 0;
  }

  /** Starts over. Gauges (`…open`) keep their value: what is open stays open. */
  clear(): void {
    for (const name of this.#values.keys()) {
      if (!name.endsWith('.open')) this.#values.delete(name);
    }
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const MOST_SECRETS = 10_000;

/** The secrets that went over the wire, for tests that search what a run left behind for them. */
export class SecretLog {
  readonly #values = new Set<string>();

  add(value: string): void {
    if (this.#values.size < MOST_SECRETS) this.#values.add(value);
  }

  toJSON(): string[] {
    return [...this.#values];
  }
}

/** How many bodies, and bytes of all of them as JSON in UTF-8, at most: a sandbox may run for days. */
const MOST_BODIES = 50;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Remembers the last requests for a completion, oldest first, for tests of what a client really tells a model. One that
 * is too long is forgotten with all before it: what is remembered has no holes.
 */
export class RequestLog {
  /** As text: the memory that an object takes is unknown. */
  readonly #bodies: Buffer[] = [];
  #bytes = 0;

  /** @param body a JSON value. */
  add(body: unknown): void {
    const text = Buffer.from(JSON.stringify(body));
    this.#bodies.push(text);
    this.#bytes += text.length;
    while (this.#bodies.length > MOST_BODIES || this.#bytes > MOST_BYTES)
      this.#bytes -= this.#bodies.shift()?.length ?? 0;
  }

  toJSON(): readonly unknown[] {
    return this.#bodies.map((text) => JSON.parse(text.toString()));
  }
}
