/** How the client authenticates at the token endpoint: in the body, as raw Basic credentials, or not at all. */
export type ClientAuthentication = 'client_secret_post' | 'client_secret_basic' | 'none';

/**
 * The two services and the client that is used with them. A value: it is passed, compared by its members and never
 * changed. Every secret, cache, tree ID, session and model ID is keyed by {@link connectionKey}.
 */
export interface Connection {
  /** `service` for the configured services, `sandbox` for the embedded cloud. */
  readonly id: string;
  /** Shown to the user, for example the host name of the identity service. */
  readonly label: string;
  /** `{base_url}` of the identity specification, an origin without a trailing slash. */
  readonly identityUrl: string;
  /** `{inference_url}` of the inference specification, without a trailing slash; may have a path prefix. */
  readonly inferenceUrl: string;
  readonly clientId: string;
  readonly clientAuthentication: ClientAuthentication;
  /** Sent and compared unchanged (RFC 6749 section 3.1.2). */
  readonly redirectUri: string;
  /** Space separated; empty sends no `scope` at all. */
  readonly scope: string;
}

/** The key of a stored session or a cache: another address or client ID has its own. */
export function connectionKey(connection: Pick<Connection, 'id' | 'identityUrl' | 'clientId'>): string {
  return `${connection.id}|${connection.identityUrl}|${connection.clientId}`;
}

/** How core gets a token without knowing where it comes from. */
export interface TokenSource {
  /**
   * An access token that can be sent now.
   *
   * @throws RolecallError `signedOut`, `sessionEnded`, `offline`, `storage`.
   */
  accessToken(signal: AbortSignal): Promise<string>;
  /**
   * The service answered 401 to `token`. Resolves to another token worth one retry, or to `undefined` when there is
   * none.
   */
  refreshAfter401(token: string, signal: AbortSignal): Promise<string | undefined>;
}
