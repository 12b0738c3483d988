import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

const SECRET_PARAMETERS = ['code', 'state', 'nonce', 'code_verifier', 'client_secret', 'refresh_token'];
const SECRET_MEMBERS = ['access_token', 'refresh_token', 'id_token'];
const MOST = 10_000;

/**
 * Remembers the secrets that went over the wire, for tests that search what a run left behind for them. Nothing here
 * leaves the process but through the control server and its key.
 */
export class SecretRecord {
  readonly #values = new Set<string>();

  add(value: unknown): void {
    if (typeof value === 'string' && value !== '' && this.#values.size < MOST) this.#values.add(value);
  }

  toJSON(): string[] {
    return [...this.#values];
  }

  /** Outermost, so that it sees what is really sent. */
  watch(provider: Provider): void {
    provider.use(async (ctx, next) => {
      await next();
      const parameters = (ctx as KoaContextWithOIDC).oidc?.params ?? {};
      for (const name of SECRET_PARAMETERS) this.add(parameters[name]);
      const body: unknown = ctx.body;
      if (typeof body === 'object' && body !== null) {
        for (const name of SECRET_MEMBERS) this.add((body as Record<string, unknown>)[name]);
      }
      const location = ctx.response.headers.location;
      if (typeof location === 'string' && URL.canParse(location)) this.add(new URL(location).searchParams.get('code'));
    });
  }
}
