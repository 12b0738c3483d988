import type { ChatMessage } from './request.ts';

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
