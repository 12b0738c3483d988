import { RolecallError } from '../base/errors.ts';
import { IdentityClient, type IdentityClientDeps } from './identityClient.ts';

/**
 * Whether the API accepts a token. Asks for organizations, else for the groups of one.
 *
 * @param organization Any that the user knows.
 * @returns `undefined` where there is nothing to ask it for.
 * @throws RolecallError `offline`, `timeout`, `server`, … when it is unknown.
 */
export async function acceptsToken(
  deps: Omit<IdentityClientDeps, 'tokens'>,
  token: string,
  organization: string | undefined,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  let refused = false;
  const client = new IdentityClient({
    ...deps,
    tokens: {
      accessToken: async () => token,
      refreshAfter401: async () => {
        refused = true;
        return undefined;
      },
    },
  });
  const answered = async (ask: () => Promise<unknown>) => {
    try {
      return (await ask()) !== undefined;
    } catch (error) {
      if (refused) return false;
      if (isKnownAllTheSame(error)) return true;
      throw error;
    }
  };
  if (await answered(() => client.organizations(signal))) return true;
  if (refused) return false;
  if (organization === undefined) return undefined;
  return answered(() => client.groups(organization, signal));
}

/** A service that answers “forbidden” or “not found” has accepted the token. */
function isKnownAllTheSame(error: unknown): boolean {
  return error instanceof RolecallError && (error.kind === 'forbidden' || error.kind === 'notFound');
}
