import type { ChoiceEvent, FinishReason, TokenEntry } from './choice.ts';

export interface Usage {
  readonly prompt_tokens: number;
  /** All tokens of reasoning, content and tool call arguments. The end of a text does not count. */
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
  };
}

/** Properties of a complete answer and of each chunk of a streamed answer. */
export interface Envelope {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/**
 * Collects the events of one choice into `choices[index]` of a complete answer. `content` is null if there are only
 * tool calls, `reasoning_content` is null if there is no reasoning, and `logprobs` is null unless requested. `logprobs`
 * only has the tokens of the content, not those of reasoning and tool calls.
 */
export class ChoiceCollector {
  readonly #index: number;
  readonly #logprobs: boolean;
  #reasoning = '';
  #content = '';
  #hasContent = false;
  #finishReason: FinishReason = 'stop';
  #stopString: string | null = null;
  readonly #entries: TokenEntry[] = [];
  readonly #calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];

  constructor(index: number, logprobs: boolean) {
    this.#index = index;
    this.#logprobs = logprobs;
  }

  take(event: ChoiceEvent): void {
    switch (event.kind) {
      case 'reasoning':
        this.#reasoning += event.text;
        break;
      case 'content':
        this.#hasContent = true;
        this.#content += event.text;
        this.#entries.push(...event.entries);
        break;
      case 'callStart':
        this.#calls.push({ id: event.id, type: 'function', function: { name: event.name, arguments: '' } });
        break;
      case 'callArguments': {
        const call = this.#calls[event.index];
        if (call) call.function.arguments += event.text;
        break;
      }
      case 'finish':
        this.#finishReason = event.reason;
        this.#stopString = event.stop;
    }
  }

  choice(): object {
    return {
      index: this.#index,
      message: {
        role: 'assistant',
        content: this.#hasContent || this.#calls.length === 0 ? this.#content : null,
        reasoning_content: this.#reasoning || null,
        tool_calls: this.#calls,
      },
      logprobs: this.#logprobs ? { content: this.#entries } : null,
      finish_reason: this.#finishReason,
      stop_reason: this.#stopString,
    };
  }
}

export function completionBody(envelope: Envelope, choices: readonly ChoiceCollector[], usage: Usage): object {
  return {
    id: envelope.id,
    object: 'chat.completion',
    created: envelope.created,
    model: envelope.model,
    choices: choices.map((collector) => collector.choice()),
    usage,
    prompt_logprobs: null,
    system_fingerprint: envelope.system_fingerprint,
  };
}

/** A server-sent event with a JSON value. */
export const sseEvent = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

export const sseDone = 'data: [DONE]\n\n';

/** The first chunk of a choice, with its role and empty content. */
export function openingChunk(envelope: Envelope, index: number): object {
  return chunk(envelope, [choiceDelta(index, { role: 'assistant', content: '' })]);
}

/**
 * The chunk of an event, or `undefined` if it would be empty because the text of the token is held back. The entries of
 * `logprobs` are in the same chunk as their text. The content of a token that is only part of a character is `""`.
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
