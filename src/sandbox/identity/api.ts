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
  /** Whether `/api/v1/organizations`, which is not in the specification, exists. */
  organizationList: boolean;
}

/**
 * Handles the two operations of the API (identity specification, "Endpoints") and the list of the caller's
 * organizations, which is not in the specification.
 */
export function handleApi(context: ApiContext, req: IncomingMessage, res: ServerResponse, path: string): void {
  const match = LIST.exec(path);
  if (match === null && !(path === ORGANIZATIONS && context.organizationList)) {
    sendError(res, 'not_found', `There is nothing at ${path}.`);
  } else if (req.method !== 'GET') {
    sendError(res, 'method_not_allowed', `${req.method} is not offered here.`, { Allow: 'GET' });
  } else {
    const caller = callerOf(context.sessions, req, res);
    if (caller === undefined) return;
    if (match === null) sendOrganizations(context, res, caller);
    else sendList(context, res, caller, match[1] ?? '', match[2] as 'groups' | 'roles');
  }
}

/**
 * Returns the person who sends the request, or answers it with an error. If the header is missing or malformed, the
 * specified version of the service answers 400 instead of 401, as comparable services do.
 */
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

/** Answers 403 whether the organization is unknown or the caller may not read it, so that callers cannot tell which. */
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

/** The organizations of a sandbox. Each list is serialized once, when it is first requested. */
export class Organizations {
  readonly #factories: Map<string, () => Organization>;
  readonly #summaries: readonly Omit<Organization, List>[];
  readonly #organizations = new Map<string, Organization>();
  readonly #bodies = new Map<string, Buffer>();

  constructor(size: { groups: number; roles: number }) {
    this.#factories = new Map([
      [MERIDIAN.id, () => MERIDIAN],
      [EMPTY_NEST.id, () => EMPTY_NEST],
      [BIG_SKY.id, () => bigSky(size.groups, size.roles)],
    ]);
    this.#summaries = [MERIDIAN, EMPTY_NEST, BIG_SKY];
  }

  get ids(): string[] {
    return [...this.#factories.keys()];
  }

  /**
   * The JSON body of a list operation, or `undefined` if the organization is unknown. The specified version of the
   * service sends `[]` if there are no groups but `null` if there are no roles, as comparable services do.
   */
  body(id: string, list: List): Buffer | undefined {
    const createOrganization = this.#factories.get(id);
    if (createOrganization === undefined) return undefined;
    const key = `${id}/${list}`;
    let body = this.#bodies.get(key);
    if (body === undefined) {
      const organization = this.#organizations.get(id) ?? createOrganization();
      this.#organizations.set(id, organization);
      const items = organization[list];
      body = Buffer.from(list === 'roles' && items.length === 0 ? 'null' : JSON.stringify(items));
      this.#bodies.set(key, body);
    }
    return body;
  }

  /** The organizations with the given ids, as `[{metadata, spec: {}}]`. This list is not in the specification. */
  summaries(ids: readonly string[]): object[] {
    return this.#summaries
      .filter((summary) => ids.includes(summary.id))
      .map(({ id, name, description, creationTime }) => ({
        metadata: { id, name, description, creationTime, provisioningStatus: 'provisioned', healthStatus: 'healthy' },
        spec: {},
      }));
  }
}

/** The values of `error` that the sandbox uses for its own answers (identity specification, "Errors"). */
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

/** Sends the error object of the specification. Both of its members are always present. */
export function sendError(
  res: ServerResponse,
  error: ApiError,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(res, STATUS[error], { error, error_description: description }, { 'Cache-Control': 'no-store', ...headers });
}

/** The bearer token of an `Authorization` header (RFC 6750, section 2.1), or `undefined` if there is none. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1];
}
