import * as l10n from '@vscode/l10n';
import * as oauth from 'openid-client';
import { isLoopback } from '../base/addresses.ts';
import type { Connection } from '../base/connection.ts';
import { asRolecallError, RolecallError, sanitizeServerMessage, withServerMessage } from '../base/errors.ts';
import { type Fetch, type HttpResponse, originOf, sendRequest } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { redactValues } from '../base/redact.ts';
import { failedService, translateOAuthError } from './oauthErrors.ts';
import type { TokenGrant } from './session.ts';

const DEADLINE_MS = 30_000;
/** Shorter, because a refresh waits for discovery, which is optional. */
const DISCOVERY_DEADLINE_MS = 10_000;
const MAX_BYTES = 1_000_000;
/** The parts of a page that a browser does not show. An element that is never closed reaches to the end of the page. */
const UNSHOWN = /<(style|script|title)\b(?:[\s\S]*?<\/\1>|[\s\S]*)/gi;

/** What must be kept of a sign-in until its answer arrives: data, so that another window can finish it. */
export interface PendingSignIn {
  /** base64url, so that no editor or proxy re-encodes it. */
  readonly state: string;
  /** Only when `openid` is asked for: without an id_token there is nothing to compare it with. */
  readonly nonce?: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
}

export interface AuthorizationServerDeps {
  readonly fetch: Fetch;
  readonly log: Log;
  readonly connection: Connection;
  /** The client secret; the services of this kind want one even with PKCE. */
  readonly clientSecret: string | undefined;
}

interface FetchOptions {
  readonly deadlineMs?: number;
  readonly amend?: (body: URLSearchParams) => void;
}

/** A fresh state, nonce and PKCE verifier (RFC 7636). */
export function newSignIn(connection: Connection): PendingSignIn {
  const openid = connection.scope.split(/\s+/).includes('openid');
  return {
    state: oauth.randomState(),
    ...(openid && { nonce: oauth.randomNonce() }),
    codeVerifier: oauth.randomPKCECodeVerifier(),
    redirectUri: connection.redirectUri,
  };
}

/**
 * The identity service's OAuth side: the only file that knows openid-client. Uses discovery where it answers and the
 * specification's endpoints where it does not (specification of the identity service, Authentication).
 */
export class AuthorizationServer {
  readonly #deps: AuthorizationServerDeps;
  #metadata: oauth.ServerMetadata | undefined;

  constructor(deps: AuthorizationServerDeps) {
    this.#deps = deps;
  }

  /** The address to open in the user's browser. */
  async authorizationUrl(pending: PendingSignIn, signal: AbortSignal): Promise<URL> {
    const { connection } = this.#deps;
    const config = await this.#configuration(signal);
    return oauth.buildAuthorizationUrl(config, {
      redirect_uri: pending.redirectUri,
      state: pending.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
      ...(connection.scope && { scope: connection.scope }),
      ...(pending.nonce && { nonce: pending.nonce }),
    });
  }

  /**
   * Asks for the provider's page once before the user sees it. An unknown client or another redirect URI than the
   * registered one gets an HTML 400 there, and never a redirect (RFC 6749 section 4.1.2.1): better reported here.
   *
   * @throws RolecallError `configuration` for such a page, `offline` or `timeout` where the service does not answer.
   */
  async preflight(authorizationUrl: string, signal: AbortSignal): Promise<void> {
    const { fetch, connection } = this.#deps;
    const request = { method: 'GET', deadlineMs: DEADLINE_MS, maxBytes: MAX_BYTES } as const;
    let answer: HttpResponse;
    try {
      answer = await sendRequest(fetch, authorizationUrl, request, signal);
    } catch (error) {
      if (error instanceof RolecallError && error.kind === 'protocol') return; // To the sign-in page, as it should be.
      throw error;
    }
    if (answer.status !== 400) return; // Anything else that is wrong is shown on the page.
    const { searchParams: params } = new URL(authorizationUrl);
    const text = redactValues(answer.text, secretsOf(params));
    const words = sanitizeServerMessage(text.replace(UNSHOWN, ' '));
    throw new RolecallError(
      'configuration',
      withServerMessage(
        l10n.t(
          'Signing in to {0} failed: the client ID is unknown, or the redirect URI registered for it is not exactly {1}.',
          connection.label,
          connection.redirectUri,
        ),
        words,
      ),
      { details: { status: answer.status }, remedy: { kind: 'changeSetting', setting: 'identity' } },
    );
  }

  /**
   * Exchanges the code in `callback` (RFC 6749 section 4.1.3), checking state, nonce and issuer. Never retried: a code
   * is spent once the request was sent.
   */
  async exchange(callback: URL, pending: PendingSignIn, signal: AbortSignal): Promise<TokenGrant> {
    const config = await this.#configuration(signal, (body) => {
      // The server compares it as a plain string; a URL object has normalised it (an added slash, a lower-cased host).
      body.set('redirect_uri', pending.redirectUri);
    });
    const grant = () =>
      oauth.authorizationCodeGrant(config, repeatingNothing(callback, pending), {
        expectedState: pending.state,
        pkceCodeVerifier: pending.codeVerifier,
        ...(pending.nonce && { expectedNonce: pending.nonce }),
      });
    return this.#grant(grant, 'code');
  }

  /** Sends the single-use refresh token (RFC 6749 section 6). The caller makes sure that no other window sends it. */
  async refresh(refreshToken: string, signal: AbortSignal): Promise<TokenGrant> {
    const config = await this.#configuration(signal).catch((error: unknown) => {
      throw notSent(asRolecallError(error));
    });
    return this.#grant(() => oauth.refreshTokenGrant(config, refreshToken), 'client');
  }

  /** The claims of the userinfo endpoint, for the account's name when no id_token was given. */
  async userInfo(accessToken: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    const config = await this.#configuration(signal);
    try {
      return { ...(await oauth.fetchUserInfo(config, accessToken, oauth.skipSubjectCheck)) };
    } catch (error) {
      throw translateOAuthError(error, this.#deps.connection, 'token');
    }
  }

  async #grant(
    request: () => Promise<oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers>,
    refused: 'client' | 'code',
  ): Promise<TokenGrant> {
    try {
      const answer = await request();
      const claims = answer.claims();
      return {
        accessToken: answer.access_token,
        ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
        ...(answer.expires_in !== undefined && { expiresInSeconds: answer.expires_in }),
        ...(claims && { claims }),
      };
    } catch (error) {
      throw translateOAuthError(error, this.#deps.connection, refused);
    }
  }

  async #configuration(signal: AbortSignal, amend?: (body: URLSearchParams) => void): Promise<oauth.Configuration> {
    const { connection } = this.#deps;
    this.#metadata ??= await this.#discover(signal);
    const config = new oauth.Configuration(
      this.#metadata,
      connection.clientId,
      this.#signingAlgorithm(),
      this.#clientAuthentication(),
    );
    config[oauth.customFetch] = this.#fetchWith(signal, amend && { amend });
    if (isLoopback(connection.identityUrl)) oauth.allowInsecureRequests(config);
    return config;
  }

  /** Services of this kind sign with ES512; where the metadata does not say, libraries would expect RS256. */
  #signingAlgorithm(): Partial<oauth.ClientMetadata> {
    const isNamed = Array.isArray(this.#metadata?.id_token_signing_alg_values_supported);
    return isNamed ? {} : { id_token_signed_response_alg: 'ES512' };
  }

  async #discover(signal: AbortSignal): Promise<oauth.ServerMetadata> {
    const { connection, log } = this.#deps;
    const specified = specifiedEndpoints(connection.identityUrl);
    let config: oauth.Configuration;
    try {
      config = await oauth.discovery(new URL(connection.identityUrl), connection.clientId, undefined, undefined, {
        [oauth.customFetch]: this.#fetchWith(signal, { deadlineMs: DISCOVERY_DEADLINE_MS }),
        ...(isLoopback(connection.identityUrl) && { execute: [oauth.allowInsecureRequests] }),
      });
    } catch (error) {
      const failure = translateOAuthError(error, connection);
      // Silence here means silence at the token endpoint too; a refusal means that the service has no discovery. A
      // document that does not fit, such as another issuer's, carries no status here and is not worked around.
      if (failure.details.status === undefined) throw failure;
      log.info(`No discovery at ${connection.identityUrl} (${failure.details.status}); using the specified endpoints.`);
      return specified;
    }
    const metadata = { ...specified, ...config.serverMetadata() };
    refuseForeignEndpoints(metadata, connection);
    return metadata;
  }

  #clientAuthentication(): oauth.ClientAuth {
    const { connection, clientSecret } = this.#deps;
    if (connection.clientAuthentication === 'none' || clientSecret === undefined) return oauth.None();
    if (connection.clientAuthentication === 'client_secret_post') return oauth.ClientSecretPost(clientSecret);
    // RFC 6749 section 2.3.1 wants both parts url-encoded; servers of this kind compare them raw and refuse every UUID.
    return (_server, client, _body, headers) => {
      headers.set('authorization', `Basic ${Buffer.from(`${client.client_id}:${clientSecret}`).toString('base64')}`);
    };
  }

  #fetchWith(signal: AbortSignal, { deadlineMs = DEADLINE_MS, amend }: FetchOptions = {}): oauth.CustomFetch {
    const { fetch } = this.#deps;
    // Reads the whole answer, so that a cut, a deadline and Cancel differ from an answer that makes no sense. The
    // library's own signal is left out: it has the same deadline and says less.
    return async (url, { method, headers, body }) => {
      if (amend && body instanceof URLSearchParams) amend(body);
      const request = {
        method: method === 'POST' ? ('POST' as const) : ('GET' as const),
        headers,
        ...(body !== undefined && body !== null && { body: String(body) }),
        deadlineMs,
        maxBytes: MAX_BYTES,
      };
      const secrets = [...secretsOf(body), headers.authorization?.replace(/^\S+ /, ''), this.#deps.clientSecret];
      const answer = repeatingNone(secrets, await sendRequest(fetch, url, request, signal));
      const failure = failedService(answer.status, answer.text, answer.headers);
      if (failure) throw failure;
      return new Response(answer.text || null, { status: answer.status, headers: answer.headers });
    };
  }
}

/** It failed before the refresh token was on its way. */
function notSent(error: RolecallError): RolecallError {
  const { kind, message, cause, details, remedy } = error;
  return new RolecallError(kind, message, { cause, details: { ...details, wasNotSent: true }, remedy });
}

const SECRETS = ['code', 'code_verifier', 'refresh_token', 'client_secret', 'state', 'nonce', 'code_challenge'];

/** The secret parameters of a request. */
function secretsOf(sent: unknown): string[] {
  return sent instanceof URLSearchParams ? SECRETS.flatMap((name) => sent.getAll(name)) : [];
}

/** For messages that are shown: the service may repeat in an error what it was sent. */
function repeatingNone(sent: readonly (string | undefined)[], answer: HttpResponse): HttpResponse {
  return answer.status < 400 ? answer : { ...answer, text: redactValues(answer.text, sent) };
}

/** The callback address with its message, which is shown if it is an error, but without the secrets in it. */
function repeatingNothing(callback: URL, { state, nonce, codeVerifier }: PendingSignIn): URL {
  const plain = new URL(callback);
  for (const name of ['error', 'error_description']) {
    const words = plain.searchParams.get(name);
    if (words !== null) plain.searchParams.set(name, redactValues(words, [state, nonce, codeVerifier]));
  }
  return plain;
}

function specifiedEndpoints(identityUrl: string): oauth.ServerMetadata {
  return {
    issuer: identityUrl,
    authorization_endpoint: `${identityUrl}/oauth2/v2/authorization`,
    token_endpoint: `${identityUrl}/oauth2/v2/token`,
    userinfo_endpoint: `${identityUrl}/oauth2/v2/userinfo`,
    jwks_uri: `${identityUrl}/oauth2/v2/jwks`,
  };
}

/** Metadata comes from outside: it must not send the code, the secret or a token to another host. */
function refuseForeignEndpoints(metadata: oauth.ServerMetadata, connection: Connection): void {
  const { origin } = new URL(connection.identityUrl);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'] as const) {
    const endpoint = String(metadata[name]);
    if (URL.parse(endpoint)?.origin !== origin) {
      throw new RolecallError(
        'protocol',
        l10n.t(
          'The {0} that {1} names ({2}) is not on the same host, so it was rejected. Tokens are sent only to the configured address.',
          name,
          connection.identityUrl,
          URL.canParse(endpoint) ? originOf(endpoint) : sanitizeServerMessage(endpoint),
        ),
      );
    }
  }
}
