import * as l10n from '@vscode/l10n';
import type { Completion, CompletionChoice } from '../completions/completion.ts';
import type { ChatMessage, CompletionParameters } from '../completions/request.ts';
import { placeholderKind, placeholderNames } from './placeholders.ts';
import type { Evaluation, Timings } from './runResults.ts';

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
export function missing(names: readonly string[]): Outcome {
  return skipped(l10n.t('The case has no value for: {0}.', names.join(', ')));
}
