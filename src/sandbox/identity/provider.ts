import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { type ClientMetadata, type Configuration, interactionPolicy, type JWK, Provider } from 'oidc-provider';
import { adapterFor } from './adapter.ts';
import { renderErrorPage } from './pages.ts';
import { personById } from './people.ts';
import { PATHS } from './routes.ts';
import type { TokenStore } from './tokenStore.ts';

/**
 * A scope of the sandbox's own, granted when a request asks for none that the library knows. The scope map of the
 * specification is empty, while the library refuses a sign-in that grants no scope at all. It never leaves the sandbox:
 * `tokenEndpoint.ts` takes `scope` out of the answer.
 */
const NO_SCOPE = 'rolecall_none';
const SCOPES = ['openid', 'offline_access', 'profile', 'email'];

/** Lengths, in characters, of what real services of this kind issue (what servers of this kind do); the library draws 6 bits a character. */
const LENGTHS: Record<string, number> = { AccessToken: 1500, AuthorizationCode: 2000, RefreshToken: 1200 };
const CODE_SECONDS = 60;
const SIGN_IN_SECONDS = 3600;
const GRANT_SECONDS = 366 * 24 * 3600;

export interface ProviderSettings {
  issuer: string;
  clients: readonly ClientMetadata[];
  store: TokenStore;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
}

/** The library, configured. What it cannot be configured to do stands in the middleware beside this file. */
export function makeProvider(settings: ProviderSettings): Provider {
  return new Provider(settings.issuer, configuration(settings));
}

function configuration(settings: ProviderSettings): Configuration {
  return {
    adapter: adapterFor(settings.store),
    clients: settings.clients,
    jwks: { keys: [signingKey()] },
    clientDefaults: { id_token_signed_response_alg: 'ES512' },
    enabledJWA: { idTokenSigningAlgValues: ['ES512'] },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    responseTypes: ['code'],
    scopes: [...SCOPES, NO_SCOPE],
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    // The id token tells name and address when the scope asked for them; the library would leave them to userinfo.
    conformIdTokenClaims: false,
    // By default the library forgives a clock 15 seconds: a token would outlive its `expires_in`.
    clockTolerance: 0,
    allowOmittingSingleRegisteredRedirectUri: false,
    pkce: { required: () => false },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    clientBasedCORS: () => false,
    cookies: cookies(),
    extraParams: {
      [NO_SCOPE]: (ctx) => {
        const params = ctx.oidc.params;
        const asked = typeof params?.scope === 'string' ? params.scope.split(' ') : [];
        if (params !== undefined && !asked.some((scope) => SCOPES.includes(scope))) params.scope = NO_SCOPE;
      },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      introspection: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      revocation: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: true },
    },
    findAccount: (_ctx, id) => {
      const person = personById(id);
      if (person === undefined) return undefined;
      const { name, email } = person;
      return { accountId: id, claims: async () => ({ sub: id, name, email, email_verified: true }) };
    },
    formats: { bitsOfOpaqueRandomness: (_ctx, model) => (LENGTHS[model.kind] ?? 43) * 6 },
    interactions: { policy: signInPolicy(), url: (_ctx, interaction) => `${PATHS.signIn}/${interaction.uid}` },
    renderError: renderErrorPage,
    routes: {
      authorization: PATHS.authorization,
      token: PATHS.token,
      userinfo: PATHS.userinfo,
      jwks: PATHS.jwks,
    },
    ttl: {
      AccessToken: settings.accessTokenSeconds,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      IdToken: settings.accessTokenSeconds,
      Interaction: SIGN_IN_SECONDS,
      RefreshToken: settings.refreshTokenSeconds,
      Session: SIGN_IN_SECONDS,
    },
  };
}

/** Cookies know no ports: two sandboxes on 127.0.0.1 share a jar, so each names its own. */
function cookies(): NonNullable<Configuration['cookies']> {
  const instance = randomBytes(6).toString('hex');
  return {
    keys: [randomBytes(32)],
    names: {
      session: `rolecall_${instance}_session`,
      interaction: `rolecall_${instance}_sign_in`,
      resume: `rolecall_${instance}_resume`,
    },
  };
}

/** ES512 signs with the curve P-521 (RFC 7518 section 3.4). */
function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const jwk = privateKey.export({ format: 'jwk' }) as JWK;
  return { ...jwk, alg: 'ES512', use: 'sig', kid: randomBytes(8).toString('hex') };
}

/** The library's own prompts, and `prompt=select_account`; one page answers them all (`signIn.ts`). */
function signInPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  return policy;
}
