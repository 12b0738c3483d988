import { isJsonObject, parseJson, parseJsonObject } from '../base/json.ts';
import type { ChatMessage, ToolCallMessage } from './request.ts';

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
    repaired.push(...repairRound(message, message.tool_calls, results));
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
  return [{ ...message, tool_calls: kept }, ...kept.map(({ id }) => resultOf(id, results))];
}

function resultOf(id: string, results: readonly ChatMessage[]): ChatMessage {
  return (
    results.find(({ tool_call_id }) => tool_call_id === id) ?? { role: 'tool', tool_call_id: id, content: NO_RESULT }
  );
}

/**
 * `text` as the text of a JSON object: unchanged when it is one. Empty text and `null` are "no arguments"; an object within
 * a string or a Markdown fence is taken out, a comma before a closing bracket is dropped. `undefined` for anything else:
 * what was cut in the middle has lost what the model meant.
 */
export function repairArguments(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return '{}';
  if (parseJsonObject(text)) return text;
  const value = parseJson(trimmed);
  if (typeof value === 'string') return parseJsonObject(value) ? value : undefined;
  if (value !== undefined) return isJsonObject(value) ? trimmed : undefined;
  const unfenced = trimmed.replace(/^```\w*\s*([\s\S]*?)\s*```$/, '$1');
  const candidate = withoutTrailingCommas(unfenced);
  return parseJsonObject(candidate) ? candidate : undefined;
}

/** Commas before `}` and `]` dropped, except within strings. */
function withoutTrailingCommas(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === ',' ? '' : found));
}
