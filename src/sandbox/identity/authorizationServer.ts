import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readText, sendJson, target } from '../http.ts';
import type { Hooks, SandboxClient } from '../types.ts';
import { bearerToken, sendError } from './api.ts';
import { sendProblemPage, sendSignInPage } from './pages.ts';
import { personById } from './people.ts';
import { randomToken, type Session, type Sessions } from './sessions.ts';

/** The paths of the specification, `userinfo` and `jwks` next to them, and the sandbox's own sign-in page. */
export const PATHS = {
  authorization: '/oauth2/v2/authorization',
  token: '/oauth2/v2/token',
  userinfo: '/oauth2/v2/userinfo',
  jwks: '/oauth2/v2/jwks',
  discovery: '/.well-known/openid-configuration',
  signIn: '/sign-in/',
} as const;

const SCOPES = ['openid', 'profile', 'email'];
const CODE_LENGTH = 2000;
const CODE_MS = 60_000;
const SIGN_IN_MS = 3_600_000;

export interface AuthorizationServerOptions {
  /** The origin of this server. */
  readonly issuer: string;
  readonly clients: readonly SandboxClient[];
  readonly sessions: Sessions;
  readonly accessTokenSeconds: number;
  readonly hooks: Hooks;
}

interface AuthorizationRequest {
  readonly client: SandboxClient;
  readonly state: string | undefined;
  readonly nonce: string | undefined;
  readonly scopes: readonly string[];
  /** PKCE, method S256. */
  readonly challenge: string | undefined;
  readonly expires: number;
}

interface Code extends AuthorizationRequest {
  readonly person: string;
  /** Set when the code is exchanged, so that using the code again ends this session. */
  session?: Session;
}

class OAuthError {
  readonly error: string;
  readonly error_description: string;

  constructor(error: string, description: string) {
    this.error = error;
    this.error_description = description;
  }
}

const oauthError = (error: string, description: string): OAuthError => new OAuthError(error, description);

/**
 * The authorization code flow (RFC 6749, RFC 7636, OpenID Connect Core), with the characteristics of comparable
 * servers:
 *
 * - Redirect URIs are compared as strings. An unknown client or redirect URI results in a page with status 400, never
 *   in a redirect.
 * - No sign-in is remembered: every sign-in lets the user choose a person.
 * - Basic credentials are compared without URL-decoding them. If they are wrong, the answer is 400.
 * - No answer contains `scope` or `iss`. Only a sign-in returns an `id_token`, which is signed with ES512.
 * - A refresh token that has already been used is refused, but the current session continues.
 */
export class AuthorizationServer {
  readonly #options: AuthorizationServerOptions;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  readonly #keyId = randomBytes(8).toString('hex');
  /** Cookies are shared between the ports of a host, so each sandbox on 127.0.0.1 needs its own name. */
  readonly #cookie = `rolecall_${randomBytes(6).toString('hex')}_sign_in`;
  readonly #signIns = new Map<string, AuthorizationRequest>();
  readonly #codes = new Map<string, Code>();

  constructor(options: AuthorizationServerOptions) {
    this.#options = options;
  }

  discovery(): object {
    const { issuer } = this.#options;
    return {
      issuer,
      authorization_endpoint: issuer + PATHS.authorization,
      token_endpoint: issuer + PATHS.token,
      userinfo_endpoint: issuer + PATHS.userinfo,
      jwks_uri: issuer + PATHS.jwks,
      scopes_supported: SCOPES,
      claims_supported: ['sub', 'name', 'email', 'email_verified'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES512'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
    };
  }

  jwks(): object {
    const key = this.#keys.publicKey.export({ format: 'jwk' });
    return { keys: [{ ...key, alg: 'ES512', use: 'sig', kid: this.#keyId }] };
  }

  /** GET redirects to the sign-in page, or back to the client with an error. */
  authorize(req: IncomingMessage, res: ServerResponse): void {
    const { query } = target(req);
    this.#reportSecrets(query.get('state'), query.get('nonce'));
    const client = this.#options.clients.find(({ id }) => id === query.get('client_id'));
    if (client === undefined || client.redirectUri !== query.get('redirect_uri')) {
      const reason = client === undefined ? 'The client is not registered.' : 'The redirect URI is not registered.';
      sendProblemPage(
        res,
        400,
        'This sign-in can’t continue',
        `${reason} Close this page and start again in the editor.`,
      );
      return;
    }
    const state = query.get('state') ?? undefined;
    const problem = problemOf(query);
    if (problem) {
      redirect(res, callbackUrl(client, { ...problem, state }));
      return;
    }
    const uid = randomUUID();
    prune(this.#signIns);
    this.#signIns.set(uid, {
      client,
      state,
      nonce: query.get('nonce') ?? undefined,
      scopes: (query.get('scope') ?? '').split(' ').filter((scope) => SCOPES.includes(scope)),
      challenge: query.get('code_challenge') ?? undefined,
      expires: Date.now() + SIGN_IN_MS,
    });
    const path = PATHS.signIn + uid;
    redirect(res, path, `${this.#cookie}=${uid}; Path=${path}; HttpOnly; SameSite=Lax`);
  }

  /** GET shows the people, POST submits the choice. There is no separate consent page. */
  async signInPage(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { path } = target(req);
    const uid = path.slice(PATHS.signIn.length);
    const request = this.#signIns.get(uid);
    const isSameBrowser = (req.headers.cookie ?? '').split('; ').includes(`${this.#cookie}=${uid}`);
    if (!request || !isSameBrowser || request.expires <= Date.now()) {
      sendProblemPage(
        res,
        400,
        'This sign-in has ended',
        'It was completed or has expired. Start again in the editor.',
      );
      return;
    }
    if (req.method === 'GET') {
      sendSignInPage(res, path);
      return;
    }
    const form = new URLSearchParams(await readText(req));
    const person = personById(form.get('person') ?? '');
    if (person === undefined && !form.has('cancel')) {
      sendProblemPage(res, 400, 'Unknown person', 'Go back and choose one of the people on the page.');
      return;
    }
    this.#signIns.delete(uid);
    const { client, state } = request;
    if (person === undefined) {
      const error_description = 'The sign-in was cancelled.';
      sendCallback(req, res, callbackUrl(client, { error: 'access_denied', error_description, state }));
      return;
    }
    const code = randomToken(CODE_LENGTH);
    this.#reportSecrets(code);
    prune(this.#codes);
    this.#codes.set(code, { ...request, person: person.id, expires: Date.now() + CODE_MS });
    sendCallback(req, res, callbackUrl(client, { code, state }));
  }

  /** POST with a form. */
  async token(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await readText(req);
    const isForm = /^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? '');
    const form = new URLSearchParams(isForm ? text : '');
    this.#reportSecrets(...['code', 'code_verifier', 'client_secret', 'refresh_token'].map((name) => form.get(name)));
    const client = isForm ? this.#clientOf(req, form) : oauthError('invalid_request', 'the body must be a form');
    const answer = client instanceof OAuthError ? client : this.#grant(client, form);
    sendJson(res, answer instanceof OAuthError ? 400 : 200, answer, { 'Cache-Control': 'no-store' });
  }

  userinfo(req: IncomingMessage, res: ServerResponse): void {
    const session = this.#options.sessions.of(bearerToken(req.headers.authorization) ?? '');
    if (session === undefined) {
      sendError(res, 'access_denied', 'token is invalid, expired or superseded', {
        'WWW-Authenticate': 'Bearer error="invalid_token"',
      });
    } else if (!session.grant.scopes.includes('openid')) {
      sendError(res, 'forbidden', 'the scope openid was not granted');
    } else {
      sendJson(res, 200, claimsOf(session));
    }
  }

  #clientOf(req: IncomingMessage, form: URLSearchParams): SandboxClient | OAuthError {
    const credentials = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(req.headers.authorization ?? '')?.[1];
    const [id, secret] =
      credentials === undefined
        ? [form.get('client_id'), form.get('client_secret')]
        : Buffer.from(credentials, 'base64').toString('utf8').split(/:(.*)/s);
    const client = this.#options.clients.find((each) => each.id === id);
    if (!client && credentials !== undefined) return oauthError('invalid_grant', 'client_id mismatch');
    if (!secret) return oauthError('invalid_request', 'client secret not set');
    return client?.secret === secret ? client : oauthError('invalid_request', 'client id or secret invalid');
  }

  #grant(client: SandboxClient, form: URLSearchParams): object | OAuthError {
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return this.#exchange(client, form);
      case 'refresh_token':
        return this.#refresh(client, form.get('refresh_token') ?? '');
      default:
        return oauthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
    }
  }

  #exchange(client: SandboxClient, form: URLSearchParams): object | OAuthError {
    const { sessions, hooks } = this.#options;
    const code = this.#codes.get(form.get('code') ?? '');
    if (code?.session) {
      sessions.end(code.session); // RFC 6749, section 4.1.2: revoke the tokens of a code that is used twice.
      return oauthError('invalid_grant', 'code has been used');
    }
    if (!code || code.expires <= Date.now() || code.client !== client) {
      return oauthError('invalid_grant', 'code is invalid or expired');
    }
    if (form.get('redirect_uri') !== client.redirectUri) return oauthError('invalid_grant', 'redirect_uri mismatch');
    const verifier = form.get('code_verifier') ?? undefined;
    const challenge = verifier === undefined ? undefined : createHash('sha256').update(verifier).digest('base64url');
    if (challenge !== code.challenge)
      return oauthError('invalid_client', 'code_verifier does not match code_challenge');
    const session = sessions.signIn({ client: client.id, person: code.person, scopes: code.scopes });
    code.session = session;
    hooks.count?.('signIns');
    const tokens = this.#tokens(session);
    if (!code.scopes.includes('openid')) return tokens;
    const id_token = this.#idToken(session, code.nonce);
    this.#reportSecrets(id_token);
    return { ...tokens, id_token };
  }

  #refresh(client: SandboxClient, token: string): object | OAuthError {
    const { sessions, hooks } = this.#options;
    const session = sessions.refresh(client.id, token);
    if (!('reason' in session)) {
      hooks.count?.('refreshes');
      return this.#tokens(session);
    }
    const { reason } = session;
    hooks.count?.('refreshes.refused');
    if (reason === 'spent') hooks.count?.('refreshes.reused');
    if (reason === 'superseded') hooks.count?.('refreshes.superseded');
    // The service only stores the current refresh token, so it cannot tell spent and superseded ones apart.
    if (reason === 'spent' || reason === 'superseded') return oauthError('invalid_grant', 'refresh token reuse');
    return oauthError('invalid_grant', reason === 'expired' ? 'refresh token is expired' : 'refresh token not found');
  }

  #tokens({ access, refresh }: Session): object {
    this.#reportSecrets(access.token, refresh.token);
    return {
      token_type: 'Bearer',
      access_token: access.token,
      refresh_token: refresh.token,
      expires_in: this.#options.accessTokenSeconds,
    };
  }

  /** A JSON Web Signature with ES512 (RFC 7515; RFC 7518, section 3.4). */
  #idToken(session: Session, nonce: string | undefined): string {
    const { issuer, accessTokenSeconds } = this.#options;
    const iat = Math.floor(Date.now() / 1000);
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = encode({ alg: 'ES512', typ: 'JWT', kid: this.#keyId });
    const times = { iat, exp: iat + accessTokenSeconds };
    const signingInput = `${header}.${encode({ iss: issuer, aud: session.grant.client, ...claimsOf(session), nonce, ...times })}`;
    const key = { key: this.#keys.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${signingInput}.${sign('sha512', Buffer.from(signingInput), key).toString('base64url')}`;
  }

  #reportSecrets(...secrets: readonly (string | null)[]): void {
    for (const secret of secrets) if (secret) this.#options.hooks.onSecret?.(secret);
  }
}

/** The error that is sent to the redirect URI if the server cannot fulfill the authorization request. */
function problemOf(query: URLSearchParams): OAuthError | undefined {
  if (query.get('response_type') !== 'code') {
    return oauthError('unsupported_response_type', 'response_type must be code');
  }
  if (query.has('code_challenge') && query.get('code_challenge_method') !== 'S256') {
    return oauthError('invalid_request', 'code_challenge_method must be S256');
  }
  return query.get('prompt') === 'none' ? oauthError('login_required', 'nobody is remembered here') : undefined;
}

/** The redirect URI exactly as registered, followed by `?` and the form-encoded parameters. */
function callbackUrl(client: SandboxClient, parameters: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${client.redirectUri}?${new URLSearchParams(entries)}`;
}

/** Sends the address to the script of the sign-in page; without the script, redirects the browser. */
function sendCallback(req: IncomingMessage, res: ServerResponse, location: string): void {
  if (req.headers.accept === 'application/json') sendJson(res, 200, { location }, { 'Cache-Control': 'no-store' });
  else redirect(res, location);
}

function redirect(res: ServerResponse, location: string, cookie?: string): void {
  res.writeHead(303, {
    Location: location,
    'Cache-Control': 'no-store',
    'Content-Length': '0',
    ...(cookie !== undefined && { 'Set-Cookie': cookie }),
  });
  res.end();
}

function claimsOf({ grant: { person, scopes } }: Session): object {
  const { name, email } = personById(person) ?? {};
  return {
    sub: person,
    ...(scopes.includes('profile') && { name }),
    ...(scopes.includes('email') && { email, email_verified: true }),
  };
}

/** Removes expired entries, because a sandbox may run for days. */
function prune(entries: Map<string, { readonly expires: number }>): void {
  for (const [key, { expires }] of entries) if (expires <= Date.now()) entries.delete(key);
}
