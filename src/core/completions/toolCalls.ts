import { randomInt } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import { type JsonObject, parseJson, parseJsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/toolCall.ts';
import type { ToolCallDelta } from './chunk.ts';
import { JsonBoundaryScanner } from './jsonBoundary.ts';

/**
 * The tool calls of one choice, put together from deltas. Servers disagree on how a delta says which call it belongs to;
 * the rules are, in this order: a known id; a new id starts a call; an index; the call that was open last.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];
  /** The latest call of each index, of each id, and of each pair of both: a service decides how many there are. */
  readonly #latest = new Map<string, OpenCall>();
  readonly #usedIds: ReadonlySet<string>;
  readonly #newId: () => string;

  /** @param usedIds the IDs of the calls that the conversation already contains. */
  constructor(usedIds: ReadonlySet<string> = new Set(), newId: () => string = randomCallId) {
    this.#usedIds = usedIds;
    this.#newId = newId;
  }

  get size(): number {
    return this.#calls.length;
  }

  /** Accepts the `tool_calls` of one delta. */
  accept(deltas: readonly ToolCallDelta[]): void {
    // Entries of one list are different calls even without an id or index; `isFragment` is the exception.
    const touched = new Set<OpenCall>();
    for (const delta of deltas) {
      if (saysNothing(delta)) continue;
      const call = this.#find(delta, touched) ?? this.#open(delta);
      touched.add(call);
      if (call.id === '' && delta.id !== '') this.#name(call, delta.id);
      call.name ||= delta.name;
      call.text.add(delta.arguments);
    }
  }

  /**
   * The calls in order of arrival.
   *
   * @param end.cut why the answer ended too early; every call then has that problem, because no call of a cut answer may run.
   * @param end.isFinished the service reported that the model finished: only then are broken arguments repaired.
   */
  calls(end: { readonly cut?: string | undefined; readonly isFinished: boolean }): ToolCall[] {
    const ids = new Set(this.#usedIds);
    return this.#calls.map((call) => {
      // Results are matched to calls by id, and some services restart the numbering of calls in each answer.
      call.id = call.id === '' || ids.has(call.id) ? this.#newId() : call.id;
      ids.add(call.id);
      return finish(call, end);
    });
  }

  #find(delta: ToolCallDelta, touched: ReadonlySet<OpenCall>): OpenCall | undefined {
    const call = this.#callOf(delta);
    if (call && !startsAnother(call, delta)) return call;
    const open = delta.index === undefined ? this.#calls.at(-1) : this.#latest.get(indexKey(delta.index));
    if (!open || (touched.has(open) && !isFragment(delta))) return undefined;
    if (delta.id !== '' && open.id !== '' && delta.id !== open.id) {
      // A new id starts a new call, unless it comes without a name in the middle of arguments: some servers make up a
      // fresh id for every delta.
      return delta.name === '' && open.text.json !== '' && open.text.object === undefined ? open : undefined;
    }
    return startsAnother(open, delta) ? undefined : open;
  }

  #callOf({ id, index }: ToolCallDelta): OpenCall | undefined {
    return id === '' ? undefined : (this.#latest.get(pairKey(id, index)) ?? this.#latest.get(idKey(id)));
  }

  #open({ index }: ToolCallDelta): OpenCall {
    const call = { index, id: '', name: '', text: new ArgumentText() };
    this.#calls.push(call);
    if (index !== undefined) this.#latest.set(indexKey(index), call);
    return call;
  }

  #name(call: OpenCall, id: string): void {
    call.id = id;
    this.#latest.set(idKey(id), call);
    this.#latest.set(pairKey(id, call.index), call);
  }
}

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly text: ArgumentText;
}

const indexKey = (index: number) => `index ${index}`;
const idKey = (id: string) => `id ${id}`;
const pairKey = (id: string, index: number | undefined) => `both ${index} ${id}`;

/** The text of a call's arguments as it arrives; parsed when its last bracket has arrived, and not for every piece. */
class ArgumentText {
  json = '';
  #outline = new JsonBoundaryScanner();
  #object: JsonObject | undefined;

  /** The object, while the text is the JSON of an object and nothing else. */
  get object(): JsonObject | undefined {
    if (this.#outline.state !== 'behind') return undefined;
    this.#object ??= parseJsonObject(this.json);
    if (!this.#object) this.#outline.state = 'broken';
    return this.#object;
  }

  /** Appends a piece, unless it repeats what is already whole; the real arguments replace empty ones. */
  add(piece: string): void {
    const again = this.object && parseWhole(piece);
    if (again === undefined) {
      this.json += piece;
      this.#outline.follow(piece);
    } else if (Object.keys(again).length > 0) {
      this.json = piece;
      this.#object = again;
    }
  }
}

function saysNothing(delta: ToolCallDelta): boolean {
  return delta.id === '' && delta.name === '' && delta.arguments === '';
}

/** True for an entry that only continues the call at its index; some gateways send it in the same list as that call's start. */
function isFragment(delta: ToolCallDelta): boolean {
  return delta.index !== undefined && delta.id === '' && delta.name === '';
}

/**
 * True when `delta`, although it refers to `call`, starts another one: it names another tool or another index, or it
 * names the same tool with different complete arguments after complete arguments.
 */
function startsAnother(call: OpenCall, delta: ToolCallDelta): boolean {
  if (delta.name === '' || call.name === '') return false;
  if (delta.name !== call.name) return true;
  if (delta.index !== undefined && call.index !== undefined && delta.index !== call.index) return true;
  if (delta.id !== '') return false;
  const before = call.text.object;
  const after = before && parseWhole(delta.arguments);
  return before !== undefined && after !== undefined && !isSameJson(before, after);
}

/** `json` as an object; checking its end first saves parsing most pieces of a longer text. */
function parseWhole(json: string): JsonObject | undefined {
  return json.trimEnd().endsWith('}') ? parseJsonObject(json) : undefined;
}

function isSameJson(one: JsonObject, other: JsonObject): boolean {
  try {
    return JSON.stringify(one) === JSON.stringify(other);
  } catch {
    return false; // Nested too deep to be written.
  }
}

function finish(
  { id, name, text }: OpenCall,
  { cut, isFinished }: Parameters<ToolCallAssembler['calls']>[0],
): ToolCall {
  const call = { id, name, arguments: text.json };
  if (cut !== undefined) return { ...call, problem: cut };
  if (name === '') return { ...call, problem: l10n.t('The model called a tool without naming it.') };
  if (text.object) return { ...call, parsed: text.object };
  const json = isFinished ? repairArguments(text.json) : undefined;
  const parsed = json === undefined ? undefined : parseJsonObject(json);
  if (json !== undefined && parsed) return { ...call, arguments: json, parsed };
  return { ...call, problem: l10n.t`The arguments that the model wrote for ${name} are not a JSON object.` };
}

/**
 * `text` as the JSON of an object, where its meaning is clear; otherwise `undefined`. Unchanged if it is that already.
 * Empty text and `null` mean "no arguments"; empty arguments before the real ones are dropped; an object within a
 * string or a Markdown fence is taken out; a comma before a closing bracket is dropped. Text that was cut in the middle
 * is not repaired: its meaning is lost.
 */
export function repairArguments(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return '{}';
  if (parseJsonObject(text)) return text;
  const value = parseJson(trimmed);
  if (typeof value === 'string') return parseJsonObject(value) ? value : undefined;
  if (value !== undefined) return undefined;
  const candidates = [trimmed.replace(/^\{\s*\}/, ''), withoutTrailingCommas(withoutFence(trimmed))];
  return candidates.find((candidate) => parseJsonObject(candidate) !== undefined);
}

/** The content of a Markdown fence, or `text`. */
function withoutFence(text: string): string {
  const isFenced = text.startsWith('```') && text.endsWith('```');
  return isFenced ? text.slice(3, -3).replace(/^\w*/, '').trim() : text;
}

/** Commas before `}` and `]` dropped, except within strings. */
function withoutTrailingCommas(json: string): string {
  let isInString = false;
  // A pattern for a whole string would exhaust the stack on a long one, and take quadratic time where its end is missing.
  return json.replace(/\\.|"|,(?=\s*[}\]])/g, (found) => {
    if (found === '"') isInString = !isInString;
    return found === ',' && !isInString ? '' : found;
  });
}

/** Nine letters and digits: some chat templates accept nothing else when the call is sent back. */
function randomCallId(): string {
  return Array.from({ length: 9 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
