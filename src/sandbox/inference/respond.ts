import type { ChoiceEvent, FinishReason, TokenEntry } from './choice.ts';

export interface Usage {
  readonly prompt_tokens: number;
  /** Every written token: reasoning, content, arguments of calls; the end of a text is not counted. */
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

/** Members that a whole answer and every chunk of a streamed one have in common. */
export interface Envelope {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/**
 * Gathers the events of one choice into `choices[index]` of a whole answer. `content` is null beside tool calls that
 * come without words, `reasoning_content` null without reasoning, `logprobs` null when they were not asked for; they
 * cover the tokens of the content only, not those of reasoning and calls.
 */
export class ChoiceCollector {
  readonly #index: number;
  readonly #logprobs: boolean;
  #reasoning = '';
  #content = '';
  #hasContent = false;
  #finish: FinishReason = 'stop';
  #stop: string | null = null;
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
        this.#finish = event.reason;
        this.#stop = event.stop;
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
      finish_reason: this.#finish,
      stop_reason: this.#stop,
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
