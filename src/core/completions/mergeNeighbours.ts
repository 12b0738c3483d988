import type { ChatMessage, ContentPart } from './request.ts';

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
