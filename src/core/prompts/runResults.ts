import * as l10n from '@vscode/l10n';
import type { ErrorKind, TextRange } from '../base/errors.ts';
import type { Completion, CompletionChoice } from '../completions/completion.ts';
import type { ChatMessage, CompletionParameters } from '../completions/request.ts';
import type { EvaluatorCheck } from './evaluatorDefinitions.ts';
import { placeholderKind, placeholderNames } from './placeholders.ts';
import type { PromptCase } from './promptCases.ts';

/**
 * What came of a check, an answer or a case.
 *
 * - `passed`, `failed`: it was measured.
 * - `skipped`: nothing was, for a reason that is given. Never counts as passed.
 * - `error`: it could not be: the request failed, the answer was cut, a check could not be carried out.
 */
export type Verdict = 'passed' | 'failed' | 'skipped' | 'error';

/** One check of one answer. */
export interface Evaluation {
  readonly evaluator: string;
  readonly method: EvaluatorCheck['method'];
  readonly verdict: Verdict;
  /** 0 to 1, where the check gives more than yes or no. */
  readonly score?: number;
  /** Why, in a sentence; absent only for a plain pass. */
  readonly reason?: string;
  /** Of texts that should be equal. */
  readonly diff?: { readonly expected: string; readonly actual: string };
  /** Of the evaluator in the file. */
  readonly range: TextRange;
}

/** One of the `n` answers to a request. */
export interface AnswerResult {
  /** `choice.index`. */
  readonly choice: number;
  /** The answer without its reasoning, trimmed: what is checked. */
  readonly text: string;
  readonly evaluations: readonly Evaluation[];
  readonly verdict: Verdict;
}

/** In milliseconds from the moment the request was sent; waits for the service's limits are not in it. */
export interface Timings {
  readonly totalMs: number;
  /** Until the first text or reasoning; absent where none came, as in an answer that only calls tools. */
  readonly firstTokenMs?: number;
  /** Tokens of the answer for each second after the first one came; absent where the service does not count, or did not stream. */
  readonly tokensPerSecond?: number;
}

/** An event of the service as it came, or its whole body where it did not stream. */
export interface RawEvent {
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  readonly data: string;
}

/** Why there is no answer that could be checked. */
export interface AttemptError {
  readonly kind: ErrorKind | 'incomplete';
  readonly message: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** The request fields that the service names, see `rangesOfFields`. */
  readonly param?: string;
  /** False where nothing was sent, because others had failed in the same way or the request could not be made. */
  readonly wasSent: boolean;
}

/** One request for a case. */
export interface AttemptResult {
  readonly seed?: number;
  /** The JSON that was sent, member for member; what would have been, where nothing was. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** As it was sent. */
  readonly body?: string;
  /** Whole, or as much as came before an error. */
  readonly completion?: Completion;
  readonly error?: AttemptError;
  readonly timings?: Timings;
  /** Only where they were asked for. */
  readonly events?: readonly RawEvent[];
  /** Empty exactly where there is an error. */
  readonly answers: readonly AnswerResult[];
}

/** How many answers to a case agree with it. */
export interface Agreement {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly errors: number;
  /** All of them. */
  readonly of: number;
}

/** A case that was asked of one model. */
export interface CaseResult {
  readonly case: PromptCase;
  /** The model that was asked, by its ID at the service. */
  readonly model: string;
  readonly verdict: Verdict;
  readonly agreement: Agreement;
  readonly attempts: readonly AttemptResult[];
}

export interface PromptRun {
  /** As the caller names the file. */
  readonly file: string;
  readonly name?: string;
  readonly description?: string;
  /** As the file names it. */
  readonly model?: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Those of the service that were asked. */
  readonly models: readonly string[];
  /** How many results there should be: cases by models. */
  readonly planned: number;
  /** In the order of the file, then of the models. Fewer than planned after Stop. */
  readonly results: readonly CaseResult[];
  readonly stopped: boolean;
}

/** The verdict of several that stand side by side: a failure is certain whatever the others could have said. */
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

/** @param passes how many answers must pass; all unless given. */
export function verdictOf({ passed, failed, errors, of }: Agreement, passes = of): Verdict {
  if (of > 0 && passed >= passes) return 'passed';
  if (of - failed < passes) return 'failed';
  return errors > 0 ? 'error' : 'skipped';
}

/** What an answer is checked with. */
export interface Answer {
  readonly choice: CompletionChoice;
  readonly completion: Completion;
  readonly timings: Timings;
  /** Of the case. */
  readonly values: ReadonlyMap<string, string>;
  readonly askJudge: AskJudge;
  /** What to do where no model judges, in a sentence. */
  readonly judgeAdvice: string;
}

/** What a judge is asked. */
export interface JudgeRequest {
  /** As the file names it; absent where it leaves the choice to whoever runs it. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  readonly parameters: CompletionParameters;
}

/**
 * Asks a model, and resolves to its reply without reasoning; to `undefined` where there is no model to ask.
 *
 * @throws RolecallError as a completion does.
 */
export type AskJudge = (request: JudgeRequest, signal: AbortSignal) => Promise<string | undefined>;

/** What a check came to, without its name and place. */
export type Outcome = Pick<Evaluation, 'verdict' | 'score' | 'reason' | 'diff'>;

export function skipped(reason: string): Outcome {
  return { verdict: 'skipped', reason };
}

/** The variables of `text` that the case has no value for. */
export function missingValues(text: string, values: ReadonlyMap<string, string>): string[] {
  return placeholderNames(text).filter((name) => placeholderKind(name) === 'variable' && !values.has(name));
}

/** A check that needs what the case does not have. */
export function skippedWithoutValues(names: readonly string[]): Outcome {
  return skipped(l10n.t('The case has no value for: {0}.', names.join(', ')));
}
