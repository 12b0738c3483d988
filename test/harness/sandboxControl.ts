import assert from 'node:assert/strict';
import type { RunningSandbox } from '../../scripts/sandbox.ts';

/** A message to a model, as it was recorded. */
export interface RecordedMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

export interface RecordedRequest {
  readonly model: string;
  readonly messages: readonly RecordedMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly reasoning_effort?: string;
}

/** The bodies of the requests for a completion, oldest first. */
export async function recordedRequests({ descriptor }: RunningSandbox): Promise<readonly RecordedRequest[]> {
  return (await (await fetch(`${descriptor.control}/completions`)).json()) as RecordedRequest[];
}

/** The newest of them. */
export async function lastRecordedRequest(sandbox: RunningSandbox): Promise<RecordedRequest> {
  return (await recordedRequests(sandbox)).at(-1) ?? assert.fail('no model was asked');
}

export async function counter({ descriptor }: RunningSandbox, name: string): Promise<number> {
  const counters = (await (await fetch(`${descriptor.control}/counters`)).json()) as Record<string, number>;
  return counters[name] ?? 0;
}

/** Lets the identity service answer with this body to matching paths, until `goOn`. */
export async function answerWith(sandbox: RunningSandbox, path: string, body: unknown): Promise<void> {
  await addFault(sandbox, { service: 'identity', path, kind: 'status', status: 200, body, times: null });
}

/** Lets the next answer of a model stop after this many bytes, until `goOn`. */
export async function silence(sandbox: RunningSandbox, afterBytes: number): Promise<void> {
  await addFault(sandbox, { service: 'inference', path: '/chat/completions', kind: 'silence', afterBytes });
}

async function addFault({ descriptor }: RunningSandbox, fault: object): Promise<void> {
  const response = await fetch(`${descriptor.control}/faults`, { method: 'POST', body: JSON.stringify(fault) });
  assert.ok(response.ok, await response.text());
}

/** Continues silent answers, and ends all faults. */
export async function goOn({ descriptor }: RunningSandbox): Promise<void> {
  const response = await fetch(`${descriptor.control}/faults`, { method: 'DELETE' });
  assert.ok(response.ok, await response.text());
}
