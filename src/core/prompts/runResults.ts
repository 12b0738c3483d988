import * as l10n from '@vscode/l10n';
import type { ErrorKind, TextRange } from '../base/errors.ts';
import type { Completion, CompletionChoice } from '../completions/completion.ts';
import type { ChatMessage, CompletionParameters } from '../completions/request.ts';
import type { EvaluatorCheck } from './evaluatorDefinitions.ts';
import { placeholderKind, placeholderNames } from './placeholders.ts';
import type { PromptCase } from './promptCases.ts';

/**
 * The result of a check, an answer or a case.
 *
 * - `passed`, `failed`: it was measured.
 * - `skipped`: it was not measured, for a given reason. Never counts as passed.
 * - `error`: it could not be measured: the request failed, the answer was cut, a check failed to run.
 */
export type Verdict = 'passed' | 'failed' | 'skipped' | 'error';

/** One check of one answer. */
export interface Evaluation {
  readonly evaluator: string;
  readonly method: EvaluatorCheck['method'];
  readonly verdict: Verdict;
  /** 0 to 1, if the check gives more than yes or no. */
  readonly score?: number;
  /** Why, in a sentence; absent only for a plain pass. */
  readonly reason?: string;
  /** For texts that should be equal. */
  readonly diff?: { readonly expected: string; readonly actual: string };
  /** The range of the evaluator in the file. */
  readonly range: TextRange;
}

/** One of the `n` answers to a request. */
export interface AnswerResult {
  /** `choice.index`. */
  readonly choice: number;
  /** The answer without its reasoning, trimmed: the text that is checked. */
  readonly text: string;
  readonly evaluations: readonly Evaluation[];
  readonly verdict: Verdict;
}

/** In milliseconds from sending the request, without pauses that the service asked for. */
export interface Timings {
  readonly totalMs: number;
  /** Until the first text or reasoning; absent if there was none, as in an answer that only calls tools. */
  readonly firstTokenMs?: number;
  /** Tokens of the answer per second after the first one; absent if the service does not count, or did not stream. */
  readonly tokensPerSecond?: number;
}

/** An unchanged event of the service, or its whole body if it did not stream. */
export interface RawEvent {
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  readonly data: string;
}

/** Why there is no answer to check. */
export interface AttemptError {
  readonly kind: ErrorKind | 'incomplete';
  readonly message: string;
  /** HTTP status, if there was an answer. */
  readonly status?: number;
  /** The request fields that the service names, see `rangesOfFields`. */
  readonly param?: string;
  /** False if nothing was sent, because others had failed in the same way or the request could not be made. */
  readonly wasSent: boolean;
}

/** One request for a case. */
export interface AttemptResult {
  readonly seed?: number;
  /** The JSON that was sent, member for member; if nothing was sent, what would have been. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** The text that was sent. */
  readonly body?: string;
  /** The whole answer, or the part that arrived before an error. */
  readonly completion?: Completion;
  readonly error?: AttemptError;
  readonly timings?: Timings;
  /** Only if they were requested. */
  readonly events?: readonly RawEvent[];
  /** Empty exactly if there is an error. */
  readonly answers: readonly AnswerResult[];
}

/** The number of answers to a case that agree with it. */
export interface Agreement {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly errors: number;
  /** The number of all answers. */
  readonly of: number;
}

/** The result of a case with one model. */
export interface CaseResult {
  readonly case: PromptCase;
  /** The model that was asked, by its ID at the service. */
  readonly model: string;
  readonly verdict: Verdict;
  readonly agreement: Agreement;
  readonly attempts: readonly AttemptResult[];
}

export interface PromptRun {
  /** The name of the file, given by the caller. */
  readonly file: string;
  readonly name?: string;
  readonly description?: string;
  /** The name in the file. */
  readonly model?: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** The service's models that were asked. */
  readonly models: readonly string[];
  /** The number of expected results: cases by models. */
  readonly planned: number;
  /** In the order of the file, then of the models. Fewer than planned after Stop. */
  readonly results: readonly CaseResult[];
  readonly stopped: boolean;
}

/** The verdict of several results together: a failure is certain whatever the others could have been. */
export function combineVerdicts(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('failed')) return 'failed';
  if (verdicts.includes('error')) return 'error';
  return verdicts.includes('passed') ? 'passed' : 'skipped';
}

export function agreementOf(attempts: readonly AttemptResult[]): Agreement {
  const verdicts = attempts.flatMap(({ error, answers }): Verdict[] =>
    error ? ['error'] : answers.map(({ verdict }) => verdict),
  );
  const count = (verdict: Verdict) => verdicts.filter((each) => each === verdict).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    errors: count('error'),
    of: verdicts.length,
  };
}

/** @param passes the number of answers that must pass; all unless given. */
export function verdictOf({ passed, failed, errors, of }: Agreement, passes = of): Verdict {
  if (of > 0 && passed >= passes) return 'passed';
  if (of - failed < passes) return 'failed';
  return errors > 0 ? 'error' : 'skipped';
}

/** The answer and the data to check it with. */
export interface Answer {
  readonly choice: CompletionChoice;
  readonly completion: Completion;
  readonly timings: Timings;
  /** The values of the case. */
  readonly values: ReadonlyMap<string, string>;
  readonly askJudge: AskJudge;
  /** A sentence on what to do if no model judges. */
  readonly judgeAdvice: string;
}

/** A request to a judge. */
export interface JudgeRequest {
  /** The name in the file; absent if the file leaves the choice to the user. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  readonly parameters: CompletionParameters;
}

/**
 * Asks a model, and resolves to its reply without reasoning, or to `undefined` if there is no model to ask.
 *
 * @throws RolecallError as a completion does.
 */
export type AskJudge = (request: JudgeRequest, signal: AbortSignal) => Promise<string | undefined>;

/** The result of a check, without its name and place. */
export type Outcome = Pick<Evaluation, 'verdict' | 'score' | 'reason' | 'diff'>;

export function skipped(reason: string): Outcome {
  return { verdict: 'skipped', reason };
}

/** The variables of `text` that the case has no value for. */
export function missingValues(text: string, values: ReadonlyMap<string, string>): string[] {
  return placeholderNames(text).filter((name) => placeholderKind(name) === 'variable' && !values.has(name));
}

/** The outcome of a check that needs values which the case does not have. */
export function skippedWithoutValues(names: readonly string[]): Outcome {
  return skipped(l10n.t('The case has no value for: {0}.', names.join(', ')));
}
