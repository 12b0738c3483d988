import assert from 'node:assert/strict';
import type { RunningSandbox } from '../../scripts/sandbox.ts';

/** A message as a model was told it. */
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

/** From now on, the identity service answers with this body where the path fits, until `goOn`. */
export async function answerWith(sandbox: RunningSandbox, path: string, body: unknown): Promise<void> {
  await addFault(sandbox, { service: 'identity', path, kind: 'status', status: 200, body, times: null });
}

/** The next answer of a model stops after so many bytes, until `goOn`. */
export async function silence(sandbox: RunningSandbox, afterBytes: number): Promise<void> {
  await addFault(sandbox, { service: 'inference', path: '/chat/completions', kind: 'silence', afterBytes });
}

async function addFault({ descriptor }: RunningSandbox, fault: object): Promise<void> {
  const response = await fetch(`${descriptor.control}/faults`, { method: 'POST', body: JSON.stringify(fault) });
  assert.ok(response.ok, await response.text());
}

/** What is silent goes on, and everything is answered as it was. */
export async function goOn({ descriptor }: RunningSandbox): Promise<void> {
  const response = await fetch(`${descriptor.control}/faults`, { method: 'DELETE' });
  assert.ok(response.ok, await response.text());
}
