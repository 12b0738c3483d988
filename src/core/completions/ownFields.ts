import type { Notice } from './completion.ts';
import type { CompletionRequest } from './request.ts';

/** The request fields that Rolecall may set by itself, and so may leave out again. */
export const ownFields = ['stream', 'stream_options', 'tools', 'tool_choice'] as const;
export type OwnField = (typeof ownFields)[number];

/** `request` without `fields`; without `stream` it asks for the answer in one piece, which is what that means. */
export function withoutFields(request: CompletionRequest, fields: readonly OwnField[]): CompletionRequest {
  const kept = Object.entries(request).filter(([name]) => !fields.includes(name as OwnField));
  return {
    ...(Object.fromEntries(kept) as unknown as CompletionRequest),
    ...(fields.includes('stream') && { stream: false }),
  };
}

/** What a person is told when `fields` are left out of a request. */
export function noticesOf(fields: readonly OwnField[], model: string): Notice[] {
  const notices: Notice[] = [];
  if (fields.includes('stream')) {
    const message = `The model "${model}" does not stream, so its answer comes in one piece.`;
    notices.push({ code: 'streamDropped', message });
  } else if (fields.includes('stream_options')) {
    const message = 'The service does not report how many tokens a streamed answer used.';
    notices.push({ code: 'streamOptionsDropped', message });
  }
  if (fields.includes('tools')) {
    const message = `The model "${model}" does not support tools, so it was asked without them.`;
    notices.push({ code: 'toolsDropped', message });
  }
  return notices;
}
