import { randomInt } from 'node:crypto';
import { type JsonObject, parseJson, parseJsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/toolCall.ts';
import type { ToolCallDelta } from './chunk.ts';

/**
 * The tool calls of one choice, put together from deltas. Servers disagree on how a delta says which call it belongs to;
 * the rules are, in this order: a known id; a new id starts a call; an index; the call that was open last.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];
  readonly #newId: () => string;

  constructor(newId: () => string = randomCallId) {
    this.#newId = newId;
  }

  get size(): number {
    return this.#calls.length;
  }

  /** Takes the `tool_calls` of one delta. */
  accept(deltas: readonly ToolCallDelta[]): void {
    // Entries of one list are different calls, also where neither id nor index says so; see `isFragment` for the others.
    const touched = new Set<OpenCall>();
    for (const delta of deltas) {
      if (saysNothing(delta)) continue;
      const call = this.#find(delta, touched) ?? this.#open(delta);
      touched.add(call);
      call.id ||= delta.id;
      call.name ||= delta.name;
      call.json = join(call.json, delta.arguments);
    }
  }

  /**
   * The calls in order of arrival.
   *
   * @param end.cut why the answer ended too early; every call then has that problem, because no call of a cut answer may run.
   * @param end.isFinished the service said that the model came to its end: only then no arguments at all mean `{}`.
   */
  calls(end: { readonly cut?: string | undefined; readonly isFinished: boolean }): ToolCall[] {
    const ids = new Set<string>();
    return this.#calls.map((call) => {
      // Results are matched to calls by id, so a repeated id is replaced as a missing one is.
      call.id = call.id === '' || ids.has(call.id) ? this.#newId() : call.id;
      ids.add(call.id);
      return finish(call, end);
    });
  }

  #find(delta: ToolCallDelta, touched: ReadonlySet<OpenCall>): OpenCall | undefined {
    const known = this.#known(delta);
    if (known && !startsAnother(known, delta)) return known;
    const open =
      delta.index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === delta.index);
    if (!open || (touched.has(open) && !isFragment(delta))) return undefined;
    if (delta.id !== '' && open.id !== '' && delta.id !== open.id) {
      // A new id starts a new call, unless it comes without a name in the middle of arguments: some servers make up a
      // fresh id for every delta.
      return delta.name === '' && open.json !== '' && wholeObject(open.json) === undefined ? open : undefined;
    }
    return startsAnother(open, delta) ? undefined : open;
  }

  #known(delta: ToolCallDelta): OpenCall | undefined {
    if (delta.id === '') return undefined;
    const sameId = this.#calls.filter((call) => call.id === delta.id);
    return sameId.findLast((call) => call.index === delta.index) ?? sameId.at(-1);
  }

  #open(delta: ToolCallDelta): OpenCall {
    const call = { index: delta.index, id: '', name: '', json: '' };
    this.#calls.push(call);
    return call;
  }
}

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  json: string;
}

function saysNothing(delta: ToolCallDelta): boolean {
  return delta.id === '' && delta.name === '' && delta.arguments === '';
}

/** True for an entry that only goes on with the call at its index, which some gateways join to that call's beginning. */
function isFragment(delta: ToolCallDelta): boolean {
  return delta.index !== undefined && delta.id === '' && delta.name === '';
}

/**
 * True when `delta`, though it points at `call`, begins another one: it names another tool or another place, or it names
 * the same tool with other whole arguments after whole arguments.
 */
function startsAnother(call: OpenCall, delta: ToolCallDelta): boolean {
  if (delta.name === '' || call.name === '') return false;
  if (delta.name !== call.name) return true;
  if (delta.index !== undefined && call.index !== undefined && delta.index !== call.index) return true;
  if (delta.id !== '') return false;
  const before = wholeObject(call.json);
  const after = wholeObject(delta.arguments);
  return before !== undefined && after !== undefined && JSON.stringify(before) !== JSON.stringify(after);
}

/** Appends a piece of arguments, unless it says again what is already whole. */
function join(json: string, piece: string): string {
  if (json === '' || piece === '') return json + piece;
  const again = wholeObject(piece);
  if (again === undefined || wholeObject(json) === undefined) return json + piece;
  return Object.keys(again).length === 0 ? json : piece;
}

/** `json` as an object; the look at its end saves parsing a long argument once more for every piece. */
function wholeObject(json: string): JsonObject | undefined {
  return json.trimEnd().endsWith('}') ? parseJsonObject(json) : undefined;
}

function finish(call: OpenCall, { cut, isFinished }: Parameters<ToolCallAssembler['calls']>[0]): ToolCall {
  const json = withoutEmptyStart(call.json.trim() === '' && isFinished ? '{}' : call.json);
  const base = { id: call.id, name: call.name, arguments: json };
  if (cut !== undefined) return { ...base, problem: cut };
  if (call.name === '') return { ...base, problem: 'The model called a tool without naming it.' };
  const direct = parseJsonObject(json);
  if (direct) return { ...base, parsed: direct };
  const parsed = unwrap(parseJson(json), isFinished);
  if (parsed) return { ...base, arguments: JSON.stringify(parsed), parsed };
  return { ...base, problem: `The arguments that the model wrote for ${call.name} are not a JSON object.` };
}

/** Some servers open every call with the arguments `{}` and then send the real ones. */
function withoutEmptyStart(json: string): string {
  const rest = json.replace(/^\s*\{\s*\}/, '');
  return rest !== '' && parseJson(json) === undefined && parseJsonObject(rest) ? rest : json;
}

/** `null` is how some servers write "no arguments"; a string may hold the object's text once more. */
function unwrap(value: unknown, isFinished: boolean): JsonObject | undefined {
  if (value === null) return isFinished ? {} : undefined;
  return typeof value === 'string' ? parseJsonObject(value) : undefined;
}

/** Nine letters and digits: some chat templates accept nothing else when the call is sent back. */
function randomCallId(): string {
  return Array.from({ length: 9 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
