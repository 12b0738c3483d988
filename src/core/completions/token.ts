import { waitFor } from '../base/abort.ts';
import { cancelled, type ErrorFacts, RolecallError } from '../base/errors.ts';
import { withoutValues } from '../base/redact.ts';
import type { InferenceDeps } from './endpoint.ts';

/** A token to send now; Stop does not wait for it. */
export async function accessToken(deps: InferenceDeps, signal: AbortSignal): Promise<string> {
  if (signal.aborted) throw cancelled(signal.reason);
  return await waitFor(deps.accessToken(signal), signal);
}

/** Another token than `token`, which the service answered with 401, if there is one; Stop does not wait for it. */
export async function newerToken(deps: InferenceDeps, token: string, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) throw cancelled(signal.reason);
  if (!deps.rejected) return undefined;
  const newer = await waitFor(deps.rejected(token, signal), signal);
  return newer === token ? undefined : newer;
}

/** `error`, or the same without `token`: services repeat in their errors what they were sent. */
export function withoutToken(error: RolecallError, token: string): RolecallError {
  const facts = Object.entries(error.facts).map(([name, said]) => [
    name,
    typeof said === 'string' ? withoutValues(said, [token]) : said,
  ]);
  const message = withoutValues(error.message, [token]);
  const same =
    message === error.message && facts.every(([name, said]) => said === error.facts[name as keyof ErrorFacts]);
  // Without the cause, which may hold the token as well.
  if (same) return error;
  return new RolecallError(error.kind, message, { facts: Object.fromEntries(facts), remedy: error.remedy });
}
