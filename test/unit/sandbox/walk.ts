import { createHash, randomBytes } from 'node:crypto';
import type { SandboxClient, SandboxDescriptor } from '../../../src/sandbox/types.ts';

/** Cookies of one browser, by host and path: ports do not separate them (RFC 6265 section 8.5). */
export class Browser {
  #cookies: { name: string; value: string; path: string }[] = [];

  /** Requests without following redirects, as `fetch` in a browser's address bar would send cookies. */
  async visit(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url);
    const cookie = this.#cookies
      .filter(({ path }) => pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  get cookieNames(): string[] {
    return this.#cookies.map(({ name }) => name);
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const attribute = (key: string): string | undefined =>
      attributes.find((each) => each.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? '/';
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = attribute('expires');
    if (expires === undefined || Date.parse(expires) > Date.now()) this.#cookies.push({ name, value, path });
  }
}

export interface SignInOptions {
  /** Index into `descriptor.people`; the administrator by default. */
  person?: number;
  client?: 'loopback' | 'link';
  /** `undefined` leaves the parameter out. */
  scope?: string | undefined;
  /** A verifier to use, or false for none. */
  pkce?: string | false;
  /** Further parameters of the authorization request. */
  params?: Record<string, string>;
  browser?: Browser;
}

export interface Tokens {
  token_type: string;
  access_token: string;
  refresh_token: string;
  id_token?: string;
  expires_in: number;
}

export const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export function authorizationUrl(descriptor: SandboxDescriptor, params: Record<string, string>): string {
  return `${descriptor.identity}/oauth2/v2/authorization?${new URLSearchParams(params)}`;
}

/** Goes from the authorization endpoint over the sign-in page to the redirect; answers its address. */
export async function authorize(
  descriptor: SandboxDescriptor,
  params: Record<string, string>,
  answer: { person: number } | 'cancel' = { person: 0 },
  browser: Browser = new Browser(),
): Promise<string> {
  const start = await browser.visit(authorizationUrl(descriptor, params));
  const page = new URL(location(start), descriptor.identity).href;
  await (await browser.visit(page)).text();
  const chosen = answer === 'cancel' ? { cancel: 'yes' } : { person: descriptor.people[answer.person]?.id ?? '' };
  return location(await browser.visit(page, { method: 'POST', body: new URLSearchParams(chosen) }));
}

export function location(response: Response): string {
  const target = response.headers.get('location');
  if (target === null) throw new Error(`No redirect but ${response.status} from ${response.url}`);
  return target;
}

/** Signs in as a person would and returns the code's answer, still unspent. */
export async function codeFor(
  descriptor: SandboxDescriptor,
  { person = 0, client = 'loopback', pkce = false, params = {}, browser = new Browser(), ...rest }: SignInOptions = {},
): Promise<{ code: string; client: SandboxClient }> {
  const scope = 'scope' in rest ? rest.scope : 'openid';
  const registered = descriptor.clients[client];
  const answer = await authorize(
    descriptor,
    {
      client_id: registered.id,
      redirect_uri: registered.redirectUri,
      response_type: 'code',
      ...(scope === undefined ? {} : { scope }),
      ...(pkce === false ? {} : { code_challenge: s256(pkce), code_challenge_method: 'S256' }),
      ...params,
    },
    { person },
    browser,
  );
  const code = new URLSearchParams(answer.slice(answer.indexOf('?'))).get('code');
  if (code === null) throw new Error(`No code in ${answer}`);
  return { code, client: registered };
}

/** Sends a form to the token endpoint with the client's credentials in the body (client_secret_post). */
export async function tokenRequest(
  descriptor: SandboxDescriptor,
  client: Pick<SandboxClient, 'id' | 'secret'>,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, ...form });
  return fetch(`${descriptor.identity}/oauth2/v2/token`, { method: 'POST', body, headers });
}

export function refresh(
  descriptor: SandboxDescriptor,
  client: SandboxClient,
  refreshToken: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return tokenRequest(descriptor, client, { grant_type: 'refresh_token', refresh_token: refreshToken }, headers);
}

/** The whole sign-in, as the extension does it. */
export async function signIn(descriptor: SandboxDescriptor, options: SignInOptions = {}): Promise<Tokens> {
  const verifier = options.pkce ?? randomBytes(32).toString('base64url');
  const { code, client } = await codeFor(descriptor, { ...options, pkce: verifier });
  const response = await tokenRequest(descriptor, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    ...(verifier === false ? {} : { code_verifier: verifier }),
  });
  const tokens = (await response.json()) as Tokens;
  if (response.status !== 200) throw new Error(`Sign-in failed: ${response.status} ${JSON.stringify(tokens)}`);
  return tokens;
}

/** `GET` with the access token. */
export function getList(
  descriptor: SandboxDescriptor,
  path: string,
  accessToken: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${descriptor.identity}${path}`, { headers: { authorization: `Bearer ${accessToken}`, ...headers } });
}

/** A streamed completion of the first model, 30 tokens long. */
export function streamCompletion(
  descriptor: SandboxDescriptor,
  accessToken: string,
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(`${descriptor.inference}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: descriptor.models[0]?.id,
      stream: true,
      max_tokens: 30,
      messages: [{ role: 'user', content: 'Tell me about groups and roles.' }],
    }),
    signal,
  });
}
