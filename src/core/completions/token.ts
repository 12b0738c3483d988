import { waitFor } from '../base/abort.ts';
import { cancelled, type ErrorFacts, RolecallError } from '../base/errors.ts';
import { HIDDEN } from '../base/redact.ts';
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

/** Shorter values are no tokens, and hiding them would blot out ordinary words. */
const SHORTEST_TOKEN = 8;

/** `error`, or the same without `token`: services repeat in their errors what they were sent. */
export function withoutToken(error: RolecallError, token: string): RolecallError {
  if (token.length < SHORTEST_TOKEN) return error;
  const facts = Object.entries(error.facts).map(([name, said]) => [
    name,
    typeof said === 'string' ? hide(said, token) : said,
  ]);
  const message = hide(error.message, token);
  const same =
    message === error.message && facts.every(([name, said]) => said === error.facts[name as keyof ErrorFacts]);
  // Without the cause, which may hold the token as well.
  if (same) return error;
  return new RolecallError(error.kind, message, { facts: Object.fromEntries(facts), remedy: error.remedy });
}

function hide(text: string, token: string): string {
  const plain = text.replaceAll(token, HIDDEN);
  if (!plain.endsWith('…')) return plain;
  // The words of a service are cut when they are long, and so may be a token at their end.
  for (let length = token.length - 1; length >= SHORTEST_TOKEN; length--) {
    const cut = `${token.slice(0, length)}…`;
    if (plain.endsWith(cut)) return `${plain.slice(0, -cut.length)}${HIDDEN}…`;
  }
  return plain;
}
