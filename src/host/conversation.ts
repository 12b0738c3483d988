import type * as vscode from 'vscode';
import type { Completion, CompletionEvent, Notice } from '../core/completions/completion.ts';
import type { ChatMessage, CompletionParameters, FunctionTool } from '../core/completions/request.ts';
import type {
  AgentLoopEvent,
  AgentLoopResult,
  AgentTool,
  CheckedCall,
  ModelTurn,
  ToolResult,
} from '../core/tools/agentLoop.ts';
import { runAgentLoop } from '../core/tools/agentLoop.ts';
import type { Cloud } from './cloud.ts';
import { inferenceAccess, type Model } from './modelCatalog.ts';
import { optionsFor, parametersFor, type RequestDeps, unsentParameters } from './modelRequest.ts';
import type { PickerChoices } from './pickerChoices.ts';

/** A problem in a file that defines tools. An `error` keeps a tool, or the whole file, from being offered. */
export interface ToolFileProblem {
  readonly file: vscode.Uri;
  /** Counted from zero. */
  readonly line: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** The options of one conversation for its tools. */
export interface ToolRegistryOptions {
  /** The token of the chat request they serve: what the editor itself asks about a tool is shown there. */
  readonly token?: vscode.ChatParticipantToolToken | undefined;
  /** The access tools, by their names in `@rolecall`; none unless given. */
  readonly access?: ReadonlySet<string>;
  /**
   * Names of the tools whose results may be confidential (access data, or anything that the user can read): after one
   * has answered, tools that can send data ask each time. Tools add themselves. Without it, only this call counts.
   */
  readonly answered?: Set<string>;
  /** Called with each question to the user, so that its time does not count as the answer's. */
  readonly whileAsking?: <T>(question: Promise<T>) => Promise<T>;
}

export type OpenToolRegistry = (opening?: ToolRegistryOptions) => Promise<ToolRegistry>;

/** The tools offered in one conversation, and the way to run them. */
export interface ToolRegistry {
  readonly tools: readonly AgentTool<FunctionTool>[];
  readonly invoke: (call: CheckedCall, signal: AbortSignal) => Promise<ToolResult>;
  /** The most that a tool can do, as a sentence. */
  readonly reach?: (name: string) => Promise<string | undefined>;
  /** The problems in the files that define tools, in the order of their text. */
  readonly problems?: readonly ToolFileProblem[];
  /** Sentences for the user about these tools on this machine. */
  readonly remarks?: readonly string[];
}

/** The last question to `@rolecall` in this window, with its request; for making a file of it. */
export interface LastExchange {
  current?: {
    /** See `ownerOf`: another account never sees it. */
    readonly owner: string;
    readonly model: string;
    readonly parameters: CompletionParameters;
    readonly messages: readonly ChatMessage[];
    /** Offered tools. */
    readonly toolRegistry: Pick<ToolRegistry, 'tools'>;
  };
}

/** Instructions for the model before a question, and a line for the user if something is missing. */
export interface Briefing {
  readonly instructions: string;
  readonly notice?: string;
}

export interface Conversation extends RequestDeps {
  readonly cloud: Cloud;
  readonly model: Model;
  /** The choices for the model in VS Code's picker. */
  readonly choices?: PickerChoices | undefined;
  readonly messages: readonly ChatMessage[];
  readonly toolRegistry: ToolRegistry;
}

/**
 * One answer, including tool calls: asks the model, runs its calls, sends it the results, until it answers. Shared by
 * the chat participant and the editor commands, so that tools work the same in both.
 */
export function runConversation(
  { cloud, model, choices, messages, toolRegistry, ...request }: Conversation,
  signal: AbortSignal,
): AsyncGenerator<AgentLoopEvent<CompletionEvent>, AgentLoopResult, void> {
  const deps = { fetch: request.fetch, log: request.log, ...inferenceAccess(cloud, request.settings) };
  const parameters = parametersFor(model, request.settings, choices);
  const options = optionsFor(model, request);
  const reportedNotices = new Set<string>();
  return runAgentLoop<CompletionEvent, ChatMessage, FunctionTool>({
    messages,
    tools: model.tools === false ? [] : toolRegistry.tools,
    // A model that calls tools endlessly is stopped with a visible line.
    maxRounds: request.settings.maxToolRounds(),
    signal,
    invoke: toolRegistry.invoke,
    textOf: (event) => (event.kind === 'text' && event.choice === 0 ? event.text : ''),
    complete: async function* (history, tools, stop): AsyncGenerator<CompletionEvent, ModelTurn, undefined> {
      const completionRequest = {
        ...parameters,
        model: model.id,
        messages: history,
        ...(tools.length > 0 && { tools }),
      };
      for (const notice of reportedNotices.size === 0
        ? unsentParameters({ cloud, model, choices }, request.settings)
        : []) {
        reportedNotices.add(keyOf(notice));
        yield { kind: 'notice', ...notice };
      }
      const { streamCompletion } = await import('../core/completions/client.ts');
      const completion = yield* withoutRepeatedNotices(
        streamCompletion(deps, cloud.connection, completionRequest, options, stop),
        reportedNotices,
      );
      if (completion.usage) request.usage.add(model, completion.usage);
      const choice = completion.choices[0];
      return {
        text: choice?.text ?? '',
        reasoning: choice?.reasoning ?? '',
        toolCalls: choice?.toolCalls ?? [],
        finishReason: choice?.finishReason,
        ending: choice?.ending ?? 'unknown',
        complete: completion.complete,
      };
    },
  });
}

/** Every round of an answer is a request, and meets the same limits: so a notice is shown once, not for each round. */
async function* withoutRepeatedNotices(
  events: AsyncGenerator<CompletionEvent, Completion, undefined>,
  reportedNotices: Set<string>,
): AsyncGenerator<CompletionEvent, Completion, undefined> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      const event = next.value;
      if (event.kind === 'notice') {
        const key = keyOf(event);
        if (reportedNotices.has(key)) continue;
        reportedNotices.add(key);
      }
      yield event;
    }
  } finally {
    await events.return(undefined as never);
  }
}

/** Left-out fields are announced one by one; other notices repeat each round with other numbers. */
function keyOf({ code, message }: Notice): string {
  return code === 'parameterLeftOut' ? message : code;
}

/** How an answer ended, if it did not end normally. */
export function endingOf({ reason, turn }: AgentLoopResult): AnswerEnding | undefined {
  switch (reason) {
    case 'cut':
      return turn?.ending === 'length' ? 'length' : 'endedEarly';
    case 'incomplete':
    case 'roundLimit':
      return reason;
    case 'answered':
      if (turn?.ending === 'length' || turn?.ending === 'endedEarly') return turn.ending;
      if (turn && turn.text.trim() === '') return turn.reasoning.trim() === '' ? 'empty' : 'onlyReasoning';
      return undefined;
    default:
      return undefined;
  }
}

export type AnswerEnding = 'length' | 'endedEarly' | 'incomplete' | 'roundLimit' | 'empty' | 'onlyReasoning';
