import type { ChatMessage, ContentPart, ToolCallMessage } from './request.ts';
import { repairArguments } from './toolCalls.ts';

/** What stands for a result that was never kept: a call without a result is refused. */
const NO_RESULT = 'There is no result of this call.';

/**
 * Makes an earlier conversation one that a service accepts: the arguments of a call are the text of a JSON object (a
 * broken one sent back is a 400), every call has exactly one result right after it, and no result is without its call.
 * Arguments are repaired where their meaning is plain; otherwise the call goes, with its result.
 */
export function repairHistory(messages: readonly ChatMessage[]): ChatMessage[] {
  const repaired: ChatMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === 'tool') continue; // Taken with its call, or an orphan.
    if (message.tool_calls === undefined) {
      repaired.push(message);
      continue;
    }
    const results: ChatMessage[] = [];
    while (messages[at + 1]?.role === 'tool') results.push(messages[++at] as ChatMessage);
    for (const each of repairRound(message, message.tool_calls, results)) repaired.push(each);
  }
  return repaired;
}

function repairRound(
  message: ChatMessage,
  calls: readonly ToolCallMessage[],
  results: readonly ChatMessage[],
): ChatMessage[] {
  const kept = calls.flatMap((call): ToolCallMessage[] => {
    const repaired = repairArguments(call.function.arguments);
    if (repaired === undefined || call.function.name === '') return [];
    return [{ ...call, function: { ...call.function, arguments: repaired } }];
  });
  const { tool_calls: _, ...said } = message;
  // What the model said beside its calls stays also without them.
  if (kept.length === 0) return said.content === null || said.content === '' ? [] : [said];
  const found = new Map(results.toReversed().map((result) => [result.tool_call_id, result])); // The first of each call.
  const none = { role: 'tool', content: NO_RESULT };
  return [
    { ...message, tool_calls: kept },
    ...kept.map(({ id }): ChatMessage => found.get(id) ?? { ...none, tool_call_id: id }),
  ];
}

/** What was kept of a conversation, and how much was not. */
export interface FittedHistory {
  readonly messages: readonly ChatMessage[];
  /** Earlier turns left out, each a question with everything that answered it. */
  readonly turns: number;
  /** Earlier rounds of tool calls left out of the turn that is being answered. */
  readonly rounds: number;
}

/**
 * Leaves out the oldest of a conversation until the rest has at most `budget` tokens. Instructions at the beginning stay.
 * Whole turns go first; when only the last is left, its oldest rounds of tool calls go, but never the newest. A call and
 * its results are in the same turn or round, so they are never separated.
 *
 * What cannot be left out may still be too long: the service then says so.
 *
 * @param tokensOf the tokens of one message.
 */
export function fitHistory(
  messages: readonly ChatMessage[],
  budget: number,
  tokensOf: (message: ChatMessage) => number,
): FittedHistory {
  const instructions = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const begin = instructions < 0 ? messages.length : instructions;
  const head = messages.slice(0, begin);
  const turns = split(messages.slice(begin), ({ role }) => role === 'user');
  const size = (part: readonly ChatMessage[]) => part.reduce((sum, message) => sum + tokensOf(message), 0);
  let tokens = size(messages);

  let first = 0;
  for (; first < turns.length - 1 && tokens > budget; first++) tokens -= size(turns[first] ?? []);
  const last = turns.at(-1) ?? [];
  const rounds = split(last, ({ tool_calls }) => tool_calls !== undefined);
  const isRound = (part: readonly ChatMessage[]) => part[0]?.tool_calls !== undefined;
  const kept = [...rounds];
  let left = 0;
  // The beginning of the turn is the question; of the rounds after it, the newest is what the model has to go on with.
  for (let at = rounds.findIndex(isRound); at >= 0 && at < rounds.length - 1 && tokens > budget; at++) {
    const round = rounds[at] ?? [];
    tokens -= size(round);
    kept[at] = [];
    left++;
  }
  return { messages: [...head, ...turns.slice(first, -1).flat(), ...kept.flat()], turns: first, rounds: left };
}

/** Parts that each begin where `begins` says; what stands before the first is a part of its own. */
function split(messages: readonly ChatMessage[], begins: (message: ChatMessage) => boolean): ChatMessage[][] {
  const parts: ChatMessage[][] = [];
  for (const message of messages) {
    const open = parts.at(-1);
    if (open && !begins(message)) open.push(message);
    else parts.push([message]);
  }
  return parts;
}

/**
 * Joins what one side says in a row, because the chat templates of some models refuse roles that do not alternate: a
 * question that got no answer is followed by the next question.
 */
export function mergeNeighbours(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last && canJoin(last) && canJoin(message) && last.role === message.role) {
      merged[merged.length - 1] = { ...last, content: joined(last.content, message.content) };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** Calls and results are matched by their ids, one to one. */
function canJoin({ role, tool_calls, content }: ChatMessage): boolean {
  return role !== 'tool' && tool_calls === undefined && content !== null;
}

function joined(one: ChatMessage['content'], other: ChatMessage['content']): string | readonly ContentPart[] {
  if (typeof one === 'string' && typeof other === 'string') return `${one}\n\n${other}`;
  return [...parts(one), ...parts(other)];
}

function parts(content: ChatMessage['content']): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}
