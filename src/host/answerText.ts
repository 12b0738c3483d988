import * as vscode from 'vscode';
import { truncateWithEllipsis } from '../core/base/text.ts';
import {
  type ChosenToken,
  type CompletionEvent,
  groupTokens,
  type Logprobs,
  probability,
} from '../core/completions/completion.ts';
import type { AgentLoopEvent, AgentLoopResult, RefusalReason } from '../core/tools/agentLoop.ts';
import { type AnswerEnding, endingOf } from './conversation.ts';
import { ownAccessToolNames } from './ownAccessTools.ts';
import { tokensText } from './tokenUsage.ts';

/** The text that an event adds to the answer. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A line of Rolecall's own, separate from the model's text. */
  | { readonly kind: 'line'; readonly text: string }
  /** Progress, which is not kept. */
  | { readonly kind: 'progress'; readonly text: string }
  /** A quiet line below the answer: how it ended, what it cost. */
  | { readonly kind: 'footer'; readonly text: string };

/** One event of a conversation as text; `undefined` for events that are shown elsewhere or later. */
export function answerPart(event: AgentLoopEvent<CompletionEvent>): AnswerPart | undefined {
  switch (event.type) {
    case 'model':
      return modelPart(event.event);
    case 'toolStarted':
      return { kind: 'progress', text: vscode.l10n.t('Calling {0}…', event.call.name) };
    case 'toolFinished':
      return { kind: 'line', text: toolLine(event) };
    case 'toolRefused':
      return { kind: 'line', text: REFUSALS[event.reason](event.call.name) };
    case 'round':
      // The first is the question itself.
      return event.round === 1
        ? undefined
        : { kind: 'progress', text: vscode.l10n.t('Round {0}: sending the results to the model…', event.round) };
    case 'limitReached':
      return undefined;
  }
}

/** The closing line of an answer that did not end normally. */
export function closingLine(end: AgentLoopResult): string | undefined {
  const ending = endingOf(end);
  return ending && ENDINGS[ending](end);
}

/** The model gets the details; the user sees once what happened. */
const REFUSALS: Readonly<Record<RefusalReason, (name: string) => string>> = {
  user: (name) => vscode.l10n.t('You did not allow {0}.', name),
  unknownTool: (name) =>
    ownAccessToolNames.has(name)
      ? vscode.l10n.t('The model called {0}, which is available only with /access. Ask again with /access.', name)
      : vscode.l10n.t('The model called {0}, which is not an available tool.', name),
  invalidJson: (name) => vscode.l10n.t('{0} was not run: its arguments are not valid JSON.', name),
  invalidArguments: (name) =>
    vscode.l10n.t('{0} was not run: its arguments are invalid. The model has received the reason.', name),
};

const ENDINGS: Readonly<Record<AnswerEnding, (end: AgentLoopResult) => string>> = {
  length: () => vscode.l10n.t('The answer reached its length limit and stops here.'),
  endedEarly: ({ turn }) => vscode.l10n.t('The service ended the answer early ({0}).', turn?.finishReason ?? '?'),
  incomplete: () => vscode.l10n.t('The connection was lost, so the answer is incomplete. Try again.'),
  roundLimit: ({ rounds }) =>
    vscode.l10n.t(
      'Stopped after {0} rounds of tool calls. To allow more, change the setting rolecall.tools.maxRounds.',
      rounds,
    ),
  empty: () => vscode.l10n.t('The model returned an empty answer.'),
  onlyReasoning: () => vscode.l10n.t('The model reasoned but did not answer. A higher token limit may help.'),
};

function modelPart(event: CompletionEvent): AnswerPart | undefined {
  switch (event.kind) {
    case 'text':
      return event.choice === 0 ? { kind: 'text', text: event.text } : undefined;
    case 'reasoning':
      return event.choice === 0 ? { kind: 'reasoning', text: event.text } : undefined;
    case 'notice':
      return { kind: 'line', text: event.message };
    default:
      return undefined;
  }
}

/** The most words that are named as the least certain. */
const DOUBTS = 3;

/**
 * The words that a model was least sure of, with whole characters if they are spread over tokens; `undefined` if it was
 * sure of all.
 */
export function lowConfidenceLine(logprobs: Logprobs): string | undefined {
  const words = groupTokens(logprobs)
    .map(({ text, tokens }) => ({
      text: text.trim(),
      sure: tokens.reduce((sure, each) => sure * probability(each), 1),
    }))
    .filter(({ text, sure }) => text !== '' && sure < 0.995)
    .sort((one, other) => one.sure - other.sure)
    .slice(0, DOUBTS)
    .map(({ text, sure }) => `"${text}" (${Math.round(sure * 100)}%)`);
  return words.length === 0 ? undefined : vscode.l10n.t('Lowest confidence: {0}', words.join(', '));
}

function toolLine({ call, result, cancelled }: AgentLoopEvent<CompletionEvent> & { type: 'toolFinished' }): string {
  // With a subject: else a folded step only says that there was one.
  const written = JSON.stringify(call.arguments);
  const called = written === '{}' ? call.name : `${call.name} (${truncateWithEllipsis(written, ARGUMENTS)})`;
  if (cancelled) return vscode.l10n.t('{0} was stopped.', called);
  return result.isError ? vscode.l10n.t('{0} failed.', called) : vscode.l10n.t('Used {0}.', called);
}

/** The most characters of a call's arguments in its line. */
const ARGUMENTS = 120;

/**
 * The numbers and texts that are shown when an answer is complete: its cost, its further choices, its reasoning. One
 * for each answer.
 */
export class AnswerStats {
  readonly #now: () => number;
  readonly #startedAt: number;
  /** The open questions to the user, since when there are any, and how long earlier ones took. */
  #questions = 0;
  #askedAt = 0;
  #waited = 0;
  readonly #others = new Map<number, string>();
  #prompt = 0;
  #completion = 0;
  #reasoning = '';
  readonly #logprobs: ChosenToken[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Waits for the user's answer to a dialog, whose time does not count as the model's. */
  readonly whileAsking = async <T>(question: Promise<T>): Promise<T> => {
    if (this.#questions === 0) this.#askedAt = this.#now();
    this.#questions += 1;
    try {
      return await question;
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0) this.#waited += this.#now() - this.#askedAt;
    }
  };

  accept(event: AgentLoopEvent<CompletionEvent>): void {
    if (event.type !== 'model') return;
    const completionEvent = event.event;
    if (completionEvent.kind === 'usage') {
      this.#prompt += completionEvent.usage.promptTokens ?? 0;
      this.#completion += completionEvent.usage.completionTokens ?? 0;
    } else if (completionEvent.kind === 'logprobs' && completionEvent.choice === 0) {
      for (const token of completionEvent.logprobs) this.#logprobs.push(token);
    } else if (completionEvent.kind === 'reasoning' && completionEvent.choice === 0)
      this.#reasoning += completionEvent.text;
    else if (completionEvent.kind === 'text' && completionEvent.choice > 0) {
      this.#others.set(completionEvent.choice, (this.#others.get(completionEvent.choice) ?? '') + completionEvent.text);
    }
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  /** The answers besides the first, in order, where `n` asked for several. */
  get others(): readonly string[] {
    return [...this.#others].sort(([one], [other]) => one - other).map(([, text]) => text);
  }

  /** The tokens of the first answer, where `logprobs` asked for their probabilities. */
  get logprobs(): Logprobs {
    return this.#logprobs;
  }

  /** Tokens, if the service reported them, and time without dialogs. */
  summary(model: string): string {
    const time = vscode.l10n.t('{0} s', ((this.#now() - this.#startedAt - this.#waited) / 1000).toFixed(1));
    const tokens = this.#prompt + this.#completion > 0 ? [tokensText(this.#prompt, this.#completion)] : [];
    return [model, ...tokens, time].join(' · ');
  }
}
