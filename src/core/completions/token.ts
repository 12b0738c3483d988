import { waitFor } from '../base/abort.ts';
import { cancelled } from '../base/errors.ts';
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
