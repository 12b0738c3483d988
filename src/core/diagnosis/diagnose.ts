import * as l10n from '@vscode/l10n';
import { withTimeout } from '../base/abort.ts';
import { asRolecallError, cancelled } from '../base/errors.ts';
import { formatSeconds } from '../base/text.ts';
import { CHECKS, type CheckName } from './checks.ts';
import type { CheckOutcome, Diagnosis } from './facts.ts';
import { code, type ReportLine, utcTime } from './markdown.ts';

type Questions = Omit<Diagnosis, 'at'>;
type Value<G> = G extends CheckOutcome<infer T> ? T : never;

/**
 * Each answers one question; it may fail, hang and take its time. `undefined` means that there is nothing to ask about,
 * for example because no cloud is configured. None may open a browser, send a token or change a session.
 */
export type DiagnosisSources = {
  readonly [Name in keyof Questions]: (
    signal: AbortSignal,
  ) => Value<Questions[Name]> | undefined | Promise<Value<Questions[Name]> | undefined>;
};

/**
 * Asks all questions at once, each with its time limit. Failures are reported and do not affect the others.
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
    return gathered ?? { kind: 'failed', problem: l10n.t('no response within {0}', formatSeconds(limitMs)) };
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

/**
 * The diagnosis as a Markdown document for users. Contains no token, code or secret; text from outside is shown as
 * code, so that it cannot link, load or look like text of ours.
 *
 * @param redact Hides known secrets, and text that looks like one: {@link Redactor.redact}.
 */
export function reportOf(diagnosis: Diagnosis, redact: (text: string) => string): string {
  const checked = (Object.keys(CHECKS) as CheckName[]).map((name) => ({
    heading: CHECKS[name].heading(),
    lines: linesOf(name, diagnosis),
  }));
  const sections = [...Map.groupBy(checked, ({ heading }) => heading)].map(
    ([heading, checks]) => `## ${heading}\n\n${checks.flatMap(({ lines }) => lines.map(render)).join('\n')}`,
  );
  const text = [
    `# ${l10n.t('Sign-in diagnosis')}`,
    l10n.t(
      'Generated {0}. Contains no tokens or secrets, but names your services, folders and proxies: review before sharing.',
      utcTime(diagnosis.at),
    ),
    `## ${l10n.t('Findings')}\n\n${findingsOf(checked.flatMap(({ lines }) => lines))}`,
    ...sections,
  ].join('\n\n');
  return `${redact(text)}\n`;
}

/** The lines for a result, or one line that says why there is none. */
function linesOf(name: CheckName, diagnosis: Diagnosis): readonly ReportLine[] {
  // The compiler does not see that the check and the answer are of one name.
  const { label, lines } = CHECKS[name] as {
    label: () => string;
    lines: (value: unknown, all: Diagnosis) => readonly ReportLine[];
  };
  const answer: CheckOutcome<unknown> = diagnosis[name];
  switch (answer.kind) {
    case 'known':
      return lines(answer.value, diagnosis);
    case 'skipped':
      return [{ label: label(), text: l10n.t('not checked: {0}', answer.why) }];
    case 'failed':
      return [
        { label: label(), text: l10n.t('unknown'), finding: l10n.t('Could not be checked: {0}', code(answer.problem)) },
      ];
  }
}

function findingsOf(lines: readonly ReportLine[]): string {
  const findings = lines.filter(({ finding }) => finding !== undefined);
  if (findings.length === 0) return l10n.t('No problems found.');
  return findings.map(({ label, finding }, index) => `${index + 1}. **${label}:** ${finding}`).join('\n');
}

function render({ label, text, finding }: ReportLine): string {
  return `- **${label}:** ${text}${finding === undefined ? '' : `\n  - **${l10n.t('Attention:')}** ${finding}`}`;
}
