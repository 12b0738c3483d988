import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInferenceHandler, type InferenceOptions } from '../../../src/sandbox/inference/server.ts';
import { CounterTable } from '../../../src/sandbox/testing/control.ts';

export const goodToken = 'a-live-access-token';

export interface Entry {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: Omit<Entry, 'top_logprobs'>[];
}

export interface ToolCall {
  index?: number;
  id?: string;
  type?: string;
  function: { name?: string; arguments?: string };
}

export interface Choice {
  index: number;
  message: { role: string; content: string | null; reasoning_content: string | null; tool_calls: ToolCall[] };
  logprobs: { content: Entry[] } | null;
  finish_reason: string;
  stop_reason: unknown;
}

export interface Body {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: Choice[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
  };
  prompt_logprobs: unknown;
  system_fingerprint: string;
}

export interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  system_fingerprint: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string; reasoning_content?: string; tool_calls?: ToolCall[] };
    logprobs: { content: Entry[] } | null;
    finish_reason: string | null;
    stop_reason?: unknown;
  }[];
  usage?: Body['usage'];
}

export interface ErrorBody {
  error: { code: string; message: string; error_type: string; param: string };
}

/** The handler on a loopback port, with an identity half that knows one token. */
export class InferenceHarness {
  readonly counters = new CounterTable();
  #server: Server | undefined;
  #origin = '';

  async start(options: Partial<InferenceOptions> = {}): Promise<void> {
    const handler = createInferenceHandler({
      authenticate: (header) => (header === `Bearer ${goodToken}` ? { person: 'ada' } : undefined),
      hooks: this.counters,
      paceMs: 0,
      ...options,
    });
    this.#server = createServer(handler).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#origin}${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${goodToken}`, ...init.headers },
    });
  }

  post(body: unknown, init: RequestInit = {}): Promise<Response> {
    return this.fetch('/v1/chat/completions', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'Content-Type': 'application/json; charset=utf-8', ...init.headers },
    });
  }

  /** A whole answer; the request must succeed. */
  async complete(body: object): Promise<Body> {
    const response = await this.post(body);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text) as Body;
  }

  async refuse(body: unknown, init: RequestInit = {}): Promise<ErrorBody['error'] & { status: number }> {
    const response = await this.post(body, init);
    return readError(response);
  }

  /** All chunks of a streamed answer. */
  async stream(body: object): Promise<Chunk[]> {
    const response = await this.post({ ...body, stream: true });
    const text = await response.text();
    assert.equal(response.status, 201, text);
    const events = text.split('\n\n');
    assert.equal(events.pop(), '', 'the last event is complete');
    assert.equal(events.pop(), 'data: [DONE]');
    return events.map((event) => {
      assert.match(event, /^data: \{/);
      return JSON.parse(event.slice('data: '.length)) as Chunk;
    });
  }
}

export async function readError(response: Response): Promise<ErrorBody['error'] & { status: number }> {
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  const body = (await response.json()) as ErrorBody;
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'error_type', 'message', 'param']);
  for (const member of Object.values(body.error)) assert.equal(typeof member, 'string');
  assert.ok(body.error.message.length > 0 && body.error.code.length > 0 && body.error.error_type.length > 0);
  return { status: response.status, ...body.error };
}

export const user = (content: unknown): object => ({ role: 'user', content });

/** A request to the guide with one user message. */
export function ask(text: string, more: object = {}): { model: string; messages: object[] } {
  return { model: 'sandbox/guide', messages: [user(text)], ...more };
}

export function tool(name: string, description = '', properties: object = {}, required: string[] = []): object {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}

export const wordCount = tool(
  'word_count',
  'Counts the words of a text.',
  { text: { type: 'string', description: 'The text to count' } },
  ['text'],
);

export const listFiles = tool('list_files', 'Lists the files of a folder.', {
  folder: { type: 'string', description: 'Folder below the workspace' },
  limit: { type: 'integer', description: 'Most files to list' },
});

export const choiceOf = (body: Body): Choice => body.choices[0] as Choice;

export const contentOf = (body: Body): string => choiceOf(body).message.content ?? '';
