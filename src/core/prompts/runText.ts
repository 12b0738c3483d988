import * as l10n from '@vscode/l10n';
import { formatSeconds } from '../base/text.ts';
import type { ComparedCase } from './compareRuns.ts';
import type { AnswerResult, AttemptResult, CaseResult, Evaluation, Verdict } from './runResults.ts';
import type { StoredResult } from './runStore.ts';

// The texts about runs: the same in the editor, on the command line and in reports. They contain unchanged text of
// models and services, which whoever shows it has to make harmless.

const marks: Readonly<Record<Verdict, string>> = { passed: '✓', failed: '✗', skipped: '–', error: '⚠' };

export function verdictText(verdict: Verdict): string {
  switch (verdict) {
    case 'passed':
      return l10n.t('passed');
    case 'failed':
      return l10n.t('failed');
    case 'skipped':
      return l10n.t('skipped');
    case 'error':
      return l10n.t('error');
  }
}

/** A check on one line, with its result. */
export function evaluationText({ evaluator, verdict, reason, score }: Evaluation): string {
  const points = score === undefined ? '' : l10n.t(', score {0}', Number(score.toPrecision(3)));
  const why = reason === undefined ? '' : `: ${reason.replace(/\s+/g, ' ')}`;
  return `${marks[verdict]} ${evaluator} (${verdictText(verdict)}${points})${why}`;
}

/** Why a check did not pass. A failure is the normal reason; any other verdict is named. */
export function reasonText({ evaluator, verdict, reason = '' }: Evaluation): string {
  return verdict === 'failed' ? `${evaluator}: ${reason}` : `${evaluator} (${verdictText(verdict)}): ${reason}`;
}

/** Why a case did not pass, and what could not be checked; each reason once. */
export function reasonsOf(attempts: readonly AttemptResult[]): string[] {
  if (attempts.length === 0) return [notSentText()];
  const reasons = attempts.flatMap(({ error, answers }) =>
    error ? [error.message] : answers.flatMap(reasonsOfAnswer),
  );
  return [...new Set(reasons)];
}

/** Why a case was not sent. */
export function notSentText(): string {
  return l10n.t('Not sent: there are no evaluators to check the answer.');
}

function reasonsOfAnswer({ evaluations }: AnswerResult): string[] {
  if (evaluations.length === 0) return [l10n.t('There are no evaluators, so nothing was checked.')];
  return evaluations.filter(({ verdict }) => verdict !== 'passed').map(reasonText);
}

/** A case, with its model if there are several, and the number of answers that passed if there are several. */
export function caseText(
  { case: { label }, model, agreement: { passed, of } }: CaseResult,
  showsModel: boolean,
): string {
  return `${label}${showsModel ? ` [${model}]` : ''}${shareText(passed, of)}`;
}

function shareText(passed: number, of: number): string {
  return of > 1 ? ` (${l10n.t('{0} of {1} passed', passed, of)})` : '';
}

/** The words for a stored result. */
export function storedResultText({ verdict, passed, of }: Pick<StoredResult, 'verdict' | 'passed' | 'of'>): string {
  return `${marks[verdict]} ${verdictText(verdict)}${shareText(passed, of)}`;
}

/** The numbers of results by verdict. */
export function countsText(results: readonly { readonly verdict: Verdict }[]): string {
  const count = (wanted: Verdict) => results.filter(({ verdict }) => verdict === wanted).length;
  const errors = count('error');
  const parts = [
    count('passed') > 0 || results.length === 0 ? l10n.t('{0} passed', count('passed')) : '',
    count('failed') > 0 ? l10n.t('{0} failed', count('failed')) : '',
    count('skipped') > 0 ? l10n.t('{0} skipped', count('skipped')) : '',
    errors === 1 ? l10n.t('1 error') : errors > 1 ? l10n.t('{0} errors', errors) : '',
  ];
  return parts.filter((text) => text !== '').join(', ');
}

/** @param when the baseline was run. */
export function regressionText({ before, after }: ComparedCase, when: string): string {
  const textOf = (result: StoredResult | undefined) => (result ? storedResultText(result) : '–');
  return l10n.t('Worse than the baseline of {0}: {1} then, {2} now.', when, textOf(before), textOf(after));
}

/** A duration in seconds. */
export function durationText(ms: number): string {
  return l10n.t('{0} s', (ms / 1000).toFixed(ms < 10_000 ? 1 : 0));
}

export function waitText(ms: number): string {
  return l10n.t('The service asked Rolecall to wait {0}.', formatSeconds(ms));
}

/** Equal answers of several attempts. */
export interface RepeatedAttempt {
  /** The number of them. */
  readonly count: number;
  readonly error?: string;
  readonly answer?: AnswerResult;
}

/** Each different answer once. Answers with different verdicts differ, even with the same text. */
export function distinctAnswers(attempts: readonly AttemptResult[]): RepeatedAttempt[] {
  const repeated = new Map<string, RepeatedAttempt>();
  const add = (key: unknown, one: Omit<RepeatedAttempt, 'count'>) => {
    const text = JSON.stringify(key);
    repeated.set(text, { ...one, count: (repeated.get(text)?.count ?? 0) + 1 });
  };
  for (const { error, answers } of attempts) {
    if (error) add([error.message], { error: error.message });
    for (const answer of answers) add([answer.text, answer.evaluations.map(evaluationText)], { answer });
  }
  return [...repeated.values()];
}
