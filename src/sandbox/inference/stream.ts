import type { ChoiceEvent } from './choice.ts';
import type { Envelope, Usage } from './respond.ts';

/** One server-sent event with a JSON value. */
export const sseEvent = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

export const sseDone = 'data: [DONE]\n\n';

/** The chunk that opens a choice: its role and an empty content. */
export function openingChunk(envelope: Envelope, index: number): object {
  return chunk(envelope, [choiceDelta(index, { role: 'assistant', content: '' })]);
}

/**
 * The chunk of one event; undefined when it has nothing to tell (a token of which all text is held back). The entries
 * of `logprobs` stand in the chunk of their text; a token that is only a part of a character comes with content `""`.
 */
export function eventChunk(
  envelope: Envelope,
  index: number,
  event: ChoiceEvent,
  logprobs: boolean,
): object | undefined {
  switch (event.kind) {
    case 'reasoning':
      return event.text === '' ? undefined : chunk(envelope, [choiceDelta(index, { reasoning_content: event.text })]);
    case 'content': {
      const entries = logprobs ? event.entries : [];
      if (event.text === '' && entries.length === 0) return undefined;
      return chunk(envelope, [
        choiceDelta(index, { content: event.text }, entries.length > 0 ? { content: entries } : null),
      ]);
    }
    case 'callStart':
      return callChunk(envelope, index, {
        index: event.index,
        id: event.id,
        type: 'function',
        function: { name: event.name, arguments: '' },
      });
    case 'callArguments':
      return event.text === ''
        ? undefined
        : callChunk(envelope, index, { index: event.index, function: { arguments: event.text } });
    case 'finish':
      return chunk(envelope, [
        { index, delta: {}, logprobs: null, finish_reason: event.reason, stop_reason: event.stop },
      ]);
  }
}

export const usageChunk = (envelope: Envelope, usage: Usage): object => ({ ...chunk(envelope, []), usage });

function callChunk(envelope: Envelope, index: number, call: object): object {
  return chunk(envelope, [choiceDelta(index, { tool_calls: [call] })]);
}

function choiceDelta(index: number, delta: object, logprobs: object | null = null): object {
  return { index, delta, logprobs, finish_reason: null };
}

function chunk(envelope: Envelope, choices: readonly object[]): object {
  return {
    id: envelope.id,
    object: 'chat.completion.chunk',
    created: envelope.created,
    model: envelope.model,
    system_fingerprint: envelope.system_fingerprint,
    choices,
  };
}
