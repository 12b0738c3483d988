import type { Notice } from './completion.ts';
import type { CompletionParameters, CompletionRequest } from './request.ts';

/** The request fields that Rolecall may set by itself, and so may leave out again. */
export const ownFields = ['stream', 'stream_options', 'tools', 'tool_choice'] as const;
export type OwnField = (typeof ownFields)[number];

/** What a field belongs to: it means nothing without it. */
export const belongsTo: Partial<Readonly<Record<OwnField, OwnField>>> = {
  stream_options: 'stream',
  tool_choice: 'tools',
};

/** Those fields of Rolecall's own that the person left to it; of tools only where they are Rolecall's offer. */
export function ownFieldsOf(asked: CompletionParameters, toolsAreOptional: boolean): OwnField[] {
  return ownFields.filter((field) => {
    if (field === 'tools') return toolsAreOptional;
    return asked[field] === undefined && (field !== 'tool_choice' || toolsAreOptional);
  });
}

/**
 * Which fields go when a model refuses `refused`: those of `own`, and a person's choice between tools that go. Where only
 * the choice is refused and it is "none", the tools go with it, since that says the same. `stream_options`, whoever set
 * them, go with the stream: servers refuse them without one, unless they are null.
 */
export function fieldsThatGo(
  refused: readonly OwnField[],
  own: readonly OwnField[],
  { stream, stream_options, tool_choice }: CompletionParameters,
): OwnField[] {
  const isNone = tool_choice === 'none' && refused.includes('tool_choice');
  const gone = own.filter((field) => refused.includes(field));
  const goesWithStream =
    stream === false ? Boolean(stream_options) : gone.includes('stream') && stream_options !== null;
  if (goesWithStream) gone.push('stream_options');
  if (gone.includes('tools') || (isNone && own.includes('tools'))) gone.push('tools', 'tool_choice');
  return [...new Set(gone)];
}

/** `request` without what the model refuses, as far as it may go, and what a person is told about it. */
export function withoutRefused(
  request: CompletionRequest,
  refused: readonly OwnField[],
  own: readonly OwnField[],
): { readonly request: CompletionRequest; readonly notices: readonly Notice[] } {
  const gone = fieldsThatGo(refused, own, request).filter((field) => request[field] !== undefined);
  return { request: withoutFields(request, gone), notices: noticesOf(gone, refused, own, request.model) };
}

/** Without `stream` a request asks for the answer in one piece, which is what that means. */
function withoutFields(request: CompletionRequest, fields: readonly OwnField[]): CompletionRequest {
  const kept = Object.entries(request).filter(([name]) => !fields.includes(name as OwnField));
  return {
    ...(Object.fromEntries(kept) as unknown as CompletionRequest),
    ...(fields.includes('stream') && { stream: false }),
  };
}

function noticesOf(
  gone: readonly OwnField[],
  refused: readonly OwnField[],
  own: readonly OwnField[],
  model: string,
): Notice[] {
  const notices: Notice[] = [];
  if (gone.includes('stream')) {
    const message = `The model "${model}" does not stream, so its answer comes in one piece.`;
    notices.push({ code: 'streamDropped', message });
  } else if (gone.includes('stream_options') && refused.includes('stream_options')) {
    const message = 'The service does not report how many tokens a streamed answer used.';
    notices.push({ code: 'streamOptionsDropped', message });
  }
  if (gone.includes('stream_options') && !own.includes('stream_options')) {
    const message = 'stream_options was not sent: it belongs to streamed answers, and this one comes in one piece.';
    notices.push({ code: 'parameterLeftOut', message });
  }
  if (gone.includes('tools')) {
    const message = refused.includes('tools')
      ? `The model "${model}" does not support tools, so it was asked without them.`
      : `The model "${model}" does not support tool_choice. Because it is set to "none", the model was asked without tools.`;
    notices.push({ code: 'toolsDropped', message });
  }
  return notices;
}
