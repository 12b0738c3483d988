import type { ToolCall } from '../base/json.ts';

/** A call whose arguments are read and checked. */
export interface CheckedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What one request came to. */
export interface ModelTurn {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | undefined;
  /** What the finish reason says: only `finished` and `unknown` let calls run. */
  readonly ending: 'finished' | 'length' | 'endedEarly' | 'unknown';
  /** False when the connection was cut: nothing is run then. */
  readonly complete: boolean;
}

export interface ToolResult {
  readonly content: string;
  readonly isError: boolean;
  /** The user said no. */
  readonly refused?: boolean;
}

/** @typeParam D the tool as it is sent to the service. */
export interface AgentTool<D> {
  readonly name: string;
  readonly definition: D;
  /** What it does, for people; absent where the words for the model are all there is. */
  readonly userDescription?: string;
  /** Plain sentences for the model about what is wrong with the arguments; see `compileParameters`. */
  readonly check: (args: unknown) => readonly string[];
}

export interface AgentLoopOptions<E, M, D> {
  /** What the conversation holds before; not changed. */
  readonly messages: readonly M[];
  readonly complete: (
    messages: readonly (M | HistoryMessage)[],
    tools: readonly D[],
    signal: AbortSignal,
  ) => AsyncGenerator<E, ModelTurn, void>;
  /** What an event adds to the model's answer as text; empty for anything else. */
  readonly textOf: (event: E) => string;
  /** May reject: a cancellation counts as the user's refusal of this call, anything else as a failed call. */
  readonly invoke: (call: CheckedCall, signal: AbortSignal) => Promise<ToolResult>;
  readonly tools: readonly AgentTool<D>[];
  /** Requests at most. Calls of the last one are not run. */
  readonly maxRounds: number;
  /** Calls that run at one time; 4 when left out. */
  readonly maxParallel?: number;
  readonly signal: AbortSignal;
}

export type RefusalReason = 'unknownTool' | 'invalidJson' | 'invalidArguments' | 'user';

export type AgentLoopEvent<E> =
  | { readonly type: 'round'; readonly round: number }
  | { readonly type: 'model'; readonly event: E }
  | { readonly type: 'toolStarted'; readonly call: CheckedCall }
  | {
      readonly type: 'toolFinished';
      readonly call: CheckedCall;
      readonly result: ToolResult;
      readonly cancelled: boolean;
    }
  | { readonly type: 'toolRefused'; readonly call: ToolCall; readonly reason: RefusalReason; readonly content: string }
  | { readonly type: 'limitReached'; readonly rounds: number };

/** Messages of the chat completions API (specification of the inference service, Message). */
export type HistoryMessage =
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: 'function';
        /** `arguments` always parses to an object: a broken one sent back is a 400. */
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface AgentLoopResult {
  /**
   * - `answered`: the last turn holds no calls.
   * - `cut`: the service broke off a turn with calls; they were not run.
   * - `incomplete`: the connection was cut.
   * - `roundLimit`: the model still wanted to call tools.
   * - `cancelled`, `failed`: see `error`.
   */
  readonly reason: 'answered' | 'cut' | 'incomplete' | 'roundLimit' | 'cancelled' | 'failed';
  /** To be appended to the conversation. */
  readonly history: readonly HistoryMessage[];
  readonly rounds: number;
  /** The last turn that came to its end. */
  readonly turn: ModelTurn | undefined;
  /** What a request was rejected with. */
  readonly error: unknown;
}
