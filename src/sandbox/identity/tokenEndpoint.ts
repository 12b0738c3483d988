import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Counters } from '../types.ts';
import { PATHS } from './routes.ts';
import type { TokenStore } from './tokenStore.ts';

/**
 * Where the token endpoint departs from the library (servers of this kind, "Token endpoint"):
 *
 * - Basic credentials are compared raw, not url-decoded (RFC 6749 section 2.3.1 would have them encoded);
 * - errors carry the codes and descriptions of this family of services;
 * - a spent refresh token is refused and counted, and the live session goes on;
 * - no `id_token` on refresh, no `scope` in any answer.
 */
export function departAtTokenEndpoint(
  provider: Provider,
  context: { clientIds: readonly string[]; store: TokenStore; counters: Counters },
): void {
  provider.use(async (ctx, next) => {
    if (ctx.path !== PATHS.token || ctx.method !== 'POST') return next();
    const credentials = basicCredentials(ctx.get('authorization'));
    if (credentials !== undefined) {
      if (!context.clientIds.includes(credentials.id)) {
        ctx.status = 400;
        ctx.body = { error: 'invalid_grant', error_description: 'client_id mismatch' };
        return;
      }
      // The library decodes what it receives, so it receives the raw credentials encoded.
      const encoded = `${encodeURIComponent(credentials.id)}:${encodeURIComponent(credentials.secret)}`;
      ctx.req.headers.authorization = `Basic ${Buffer.from(encoded).toString('base64')}`;
    }
    await next();
  });

  provider.on('grant.success', (ctx) => {
    const body = ctx.body as Record<string, unknown>;
    delete body.scope;
    if (ctx.oidc.params?.grant_type === 'refresh_token') {
      delete body.id_token;
      context.counters.count('refreshes');
    } else {
      context.counters.count('signIns');
    }
  });

  // The library emits this after it has set the answer and before it is sent.
  provider.on('grant.error', (ctx, error) => {
    ctx.status = 400;
    ctx.body = translate(ctx, error, context);
  });
}

function basicCredentials(header: string): { id: string; secret: string } | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { id: text.slice(0, colon), secret: text.slice(colon + 1) };
}

interface TokenError {
  error: string;
  error_description: string;
}

function translate(
  ctx: KoaContextWithOIDC,
  error: errors.OIDCProviderError,
  { store, counters }: { store: TokenStore; counters: Counters },
): TokenError {
  const description = error.error_detail ?? error.error_description ?? error.error;
  // RFC 6749 would have 401 for a client that fails to authenticate; this family answers 400.
  if (error.error === 'invalid_client') return { error: 'invalid_request', error_description: description };
  if (description === 'client_id mismatch') return { error: 'invalid_grant', error_description: description };
  // Of all the library's refusals of a grant only the one over PKCE has a cause.
  if (description.includes('code_verifier') || (error.error === 'invalid_grant' && error.cause !== undefined)) {
    return { error: 'invalid_client', error_description: 'code_verifier does not match code_challenge' };
  }
  const refreshToken = ctx.oidc.params?.refresh_token;
  if (error.error === 'invalid_grant' && typeof refreshToken === 'string') {
    return refusedRefresh(store, counters, refreshToken, description);
  }
  return { error: error.error, error_description: description };
}

function refusedRefresh(store: TokenStore, counters: Counters, token: string, description: string): TokenError {
  counters.count('refreshes.refused');
  const fate = store.fate(token);
  if (fate === 'spent') counters.count('refreshes.reused');
  if (fate === 'superseded') counters.count('refreshes.superseded');
  // The service compares with the one refresh token it has stored, so it says the same of spent and superseded ones.
  const reuse = fate === 'spent' || fate === 'superseded';
  return { error: 'invalid_grant', error_description: reuse ? 'refresh token reuse' : description };
}
