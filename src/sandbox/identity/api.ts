import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendBody, sendJson } from '../http.ts';
import { bearerToken, sendError } from './errors.ts';
import type { Organizations } from './organizations.ts';
import { type Person, personById } from './people.ts';
import type { Sessions } from './sessions.ts';

const LIST = /^\/api\/v1\/organizations\/([^/]+)\/(groups|roles)$/;
const ORGANIZATIONS = '/api/v1/organizations';

export interface ApiContext {
  organizations: Organizations;
  sessions: Sessions;
  /** Whether the unspecified list of organizations is there. */
  organizationList: boolean;
}

/** The two operations of the identity specification's "Endpoints", and the unspecified list of the caller's organizations. */
export function handleApi(context: ApiContext, req: IncomingMessage, res: ServerResponse, path: string): void {
  const list = LIST.exec(path);
  if (list === null && !(path === ORGANIZATIONS && context.organizationList)) {
    sendError(res, 'not_found', `There is nothing at ${path}.`);
  } else if (req.method !== 'GET') {
    sendError(res, 'method_not_allowed', `${req.method} is not offered here.`, { Allow: 'GET' });
  } else {
    const caller = callerOf(context.sessions, req, res);
    if (caller === undefined) return;
    if (list === null) sendOrganizations(context, res, caller);
    else sendList(context, res, caller, list[1] ?? '', list[2] as 'groups' | 'roles');
  }
}

/** The specified version answers 400, not 401, to a request that does not even try to authenticate (what servers of this kind do). */
function callerOf(sessions: Sessions, req: IncomingMessage, res: ServerResponse): Person | undefined {
  const header = req.headers.authorization;
  if (header === undefined) {
    sendError(res, 'invalid_request', 'authorization header missing');
    return undefined;
  }
  const token = bearerToken(header);
  if (token === undefined) {
    sendError(res, 'invalid_request', 'authorization header malformed');
    return undefined;
  }
  const person = personById(sessions.bearer(token) ?? '');
  if (person === undefined) {
    sendError(res, 'access_denied', 'token is invalid, expired or superseded', {
      'WWW-Authenticate': 'Bearer error="invalid_token"',
    });
  }
  return person;
}

function sendOrganizations({ organizations }: ApiContext, res: ServerResponse, caller: Person): void {
  sendJson(res, 200, organizations.summaries([...caller.administers, ...caller.belongsTo]));
}

/** An unknown organization and one the caller has no business in look the same: forbidden. */
function sendList(
  { organizations }: ApiContext,
  res: ServerResponse,
  caller: Person,
  segment: string,
  list: 'groups' | 'roles',
): void {
  const id = decodeSegment(segment);
  const body = caller.administers.includes(id) ? organizations.body(id, list) : undefined;
  if (body === undefined) sendError(res, 'forbidden', `not allowed to read the ${list} of this organization`);
  else sendBody(res, 200, body, 'application/json');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
