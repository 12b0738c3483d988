import type { IncomingMessage, ServerResponse } from 'node:http';
import { readText, sendJson, target } from '../http.ts';
import type { RequestHandler } from '../types.ts';
import { FaultSyntaxError, type FaultTable } from './faults.ts';
import type { BodyRecord, CounterTable, SecretRecord } from './records.ts';

/** What the control server steers. */
export interface Controlled {
  faults: FaultTable;
  counters: CounterTable;
  secrets: SecretRecord;
  bodies: BodyRecord;
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
