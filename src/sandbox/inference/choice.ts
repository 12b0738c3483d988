import { type Engine, nextProbabilities } from './languageModel.ts';
import { applyPenalties, lowestLogprob, type SamplingParameters, sampleToken, topTokens } from './sampler.ts';
import { type Plan, type PlannedCall, Script, type Segment } from './script.ts';

/** An entry of `logprobs.content`. `token` contains U+FFFD if its bytes are only part of a character. */
export interface TokenEntry {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly Omit<TokenEntry, 'top_logprobs'>[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** A step in writing a choice. `tokens` is the number of tokens (0 or 1) that it accounts for. */
export type ChoiceEvent =
  | { readonly kind: 'reasoning'; readonly text: string; readonly tokens: number }
  | {
      readonly kind: 'content';
      readonly text: string;
      readonly entries: readonly TokenEntry[];
      readonly tokens: number;
    }
  | { readonly kind: 'callStart'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly kind: 'callArguments'; readonly index: number; readonly text: string; readonly tokens: number }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly stop: string | null };

export interface ChoiceTask {
  readonly engine: Engine;
  readonly plan: Plan;
  readonly sampling: SamplingParameters;
  readonly stops: readonly string[];
  readonly topLogprobs: number;
  readonly maxTokens: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Why the content ended. */
type ContentEnd = { readonly by: 'end' | 'length' } | { readonly by: 'stop'; readonly stop: string };

/**
 * Writes a choice token by token: reasoning, then content, then tool calls. The tokens of all parts count towards
 * `maxTokens`, but only the content is searched for stop strings. The arguments of tool calls are written as planned,
 * without sampling, like those of a server that restricts a model to a grammar. If the limit cuts them off, they are
 * not valid JSON.
 */
export function* writeChoice(task: ChoiceTask): Generator<ChoiceEvent, void> {
  const budget = { left: task.maxTokens };
  const hasFinishedReasoning = task.plan.reasoning ? yield* writeReasoning(task, task.plan.reasoning, budget) : true;
  const ending: ContentEnd = hasFinishedReasoning ? yield* writeContent(task, budget) : { by: 'length' };
  if (ending.by === 'stop') yield { kind: 'finish', reason: 'stop', stop: ending.stop };
  else if (ending.by === 'length' || !(yield* writeCalls(task, budget)))
    yield { kind: 'finish', reason: 'length', stop: null };
  else yield { kind: 'finish', reason: task.plan.calls.length > 0 ? 'tool_calls' : 'stop', stop: null };
}

interface Budget {
  left: number;
}

function* writeReasoning(
  task: ChoiceTask,
  segments: readonly Segment[],
  budget: Budget,
): Generator<ChoiceEvent, boolean> {
  const writer = new Writer(task, segments, []);
  while (budget.left > 0) {
    const token = writer.write();
    if (!token) return true;
    budget.left--;
    yield { kind: 'reasoning', text: token.text, tokens: 1 };
  }
  return false;
}

function* writeContent(task: ChoiceTask, budget: Budget): Generator<ChoiceEvent, ContentEnd> {
  if (task.plan.content === undefined) return { by: 'end' };
  const writer = new Writer(task, task.plan.content, task.plan.history);
  const scanner = new StopScanner(task.stops);
  let ended = false;
  while (budget.left > 0 && !ended) {
    const token = writer.write();
    if (!token) {
      ended = true;
      break;
    }
    budget.left--;
    const { stop, ...final } = scanner.push(token.text, token.entry);
    yield { kind: 'content', ...final, tokens: 1 };
    if (stop !== undefined) return { by: 'stop', stop };
  }
  const rest = scanner.flush();
  const unfinished = writer.flush();
  if (rest.entries.length > 0 || unfinished !== '')
    yield { kind: 'content', text: rest.text + unfinished, entries: rest.entries, tokens: 0 };
  return { by: ended ? 'end' : 'length' };
}

function* writeCalls(task: ChoiceTask, budget: Budget): Generator<ChoiceEvent, boolean> {
  for (const [index, call] of task.plan.calls.entries()) {
    if (budget.left === 0) return false;
    yield { kind: 'callStart', index, id: callId(task.random), name: call.name };
    const decoder = new TextDecoder();
    for (const id of task.engine.tokenizer.encode(argumentsText(call))) {
      if (budget.left === 0) return false;
      budget.left--;
      const text = decoder.decode(task.engine.tokenizer.bytes(id), { stream: true });
      yield { kind: 'callArguments', index, text, tokens: 1 };
    }
  }
  return true;
}

const argumentsText = (call: PlannedCall): string => JSON.stringify(call.arguments);

function callId(random: () => number): string {
  return `call_${Array.from({ length: 24 }, () => Math.floor(random() * 16).toString(16)).join('')}`;
}

/** Writes a text: keeps the history for the model, counts tokens for the penalties and joins bytes to characters. */
class Writer {
  readonly #task: ChoiceTask;
  readonly #script: Script | undefined;
  readonly #history: number[];
  readonly #occurrences = new Map<number, number>();
  // Keep byte order marks, which are ordinary text here.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(task: ChoiceTask, segments: readonly Segment[] | 'free', history: readonly number[]) {
    const { endOfText } = task.engine.tokenizer;
    this.#task = task;
    this.#script = segments === 'free' ? undefined : new Script(segments, task.engine.tokenizer);
    this.#history = [endOfText, endOfText, endOfText, ...history];
  }

  /** Writes the next token, or returns `undefined` at the end. `text` is empty as long as a character is incomplete. */
  write(): { text: string; entry: TokenEntry } | undefined {
    const { engine, sampling, random, topLogprobs } = this.#task;
    const next = nextProbabilities(engine.model, this.#history, this.#script);
    const probabilities = applyPenalties(next, this.#occurrences, sampling);
    const id = sampleToken(probabilities, sampling, random);
    if (id === engine.tokenizer.endOfText) return undefined;
    this.#script?.advance(id);
    this.#history.push(id);
    this.#occurrences.set(id, (this.#occurrences.get(id) ?? 0) + 1);
    const describe = (token: number): Omit<TokenEntry, 'top_logprobs'> => ({
      token: engine.tokenizer.decode([token]),
      logprob: Math.max(Math.log(probabilities[token] ?? 0), lowestLogprob),
      bytes: [...engine.tokenizer.bytes(token)],
    });
    const entry = { ...describe(id), top_logprobs: topTokens(probabilities, topLogprobs).map(describe) };
    return { text: this.#decoder.decode(engine.tokenizer.bytes(id), { stream: true }), entry };
  }

  /** Returns U+FFFD if the last character is incomplete, otherwise an empty string. */
  flush(): string {
    return this.#decoder.decode();
  }
}

/** Text that is final, with its tokens. */
export interface TextRun {
  readonly text: string;
  readonly entries: readonly TokenEntry[];
  /** The stop string that ended the text, which is not part of `text`. */
  readonly stop?: string;
}

/**
 * Searches text that arrives token by token for stop strings. Text that may be the beginning of a stop string is held
 * back, together with its tokens, until the next tokens decide it.
 */
export class StopScanner {
  readonly #stops: readonly string[];
  #pending: { text: string; entry: TokenEntry }[] = [];

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Adds a token. Returns the text that is now final, which may be empty. */
  push(text: string, entry: TokenEntry): TextRun {
    this.#pending.push({ text, entry });
    const pendingText = this.#pending.map((token) => token.text).join('');
    const match = this.#stops
      .map((stop) => ({ stop, at: pendingText.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (match) return { ...this.#cut(match.at), stop: match.stop };
    return this.#release(pendingText.length - this.#undecided(pendingText));
  }

  /**
   * Returns the text that is still held back, which cannot become a stop string any more because the text has ended.
   */
  flush(): TextRun {
    return this.#release(Number.POSITIVE_INFINITY);
  }

  /** The number of characters at the end of `text` that may be the beginning of a stop string. */
  #undecided(text: string): number {
    let longest = 0;
    for (const stop of this.#stops)
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length--)
        if (text.endsWith(stop.slice(0, length))) longest = length;
    return longest;
  }

  /** Releases the tokens that are entirely before `end`. */
  #release(end: number): TextRun {
    let position = 0;
    let count = 0;
    for (const { text } of this.#pending) {
      if (position + text.length > end) break;
      position += text.length;
      count++;
    }
    const released = this.#pending.splice(0, count);
    return { text: released.map(({ text }) => text).join(''), entries: released.map(({ entry }) => entry) };
  }

  /**
   * Returns the text before `end`, with all tokens that start before it. The last token may overlap the stop string.
   */
  #cut(end: number): TextRun {
    let text = '';
    const entries: TokenEntry[] = [];
    for (const token of this.#pending) {
      if (text.length >= end) break;
      text += token.text;
      entries.push(token.entry);
    }
    this.#pending = [];
    return { text: text.slice(0, end), entries };
  }
}
