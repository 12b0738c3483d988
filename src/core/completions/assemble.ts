import * as l10n from '@vscode/l10n';
import type { ToolCall } from '../base/toolCall.ts';
import type { ChoiceDelta, Chunk } from './chunk.ts';
import {
  type ChosenToken,
  type Completion,
  type CompletionChoice,
  type CompletionEvent,
  type Notice,
  readFinishReason,
  type Usage,
} from './completion.ts';
import { ToolCallAssembler } from './toolCalls.ts';

/**
 * How the body of an answer ended.
 *
 * - `done`: the service said so (`[DONE]`, or a whole JSON answer).
 * - `cut`: it did not; the answer is still whole when every choice has a finish reason.
 */
export type StreamEnd = { readonly kind: 'done' } | { readonly kind: 'cut'; readonly reason: string };

/** Chunks -> events, and the completion that they form. Keyed by `choice.index`, since choices interleave. */
export class CompletionAssembler {
  readonly #choices = new Map<number, OpenChoice>();
  readonly #notices: Notice[];
  readonly #expected: number;
  readonly #takenIds: ReadonlySet<string>;
  readonly #head: Head = {};
  #usage: Usage | undefined;
  /** The index of the first choice, where one was requested. */
  #only: number | undefined;
  #unfinished = 0;
  #pieces = 0;

  /**
   * @param expected the `n` of the request.
   * @param notices about anything unusual before the answer began; more are added.
   * @param takenIds the IDs of the calls that the conversation already contains.
   */
  constructor(expected = 1, notices: Notice[] = [], takenIds: ReadonlySet<string> = new Set()) {
    this.#expected = expected;
    this.#notices = notices;
    this.#takenIds = takenIds;
  }

  /** True when every requested choice has a finish reason; more may still arrive (usage, late pieces). */
  get isFinished(): boolean {
    return this.#choices.size >= this.#expected && this.#unfinished === 0;
  }

  /** True when any part of an answer has arrived. */
  get hasBegun(): boolean {
    return this.#choices.size > 0;
  }

  /** The number of pieces of the answer itself that have arrived: text, reasoning or a tool call, but no keep-alive. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Takes one chunk and adds what is new in it to `events`. */
  accept(chunk: Chunk, events: CompletionEvent[]): void {
    this.#acceptHead(chunk);
    for (const delta of chunk.choices) this.#acceptDelta(delta, this.#numberOf(delta.index), events);
  }

  #acceptDelta(delta: ChoiceDelta, index: number, events: CompletionEvent[]): void {
    const choice = this.#choice(index);
    if (delta.role !== '') choice.role = delta.role;
    if (delta.reasoning !== '') {
      this.#pieces++;
      choice.reasoning += delta.reasoning;
      tell(events, 'reasoning', index, delta.reasoning);
    }
    if (delta.text !== '') {
      this.#pieces++;
      choice.text += delta.text;
      tell(events, 'text', index, delta.text);
    }
    if (delta.logprobs) {
      for (const token of delta.logprobs) choice.logprobs.push(token);
      events.push({ kind: 'logprobs', choice: index, logprobs: delta.logprobs });
    }
    if (delta.toolCalls.length > 0) {
      choice.toolCalls.accept(delta.toolCalls);
      this.#pieces++;
    }
    if (delta.finishReason !== '') {
      if (choice.finishReason === '') this.#unfinished--;
      choice.finishReason = delta.finishReason;
    }
    if (delta.stopReason !== undefined) choice.stopReason = delta.stopReason;
  }

  /** Adds a notice to the completion. @returns its event. */
  addNotice(notice: Notice): CompletionEvent {
    this.#notices.push(notice);
    return { kind: 'notice', ...notice };
  }

  /** The completion as far as it arrived, for an answer that an error interrupted with `reason`. */
  interrupted(reason: string): Completion {
    return this.#completion(this.#finishedChoices(reason), reason);
  }

  /** Ends the answer: the events that are only known now, and the completion. */
  end(end: StreamEnd): { readonly events: readonly CompletionEvent[]; readonly completion: Completion } {
    const reason = this.#incompleteReason(end);
    const choices = this.#finishedChoices(reason);
    const events = reason === undefined ? this.#contradictions(choices).map((notice) => this.addNotice(notice)) : [];
    for (const choice of choices) {
      if (reason === undefined) for (const call of choice.toolCalls) events.push(toolCallEvent(choice.index, call));
      if (reason === undefined || choice.finishReason !== undefined) events.push(finishEvent(choice));
    }
    if (this.#usage) events.push({ kind: 'usage', usage: this.#usage });
    return { events, completion: this.#completion(choices, reason) };
  }

  #acceptHead(chunk: Chunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    const head = this.#head;
    // Member by member: the first all-empty chunk of some servers has "" and 0 in all of them, others send some late.
    head.id ||= chunk.id;
    head.object ||= chunk.object;
    head.model ||= chunk.model;
    if (chunk.created !== undefined && !head.created) head.created = chunk.created;
    head.fingerprint ||= chunk.fingerprint;
    head.promptLogprobs ??= chunk.promptLogprobs;
  }

  /** Where one answer was requested, the one that arrives becomes the first, whatever its index: no other is read. */
  #numberOf(index: number): number {
    if (this.#expected !== 1) return index;
    this.#only ??= index;
    if (index === this.#only) return 0;
    return index === 0 ? this.#only : index;
  }

  #choice(index: number): OpenChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      const toolCalls = new ToolCallAssembler(this.#takenIds);
      choice = { role: '', text: '', reasoning: '', logprobs: [], toolCalls, finishReason: '', stopReason: undefined };
      this.#choices.set(index, choice);
      this.#unfinished++;
    }
    return choice;
  }

  #incompleteReason(end: StreamEnd): string | undefined {
    if (end.kind === 'cut' && !this.isFinished) return end.reason;
    return this.hasBegun ? undefined : l10n.t('The service ended the response without an answer.');
  }

  #finishedChoices(cut: string | undefined): CompletionChoice[] {
    return [...this.#choices]
      .sort(([one], [other]) => one - other)
      .map(([index, choice]) => finishChoice(index, choice, cut));
  }

  #contradictions(choices: readonly CompletionChoice[]): Notice[] {
    const notices: Notice[] = choices.flatMap(contradiction);
    if (choices.length < this.#expected) {
      const message = l10n.t('The service returned {0} of {1} requested answers.', choices.length, this.#expected);
      notices.push({ code: 'fewerChoices', message });
    }
    return notices;
  }

  #completion(choices: readonly CompletionChoice[], incompleteReason: string | undefined): Completion {
    const { id, object, model, created, fingerprint, promptLogprobs } = this.#head;
    return {
      ...(id ? { id } : {}),
      ...(object ? { object } : {}),
      ...(model ? { model } : {}),
      ...(created === undefined ? {} : { created }),
      ...(fingerprint ? { fingerprint } : {}),
      choices,
      ...(this.#usage ? { usage: this.#usage } : {}),
      ...(promptLogprobs === undefined ? {} : { promptLogprobs }),
      complete: incompleteReason === undefined,
      ...(incompleteReason === undefined ? {} : { incompleteReason }),
      notices: [...this.#notices],
    };
  }
}

/** The parts of an answer that are the same for all its choices. */
type Head = { -readonly [Member in Exclude<keyof Chunk, 'choices' | 'usage'>]?: Chunk[Member] };

interface OpenChoice {
  role: string;
  text: string;
  reasoning: string;
  readonly logprobs: ChosenToken[];
  readonly toolCalls: ToolCallAssembler;
  finishReason: string;
  stopReason: ChoiceDelta['stopReason'];
}

/**
 * Joins texts that arrive together into one event: an event for each token, and a copy for each join, would cost more
 * than reading it. Changing the last event is safe, because a batch is not handed on before it is complete.
 */
function tell(events: CompletionEvent[], kind: 'text' | 'reasoning', choice: number, text: string): void {
  const last = events[events.length - 1];
  if (last?.kind === kind && last.choice === choice) (last as { text: string }).text += text;
  else events.push({ kind, choice, text });
}

function finishChoice(index: number, choice: OpenChoice, cut: string | undefined): CompletionChoice {
  const { finishReason } = choice;
  const ending = readFinishReason(finishReason);
  const isBrokenOff = ending === 'length' || ending === 'endedEarly';
  return {
    index,
    role: choice.role || 'assistant',
    text: choice.text,
    reasoning: choice.reasoning,
    ending,
    toolCalls: choice.toolCalls.calls({
      cut: cut ?? (isBrokenOff ? `The answer ended early (${finishReason}), so this call was not run.` : undefined),
      isFinished: ending === 'finished',
    }),
    ...(choice.logprobs.length > 0 ? { logprobs: [...choice.logprobs] } : {}),
    ...(finishReason === '' ? {} : { finishReason }),
    ...(choice.stopReason === undefined ? {} : { stopReason: choice.stopReason }),
  };
}

function contradiction(choice: CompletionChoice): Notice[] {
  const { finishReason, toolCalls } = choice;
  if ((finishReason === 'tool_calls' || finishReason === 'function_call') && toolCalls.length === 0) {
    const message = l10n.t('The service reported a tool call but did not send one.');
    return [{ code: 'finishWithoutCalls', message }];
  }
  if (finishReason === 'stop' && toolCalls.length > 0) {
    const message = l10n.t(
      'The service reported that the model had finished, but it also called a tool. The tool is run.',
    );
    return [{ code: 'callsWithoutFinish', message }];
  }
  return [];
}

function toolCallEvent(choice: number, call: ToolCall): CompletionEvent {
  return { kind: 'toolCall', choice, call };
}

function finishEvent({ index, finishReason, stopReason }: CompletionChoice): CompletionEvent {
  return {
    kind: 'finish',
    choice: index,
    ...(finishReason === undefined ? {} : { reason: finishReason }),
    ...(stopReason === undefined ? {} : { stopReason }),
  };
}
