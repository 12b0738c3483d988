import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { type CompletionOptions, streamCompletion } from '../../../../src/core/completions/client.ts';
import type { Completion, CompletionEvent } from '../../../../src/core/completions/completion.ts';
import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import { silentLog } from '../../../support/silentLog.ts';

/** One HTTP answer as the network brings it. */
export interface Answer {
  readonly packets: readonly Uint8Array[];
  /** 200 unless set. */
  readonly status?: number;
  /** `text/event-stream` unless set; empty for none. */
  readonly type?: string;
  /** What happens after the last packet; `end` unless set. */
  readonly ending?: 'end' | 'break' | 'silence';
}

/** What the client made of it: a completion, or an error and what had come before it. */
export interface Outcome {
  readonly events: readonly CompletionEvent[];
  readonly completion?: Completion;
  readonly error?: RolecallError;
  /** Requests that were sent. */
  readonly asked: number;
}

const encoder = new TextEncoder();

/** Text as UTF-8. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** The body `{data}` of each line as an event, separated as the specification of server-sent events says. */
export function stream(...data: readonly string[]): string {
  return data.map((line) => `data: ${line}\n\n`).join('');
}

function responseOf({ packets, status = 200, type = 'text/event-stream', ending = 'end' }: Answer): Response {
  const left = [...packets];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const packet = left.shift();
      if (packet) controller.enqueue(packet);
      else if (ending === 'break') controller.error(new TypeError('terminated'));
      else if (ending === 'end') controller.close();
      else await new Promise(() => {});
    },
  });
  return new Response(body, { status, headers: type === '' ? {} : { 'content-type': type } });
}

/** Asks for a completion that gets this answer. Anything but a `RolecallError` is thrown on. */
export async function play(
  answer: Answer,
  parameters: Partial<CompletionRequest> = {},
  options: CompletionOptions = {},
): Promise<Outcome> {
  let asked = 0;
  const deps = {
    log: silentLog,
    accessToken: async () => 'token',
    fetch: async () => {
      asked++;
      return responseOf(answer);
    },
  };
  const connection = { inferenceUrl: 'https://inference.example' };
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...parameters };
  const { signal } = new AbortController();
  const events: CompletionEvent[] = [];
  try {
    const arriving = streamCompletion(deps, connection, request, options, signal);
    for (;;) {
      const { done, value } = await arriving.next();
      if (done) return { events, completion: value, asked };
      events.push(value);
    }
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return { events, error, asked };
  }
}

/** What had come before the error, or the completion. */
export function arrived(outcome: Outcome): Completion | undefined {
  const last = outcome.events.at(-1);
  return outcome.completion ?? (last?.kind === 'interrupted' ? last.completion : undefined);
}

/** What has to hold of every outcome, whatever the service sent. */
export function assertSound(outcome: Outcome, streamed = true): void {
  const { events, completion, error } = outcome;
  assert.ok(error === undefined || error.message !== '', 'an error says something');
  assert.notEqual(error?.kind, 'unexpected', error?.message);
  assert.notEqual(error?.kind, 'cancelled');
  const whole = arrived(outcome);
  assert.equal(whole?.incompleteReason === undefined, whole === undefined || whole.complete);
  assert.notEqual(whole?.incompleteReason, '');
  if (error) assert.notEqual(whole?.complete, true, 'an interrupted answer is not complete');
  for (const choice of whole?.choices ?? []) {
    if (streamed) {
      assert.equal(said(events, 'text', choice.index), choice.text, 'the text events add up to the text');
      assert.equal(said(events, 'reasoning', choice.index), choice.reasoning);
    }
    assert.equal(new Set(choice.toolCalls.map(({ id }) => id)).size, choice.toolCalls.length, 'ids are unique');
    for (const call of choice.toolCalls) {
      assert.equal(call.parsed === undefined, call.problem !== undefined);
      if (call.parsed) assert.deepEqual(call.parsed, JSON.parse(call.arguments));
      if (!whole?.complete) assert.notEqual(call.problem, undefined, 'no call of a cut answer may run');
    }
    if (streamed) {
      const told = events.flatMap((event) =>
        event.kind === 'toolCall' && event.choice === choice.index ? [event.call] : [],
      );
      assert.deepEqual(told, completion?.complete ? choice.toolCalls : []);
    }
  }
}

function said(events: readonly CompletionEvent[], kind: 'text' | 'reasoning', choice: number): string {
  return events.map((event) => (event.kind === kind && event.choice === choice ? event.text : '')).join('');
}
