import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type {
  Completion,
  CompletionChoice,
  CompletionEvent,
  Notice,
  Usage,
} from '../../core/completions/completion.ts';
import { closingLine } from '../answerText.ts';
import { closingFence, escapeMarkdown } from '../markdown.ts';
import { describeError } from '../showError.ts';

type ResponseProgress = vscode.Progress<vscode.LanguageModelResponsePart>;

/**
 * Passes an answer's parts on to VS Code as they arrive. VS Code runs every call it is given, so the calls come last, and
 * only where {@link answerProblem} finds nothing wrong. However it ends, the connection is closed.
 */
export async function streamToChat(
  events: AsyncGenerator<CompletionEvent, Completion>,
  progress: ResponseProgress,
  log: Log,
): Promise<Completion> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) {
        reportEnd(next.value, progress);
        return next.value;
      }
      report(next.value, progress, log);
    }
  } finally {
    await events.return(undefined as never);
  }
}

const TOLD: readonly Notice['code'][] = ['toolsDropped', 'historyFitted', 'parameterLeftOut'];

function report(event: CompletionEvent, progress: ResponseProgress, log: Log): void {
  if (event.kind === 'text' && event.choice === 0) progress.report(new vscode.LanguageModelTextPart(event.text));
  if (event.kind === 'usage') reportUsage(event.usage, progress, log);
  if (event.kind === 'notice') {
    log.info(event.message);
    // Only notices that change the request are shown; the others are logged.
    if (TOLD.includes(event.code)) reportLine(event.message, progress);
  }
}

/** A line of Rolecall's own before the answer: VS Code's own chat has no other place for it. */
export function reportLine(text: string, progress: ResponseProgress): void {
  progress.report(new vscode.LanguageModelTextPart(`*${escapeMarkdown(text)}*\n\n`));
}

function reportEnd(completion: Completion, progress: ResponseProgress): void {
  if (answerProblem(completion) !== undefined) return;
  for (const { id, name, parsed } of completion.choices[0]?.toolCalls ?? []) {
    if (parsed) progress.report(new vscode.LanguageModelToolCallPart(id, name, parsed));
  }
  const line = earlyEnd(completion.choices[0]);
  if (line === undefined) return;
  const fence = closingFence(completion.choices[0]?.text ?? '');
  progress.report(new vscode.LanguageModelTextPart(`${fence}\n\n*${escapeMarkdown(line)}*`));
}

/** The line below an answer that the service ended early. */
function earlyEnd(choice: CompletionChoice | undefined): string | undefined {
  if (choice?.ending !== 'length' && choice?.ending !== 'endedEarly') return undefined;
  const turn = { ...choice, finishReason: choice.finishReason, complete: true };
  return closingLine({ reason: 'cut', turn, history: [], rounds: 1, error: undefined });
}

/**
 * Token counts as a data part of the type `usage`, which VS Code's context display reads. It is no declared API: an editor
 * that does not take it loses nothing.
 */
function reportUsage(usage: Usage, progress: ResponseProgress, log: Log): void {
  const { promptTokens, completionTokens } = usage;
  if (promptTokens === undefined || completionTokens === undefined) return;
  try {
    const counts = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: usage.totalTokens ?? promptTokens + completionTokens,
      ...(usage.promptTokensDetails !== undefined && { prompt_tokens_details: usage.promptTokensDetails }),
    };
    progress.report(vscode.LanguageModelDataPart.json(counts, 'usage'));
  } catch (error) {
    log.debug(`The editor does not take token counts: ${describeError(error)}`);
  }
}

/**
 * Why an answer is incomplete or missing: VS Code would show it as complete, or show "no response" without a reason.
 */
export function answerProblem({ complete, incompleteReason, choices }: Completion): string | undefined {
  if (!complete) return incompleteReason;
  const choice = choices[0];
  const ending = earlyEnd(choice);
  if (ending !== undefined && choice && choice.toolCalls.length > 0) {
    return vscode.l10n.t('{0} It was calling a tool, which was not run.', ending);
  }
  const broken = choice?.toolCalls.find(({ problem }) => problem !== undefined);
  if (broken) return broken.problem;
  if (choice && (choice.text.trim() !== '' || choice.toolCalls.length > 0)) return undefined;
  if (choice?.ending === 'endedEarly') return ending;
  return choice && choice.reasoning.trim() !== ''
    ? vscode.l10n.t('The model reasoned but gave no answer. A larger token limit may help.')
    : vscode.l10n.t('The model returned an empty answer.');
}
