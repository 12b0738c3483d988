import { type Engine, nextProbabilities } from './languageModel.ts';
import { applyPenalties, lowestLogprob, type SamplingParameters, sampleToken, topTokens } from './sampler.ts';
import { type Plan, type PlannedCall, Script, type Segment } from './script.ts';

/** One entry of `logprobs.content`; `token` shows U+FFFD where the bytes are only a part of a character. */
export interface TokenEntry {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly Omit<TokenEntry, 'top_logprobs'>[];
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** What happens while one choice is written; `tokens` says how many tokens (0 or 1) an event stands for. */
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
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** Why a part of an answer ended. */
type Ending = { readonly by: 'end' | 'length' } | { readonly by: 'stop'; readonly stop: string };

/**
 * Writes one choice token by token: reasoning, then content, then tool calls. Every token, of whatever part, counts
 * towards `maxTokens`; stop strings are looked for in the content only. Arguments of tool calls are written as planned,
 * without sampling, as a server does that holds a model to a grammar; cut by the limit they are not valid JSON.
 */
export function* writeChoice(task: ChoiceTask): Generator<ChoiceEvent, void> {
  const budget = { left: task.maxTokens };
  const reasoned = task.plan.reasoning ? yield* writeReasoning(task, task.plan.reasoning, budget) : true;
  const ending: Ending = reasoned ? yield* writeContent(task, budget) : { by: 'length' };
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

function* writeContent(task: ChoiceTask, budget: Budget): Generator<ChoiceEvent, Ending> {
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
    const { stop, ...certain } = scanner.push(token.text, token.entry);
    yield { kind: 'content', ...certain, tokens: 1 };
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

/** Writes one text: keeps the history the model sees, counts tokens for the penalties and joins bytes to characters. */
class Writer {
  readonly #task: ChoiceTask;
  readonly #script: Script | undefined;
  readonly #history: number[];
  readonly #occurrences = new Map<number, number>();
  // A byte order mark is text like any other here.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(task: ChoiceTask, segments: readonly Segment[] | 'free', history: readonly number[]) {
    const { endOfText } = task.engine.tokenizer;
    this.#task = task;
    this.#script = segments === 'free' ? undefined : new Script(segments, task.engine.tokenizer);
    this.#history = [endOfText, endOfText, endOfText, ...history];
  }

  /** The next token, undefined at the end. `text` is empty while a character is incomplete. */
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

  /** What is left of a character that was cut: U+FFFD, or nothing. */
  flush(): string {
    return this.#decoder.decode();
  }
}

/** A stretch of finished text with the tokens it was made of. */
export interface TextRun {
  readonly text: string;
  readonly entries: readonly TokenEntry[];
  /** The stop string that ended the text; it is not part of `text`. */
  readonly stop?: string;
}

/**
 * Looks for stop strings in text that arrives token by token. Text that may be the beginning of a stop string is held
 * back, together with its token, until that is decided.
 */
export class StopScanner {
  readonly #stops: readonly string[];
  #held: { text: string; entry: TokenEntry }[] = [];

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Takes one more token; gives what is now certain, possibly nothing. */
  push(text: string, entry: TokenEntry): TextRun {
    this.#held.push({ text, entry });
    const waiting = this.#held.map((held) => held.text).join('');
    const found = this.#stops
      .map((stop) => ({ stop, at: waiting.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (found) return { ...this.#cut(found.at), stop: found.stop };
    return this.#release(waiting.length - this.#undecided(waiting));
  }

  /** Gives what is still held: the text ends here, so it cannot become a stop string any more. */
  flush(): TextRun {
    return this.#release(Number.POSITIVE_INFINITY);
  }

  /** How many characters at the end of `text` begin a stop string. */
  #undecided(text: string): number {
    let longest = 0;
    for (const stop of this.#stops)
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length--)
        if (text.endsWith(stop.slice(0, length))) longest = length;
    return longest;
  }

  /** The tokens that lie wholly before `end`. */
  #release(end: number): TextRun {
    let position = 0;
    let count = 0;
    for (const { text } of this.#held) {
      if (position + text.length > end) break;
      position += text.length;
      count++;
    }
    const released = this.#held.splice(0, count);
    return { text: released.map(({ text }) => text).join(''), entries: released.map(({ entry }) => entry) };
  }

  /** The text up to `end`, with every token that begins before it: the last one may reach into the stop string. */
  #cut(end: number): TextRun {
    let text = '';
    const entries: TokenEntry[] = [];
    for (const held of this.#held) {
      if (text.length >= end) break;
      text += held.text;
      entries.push(held.entry);
    }
    this.#held = [];
    return { text: text.slice(0, end), entries };
  }
}
