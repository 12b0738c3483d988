import { randomBytes, randomUUID } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import type { SandboxClient } from '../types.ts';

/**
 * A client of this run. The id is a UUID, whose dashes strict encoders turn into `%2D`; the secret holds characters that
 * every encoder changes: whoever url-encodes the credentials of Basic is found out (servers of this kind, "Token endpoint").
 */
export function makeClient(redirectUri: string): SandboxClient {
  return { id: randomUUID(), secret: `${randomBytes(24).toString('base64url')}+/=%&~-_.`, redirectUri };
}

export function clientMetadata(name: string, client: SandboxClient): ClientMetadata {
  return {
    client_id: client.id,
    client_secret: client.secret,
    client_name: name,
    redirect_uris: [client.redirectUri],
    // Of the two kinds only `native` may have a scheme of its own, and only `web` is held to the exact port of a
    // loopback address (RFC 8252 section 7.3 lets it vary; the service does not).
    application_type: /^https?:/.test(client.redirectUri) ? 'web' : 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    response_modes: ['query'],
    // The library takes a secret by Basic and in the body alike, whichever of the two is registered.
    token_endpoint_auth_method: 'client_secret_post',
  };
}
