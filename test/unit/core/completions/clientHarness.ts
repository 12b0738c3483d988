import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { type CompletionOptions, streamCompletion } from '../../../../src/core/completions/client.ts';
import type { Completion, CompletionEvent } from '../../../../src/core/completions/completion.ts';
import type { InferenceDeps } from '../../../../src/core/completions/endpoint.ts';
import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import { silentLog } from '../../../support/silentLog.ts';

export const least: CompletionRequest = { model: 'org/m', messages: [{ role: 'user', content: 'Hello' }] };

/** A token that no message may hold. */
export const canary = 'canary-opaque-token-1';

/** The events of a stream in which the model says `text`. */
export function streamed(text: string, finish = 'stop'): string {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  return `${chunk({ role: 'assistant', content: '' }, null)}${chunk({ content: text }, null)}${chunk({}, finish)}data: [DONE]\n\n`;
}

/** The whole answer in which the model says `text`. */
export function whole(text: string): string {
  const message = { role: 'assistant', content: text };
  return JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] });
}

/** An answer of the service: its status, its body, its headers beside `content-type`. */
export type Answer = readonly [status: number, body: string, headers?: Record<string, string>];

export const ok: Answer = [201, streamed('Hi')];

export interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A service that gives its answers one after the other; asking once more than that fails the test. */
export class FakeService {
  readonly sent: Sent[] = [];
  /** The tokens that were reported as rejected. */
  readonly rejected: string[] = [];
  readonly deps: InferenceDeps;

  constructor(...answers: readonly Answer[]) {
    this.deps = {
      log: silentLog,
      accessToken: async () => canary,
      refreshAfter401: async (token) => {
        this.rejected.push(token);
        return 'canary-opaque-token-2';
      },
      fetch: async (url, init) => {
        const [status, body, more] = answers[this.sent.length] ?? assert.fail('asked once too often');
        const headers = { ...(init?.headers as Record<string, string>) };
        this.sent.push({ url: String(url), method: init?.method, headers, body: String(init?.body) });
        const type = body.startsWith('data:') ? 'text/event-stream' : 'application/json';
        return new Response(body === '' ? null : body, { status, headers: { 'content-type': type, ...more } });
      },
    };
  }

  get bodies(): Record<string, unknown>[] {
    return this.sent.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  }
}

/** How a completion ended, and the events on the way. */
export interface Outcome {
  readonly events: readonly CompletionEvent[];
  readonly completion?: Completion;
  readonly error?: RolecallError;
}

export interface Asked {
  readonly request?: CompletionRequest;
  readonly options?: CompletionOptions;
  readonly signal?: AbortSignal;
  readonly inferenceUrl?: string;
  /** Told of each event as it comes. */
  readonly onEvent?: (event: CompletionEvent) => void;
}

/** Streams a completion to its end, whatever the end is. */
export async function stream(deps: InferenceDeps, asked: Asked = {}): Promise<Outcome> {
  const { request = least, options = {}, signal = new AbortController().signal } = asked;
  const connection = { inferenceUrl: asked.inferenceUrl ?? 'https://inference.example.com' };
  const events: CompletionEvent[] = [];
  const arriving = streamCompletion(deps, connection, request, options, signal);
  try {
    for (;;) {
      const { done, value } = await arriving.next();
      if (done) return { events, completion: value };
      events.push(value);
      asked.onEvent?.(value);
    }
  } catch (error) {
    assert.ok(error instanceof RolecallError, String(error));
    return { events, error };
  }
}

/** Asks for a completion in one piece. */
export function once(deps: InferenceDeps, asked: Asked = {}): Promise<Outcome> {
  return stream(deps, { ...asked, request: { ...(asked.request ?? least), stream: false } });
}

export function textOf({ completion }: Outcome): string | undefined {
  return completion?.choices[0]?.text;
}

export function noticesOf({ events }: Outcome): string[] {
  return events.flatMap((event) => (event.kind === 'notice' ? [event.code] : []));
}
