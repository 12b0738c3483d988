import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendBody, sendJson } from '../http.ts';
import { BIG_SKY, bigSky } from './bigSky.ts';
import { MERIDIAN } from './meridian.ts';
import { type Person, personById } from './people.ts';
import type { Organization } from './resources.ts';
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

const EMPTY_NEST: Organization = {
  id: 'empty-nest',
  name: 'Empty Nest',
  description: 'An organization nobody has set up yet.',
  creationTime: '2026-02-28T12:00:00Z',
  groups: [],
  roles: [],
};

type List = 'groups' | 'roles';

/** The organizations of one sandbox; every answer is serialized once, on first demand. */
export class Organizations {
  readonly #make: Map<string, () => Organization>;
  readonly #summaries: readonly Omit<Organization, List>[];
  readonly #made = new Map<string, Organization>();
  readonly #bodies = new Map<string, Buffer>();

  constructor(size: { groups: number; roles: number }) {
    this.#make = new Map([
      [MERIDIAN.id, () => MERIDIAN],
      [EMPTY_NEST.id, () => EMPTY_NEST],
      [BIG_SKY.id, () => bigSky(size.groups, size.roles)],
    ]);
    this.#summaries = [MERIDIAN, EMPTY_NEST, BIG_SKY];
  }

  get ids(): string[] {
    return [...this.#make.keys()];
  }

  /**
   * The JSON body of a list operation, or `undefined` for an unknown organization. No groups are `[]` while no roles
   * are `null`: that is what the specified version of the service sends (what servers of this kind do).
   */
  body(id: string, list: List): Buffer | undefined {
    const make = this.#make.get(id);
    if (make === undefined) return undefined;
    const key = `${id}/${list}`;
    let body = this.#bodies.get(key);
    if (body === undefined) {
      const organization = this.#made.get(id) ?? make();
      this.#made.set(id, organization);
      const items = organization[list];
      body = Buffer.from(list === 'roles' && items.length === 0 ? 'null' : JSON.stringify(items));
      this.#bodies.set(key, body);
    }
    return body;
  }

  /** The unspecified list of organizations: `[{metadata, spec: {}}]`, only those named. */
  summaries(ids: readonly string[]): object[] {
    return this.#summaries
      .filter((summary) => ids.includes(summary.id))
      .map(({ id, name, description, creationTime }) => ({
        metadata: { id, name, description, creationTime, provisioningStatus: 'provisioned', healthStatus: 'healthy' },
        spec: {},
      }));
  }
}

/** The values of `error` in the identity specification's "Errors" that the sandbox uses for its own answers. */
export type ApiError =
  | 'invalid_request'
  | 'server_error'
  | 'access_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'forbidden';

const STATUS: Record<ApiError, number> = {
  invalid_request: 400,
  access_denied: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  server_error: 500,
};

/** Answers with the error object of the specification; both members are always there. */
export function sendError(
  res: ServerResponse,
  error: ApiError,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(res, STATUS[error], { error, error_description: description }, { 'Cache-Control': 'no-store', ...headers });
}

/** The bearer token of an `Authorization` header (RFC 6750 section 2.1); `undefined` where there is none. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1];
}
