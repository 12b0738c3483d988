import * as vscode from 'vscode';
import type { CompletionEvent } from '../core/completions/completion.ts';
import type { LoopEnd, LoopEvent } from '../core/tools/loopTypes.ts';
import { type Ending, endingOf } from './conversation.ts';

/** What an event adds to the answer as a person reads it. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A line of Rolecall's own, told apart from the model's words. */
  | { readonly kind: 'line'; readonly text: string }
  /** Something that is under way and leaves no trace. */
  | { readonly kind: 'progress'; readonly text: string }
  /** The quiet last line: what the answer cost. */
  | { readonly kind: 'footer'; readonly text: string };

/** One event of a conversation as text; `undefined` for what is told elsewhere or later. */
export function answerPart(event: LoopEvent<CompletionEvent>): AnswerPart | undefined {
  switch (event.type) {
    case 'model':
      return modelPart(event.event);
    case 'toolStarted':
      return { kind: 'progress', text: vscode.l10n.t('Calling {0}…', event.call.name) };
    case 'toolFinished':
      return { kind: 'line', text: toolLine(event) };
    case 'toolRefused':
      return {
        kind: 'line',
        text:
          event.reason === 'user'
            ? vscode.l10n.t('You did not allow {0}.', event.call.name)
            : vscode.l10n.t('{0} was not run: {1}', event.call.name, event.content),
      };
    case 'round':
      // The first is the question itself.
      return event.round === 1
        ? undefined
        : { kind: 'progress', text: vscode.l10n.t('Round {0}: telling the model the results…', event.round) };
    case 'limitReached':
      return undefined;
  }
}

/** The closing line of an answer that did not simply end. */
export function endingLine(end: LoopEnd): string | undefined {
  const ending = endingOf(end);
  return ending && ENDINGS[ending](end);
}

const ENDINGS: Readonly<Record<Ending, (end: LoopEnd) => string>> = {
  length: () => vscode.l10n.t('The answer reached its length limit and stops here.'),
  filtered: ({ turn }) => vscode.l10n.t('The service ended the answer early ({0}).', turn?.finishReason ?? '?'),
  incomplete: () => vscode.l10n.t('The connection was cut: the answer is incomplete. Ask again to get it whole.'),
  roundLimit: ({ rounds }) =>
    vscode.l10n.t(
      'The model still wanted to call tools after {0} rounds; Rolecall stopped there. The setting rolecall.tools.maxRounds allows more.',
      rounds,
    ),
  empty: () => vscode.l10n.t('The model answered with nothing.'),
  onlyReasoning: () => vscode.l10n.t('The model reasoned but gave no answer. A larger token limit may help.'),
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

function toolLine({ call, result, cancelled }: LoopEvent<CompletionEvent> & { type: 'toolFinished' }): string {
  if (cancelled) return vscode.l10n.t('{0} was stopped.', call.name);
  if (result.refused) return vscode.l10n.t('You did not allow {0}.', call.name);
  return result.isError ? vscode.l10n.t('{0} failed.', call.name) : vscode.l10n.t('Used {0}.', call.name);
}
