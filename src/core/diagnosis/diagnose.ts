import * as l10n from '@vscode/l10n';
import { withTimeout } from '../base/abort.ts';
import { asRolecallError, cancelled } from '../base/errors.ts';
import { formatSeconds } from '../base/text.ts';
import { CHECKS, type CheckName } from './checks.ts';
import type { CheckOutcome, Diagnosis } from './facts.ts';

type Questions = Omit<Diagnosis, 'at'>;
type Value<G> = G extends CheckOutcome<infer T> ? T : never;

/**
 * Answers one question each; may fail, hang and take its time. `undefined` says that there is nothing to ask about, as
 * while no cloud is configured. None may open a browser, send a token or change a session.
 */
export type DiagnosisSources = {
  readonly [Name in keyof Questions]: (
    signal: AbortSignal,
  ) => Value<Questions[Name]> | undefined | Promise<Value<Questions[Name]> | undefined>;
};

/**
 * Asks all questions at once, each within its time. What fails or hangs is reported as such and does not affect the others.
 *
 * @throws RolecallError `cancelled` when `signal` says so.
 */
export async function diagnose(
  sources: DiagnosisSources,
  now: () => number,
  signal: AbortSignal,
  limitOf: (name: CheckName) => number = (name) => CHECKS[name].limitMs,
): Promise<Diagnosis> {
  const names = Object.keys(CHECKS) as CheckName[];
  const answers = await Promise.all(
    names.map(async (name) => [name, await gather(sources[name], limitOf(name), signal)] as const),
  );
  if (signal.aborted) throw cancelled(signal.reason);
  // The compiler does not see that each answer is that of its own name.
  return { at: now(), ...(Object.fromEntries(answers) as unknown as Questions) };
}

/** Never rejects, and resolves within `limitMs`, or when `signal` aborts. */
async function gather(
  source: (signal: AbortSignal) => unknown,
  limitMs: number,
  signal: AbortSignal,
): Promise<CheckOutcome<unknown>> {
  const stop = new AbortController();
  try {
    const gathered = await withTimeout(answer(source, AbortSignal.any([signal, stop.signal])), limitMs, signal);
    return gathered ?? { kind: 'failed', problem: l10n.t('no answer within {0}', formatSeconds(limitMs)) };
  } catch {
    return { kind: 'failed', problem: l10n.t('stopped') }; // An answer never rejects.
  } finally {
    stop.abort();
  }
}

async function answer(source: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<CheckOutcome<unknown>> {
  try {
    const value = await source(signal);
    return value === undefined
      ? { kind: 'skipped', why: l10n.t('no cloud is configured yet') }
      : { kind: 'known', value };
  } catch (error) {
    return { kind: 'failed', problem: asRolecallError(error).message };
  }
}
