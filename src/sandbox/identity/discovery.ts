import type { Provider } from 'oidc-provider';
import { PATHS } from './routes.ts';

/**
 * The discovery document tells what is there: the library announces the `iss` response parameter and response modes that
 * this service does not have, and its list of scopes holds the sandbox's internal one.
 */
export function departInDiscovery(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== PATHS.discovery || ctx.status !== 200) return;
    const document = ctx.body as Record<string, unknown>;
    delete document.authorization_response_iss_parameter_supported;
    document.response_modes_supported = ['query'];
    document.scopes_supported = ['openid', 'profile', 'email'];
  });
}
