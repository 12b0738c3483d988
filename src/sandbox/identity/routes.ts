/**
 * The paths of the identity service: those of the specification, `userinfo` and `jwks` beside them (what servers of this kind do), and the
 * sandbox's own sign-in page. Whatever else the library would answer to is not offered and stays 404.
 */
export const PATHS = {
  authorization: '/oauth2/v2/authorization',
  token: '/oauth2/v2/token',
  userinfo: '/oauth2/v2/userinfo',
  jwks: '/oauth2/v2/jwks',
  discovery: '/.well-known/openid-configuration',
  signIn: '/sign-in',
} as const;

interface ProviderRoute {
  pattern: RegExp;
  methods: readonly string[];
}

const PROVIDER_ROUTES: readonly ProviderRoute[] = [
  { pattern: /^\/oauth2\/v2\/authorization(\/[^/]+)?$/, methods: ['GET'] },
  { pattern: /^\/oauth2\/v2\/token$/, methods: ['POST'] },
  { pattern: /^\/oauth2\/v2\/userinfo$/, methods: ['GET', 'POST'] },
  { pattern: /^\/oauth2\/v2\/jwks$/, methods: ['GET'] },
  { pattern: /^\/\.well-known\/openid-configuration$/, methods: ['GET'] },
];

/** The methods the OpenID provider takes at this path, or `undefined` where it has nothing. */
export function providerMethods(path: string, discovery: boolean): readonly string[] | undefined {
  if (path === PATHS.discovery && !discovery) return undefined;
  return PROVIDER_ROUTES.find((route) => route.pattern.test(path))?.methods;
}

/** A name for the counters: one per route, without the ids of single sign-ins. */
export function routeName(path: string): string {
  return path.replace(/^(\/oauth2\/v2\/authorization|\/sign-in)\/[^/]+$/, '$1/:uid');
}
