import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { target } from '../http.ts';
import type { Authenticate, Counters, RequestHandler, SandboxClient } from '../types.ts';
import { bearerToken, handleApi } from './api.ts';
import { departAtAuthorizationEndpoint } from './authorizationEndpoint.ts';
import { clientMetadata } from './clients.ts';
import { departInDiscovery } from './discovery.ts';
import { sendError } from './errors.ts';
import { Organizations } from './organizations.ts';
import { makeProvider } from './provider.ts';
import { PATHS, providerMethods } from './routes.ts';
import type { SecretRecord } from './secretRecord.ts';
import { handleSignIn } from './signIn.ts';
import { departAtTokenEndpoint } from './tokenEndpoint.ts';
import { TokenStore } from './tokenStore.ts';

export interface IdentityOptions {
  /** Remembers what the tests search for. */
  secrets: SecretRecord;
  /** The origin this half is reached at. */
  issuer: string;
  clients: { loopback: SandboxClient; link: SandboxClient };
  /** The size of the generated organization. */
  groups: number;
  roles: number;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  discovery: boolean;
  organizationList: boolean;
  counters: Counters;
  log?: ((line: string) => void) | undefined;
}

export interface Identity {
  handler: RequestHandler;
  authenticate: Authenticate;
  /** Organization ids. */
  organizations: string[];
  /** Ends every session at once; answers how many there were. */
  endSessions(): number;
  /** A long-lived bearer token for this person. */
  issueServiceToken(person: string, seconds: number): string;
}

/** The identity half: an OpenID provider and the API of the specification of the identity service behind one origin. */
export function createIdentity(options: IdentityOptions): Identity {
  const store = new TokenStore();
  const organizations = new Organizations(options);
  const provider = providerFor(options, store);
  const answer = provider.callback();
  const context = { organizations, store, organizationList: options.organizationList };

  const handler: RequestHandler = (req, res) => {
    const { path } = target(req);
    if (path === '/api' || path.startsWith('/api/')) handleApi(context, req, res, path);
    else if (path.startsWith(`${PATHS.signIn}/`)) signIn(provider, req, res, path, options.log);
    else if (offered(req, res, path, options.discovery)) void answer(req, res);
  };

  return {
    handler,
    authenticate: (header) => {
      const token = bearerToken(header);
      const person = token === undefined ? undefined : store.bearer(token);
      return person === undefined ? undefined : { person };
    },
    organizations: organizations.ids,
    endSessions: () => store.endAll(),
    issueServiceToken: (person, seconds) => store.issueServiceToken(person, seconds),
  };
}

function providerFor(options: IdentityOptions, store: TokenStore): Provider {
  const { loopback, link } = options.clients;
  const provider = makeProvider({
    issuer: options.issuer,
    clients: [clientMetadata('Rolecall', loopback), clientMetadata('Rolecall (editor link)', link)],
    store,
    accessTokenSeconds: options.accessTokenSeconds,
    refreshTokenSeconds: options.refreshTokenSeconds,
  });
  options.secrets.watch(provider);
  departAtTokenEndpoint(provider, { clientIds: [loopback.id, link.id], store, counters: options.counters });
  departAtAuthorizationEndpoint(provider);
  departInDiscovery(provider);
  provider.on('server_error', (ctx, error) => options.log?.(`identity: ${ctx.path}: ${error.stack ?? error.message}`));
  // Koa prints errors to the console unless somebody listens; its typings leave this event out.
  const koa: EventEmitter = provider;
  koa.on('error', (error: Error) => options.log?.(`identity: ${error.stack ?? error.message}`));
  return provider;
}

function signIn(
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
  path: string,
  log: ((line: string) => void) | undefined,
): void {
  handleSignIn(provider, req, res, path).catch((error: unknown) => {
    log?.(`identity: ${path}: ${String(error)}`);
    if (!res.headersSent) sendError(res, 'server_error', 'the sign-in page failed');
  });
}

/** Whether the OpenID provider is to answer; otherwise the request has been answered here. */
function offered(req: IncomingMessage, res: ServerResponse, path: string, discovery: boolean): boolean {
  const methods = providerMethods(path, discovery);
  const method = req.method ?? 'GET';
  if (methods === undefined) sendError(res, 'not_found', `There is nothing at ${path}.`);
  else if (!methods.includes(method) && method !== 'OPTIONS') {
    sendError(res, 'method_not_allowed', `${method} is not offered here.`, { Allow: methods.join(', ') });
  } else return true;
  return false;
}
