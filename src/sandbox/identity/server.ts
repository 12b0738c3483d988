import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson, target } from '../http.ts';
import type { Authenticate, Hooks, RequestHandler, SandboxClient } from '../types.ts';
import { bearerToken, handleApi, Organizations, sendError } from './api.ts';
import { AuthorizationServer, PATHS } from './authorizationServer.ts';
import { Sessions } from './sessions.ts';

export interface IdentityOptions {
  /** The origin of this service. */
  issuer: string;
  clients: { loopback: SandboxClient; link: SandboxClient };
  /** The size of the generated organization. */
  groups: number;
  roles: number;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  discovery: boolean;
  organizationList: boolean;
  hooks: Hooks;
  log?: ((line: string) => void) | undefined;
}

export interface Identity {
  handler: RequestHandler;
  authenticate: Authenticate;
  /** Organization ids. */
  organizations: string[];
  sessions: Sessions;
}

interface Route {
  readonly methods: readonly string[];
  readonly answer: (req: IncomingMessage, res: ServerResponse) => unknown;
}

/** Creates the identity service: an OpenID provider and the specified API on one origin. */
export function createIdentity(options: IdentityOptions): Identity {
  const sessions = new Sessions(options);
  const organizations = new Organizations(options);
  const clients = Object.values(options.clients);
  const server = new AuthorizationServer({ ...options, clients, sessions });
  const context = { organizations, sessions, organizationList: options.organizationList };
  const json = (body: () => object) => (_: IncomingMessage, res: ServerResponse) => sendJson(res, 200, body());
  const routes: Readonly<Record<string, Route>> = {
    [PATHS.authorization]: { methods: ['GET'], answer: (req, res) => server.authorize(req, res) },
    [PATHS.token]: { methods: ['POST'], answer: (req, res) => server.token(req, res) },
    [PATHS.userinfo]: { methods: ['GET', 'POST'], answer: (req, res) => server.userinfo(req, res) },
    [PATHS.jwks]: { methods: ['GET'], answer: json(() => server.jwks()) },
    [PATHS.signIn]: { methods: ['GET', 'POST'], answer: (req, res) => server.signInPage(req, res) },
    ...(options.discovery && { [PATHS.discovery]: { methods: ['GET'], answer: json(() => server.discovery()) } }),
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { path } = target(req);
    if (path === '/api' || path.startsWith('/api/')) return handleApi(context, req, res, path);
    const route = routes[path.startsWith(PATHS.signIn) ? PATHS.signIn : path];
    if (route === undefined) sendError(res, 'not_found', `There is nothing at ${path}.`);
    else if (!route.methods.includes(req.method ?? '')) {
      sendError(res, 'method_not_allowed', `${req.method} is not offered here.`, { Allow: route.methods.join(', ') });
    } else await route.answer(req, res);
  };

  return {
    handler: (req, res) => {
      answer(req, res).catch((error: unknown) => {
        options.log?.(`identity: ${target(req).path}: ${error instanceof Error ? error.stack : String(error)}`);
        if (!res.headersSent) sendError(res, 'server_error', 'the identity service failed');
      });
    },
    authenticate: (header) => {
      const token = bearerToken(header);
      const person = token === undefined ? undefined : sessions.bearer(token);
      return person === undefined ? undefined : { person };
    },
    organizations: organizations.ids,
    sessions,
  };
}
