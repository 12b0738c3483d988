import type { ChatMessage, ToolCallMessage } from './request.ts';
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
