import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { PATHS } from './routes.ts';

/**
 * Where the authorization endpoint departs from the library (servers of this kind, "Authorization endpoint"):
 *
 * - the answer is the registered redirect URI as it was written, `?`, and form-encoded parameters, where the library
 *   would normalize the URI and answer some errors in its fragment; and it has no `iss` parameter (RFC 9207);
 * - nobody is remembered: the browser session ends with the answer, so that every sign-in offers the people again and
 *   choosing another one needs no sign-out.
 */
export function departAtAuthorizationEndpoint(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    if (!ctx.path.startsWith(PATHS.authorization)) return;
    const oidcContext = ctx as KoaContextWithOIDC;
    await forgetBrowser(provider, oidcContext);
    answerPlainly(oidcContext);
  });
}

async function forgetBrowser(provider: Provider, ctx: KoaContextWithOIDC): Promise<void> {
  const session = ctx.oidc?.session;
  if (session === undefined || session.accountId === undefined) return;
  await session.destroy();
  const name = provider.cookieName('session');
  const kept = ctx.response.headers['set-cookie'];
  if (Array.isArray(kept))
    ctx.set(
      'Set-Cookie',
      kept.filter((cookie) => !cookie.startsWith(name)),
    );
}

function answerPlainly(ctx: KoaContextWithOIDC): void {
  const location = String(ctx.response.headers.location ?? '/');
  if (location.startsWith('/')) return;
  const redirectUri = ctx.oidc?.params?.redirect_uri ?? ctx.query.redirect_uri;
  if (typeof redirectUri !== 'string') return;
  const { searchParams, hash } = new URL(location);
  const fragment = new URLSearchParams(hash.slice(1));
  const answer = new URLSearchParams();
  for (const name of ['code', 'error', 'error_description', 'state']) {
    const value = searchParams.get(name) ?? fragment.get(name);
    if (value !== null) answer.set(name, value);
  }
  ctx.set('Location', `${redirectUri}?${answer}`);
  ctx.body = '';
}
