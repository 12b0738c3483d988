import assert from 'node:assert/strict';
import type { Connection } from '../../../src/core/base/connection.ts';
import type { TestDescriptor } from '../../../src/sandbox/testing/sandbox.ts';
import { until } from './wait.ts';

/** The sandbox that runs beside this suite. */
export const descriptor = JSON.parse(process.env.ROLECALL_TEST_SANDBOX ?? '{}') as TestDescriptor;

/** Places of the people in the descriptor. */
export const people = { administrator: 0, ordinaryUser: 1, ofEmptyNest: 2 } as const;
export type PersonName = keyof typeof people;

export function person(name: PersonName) {
  const found = descriptor.people[people[name]];
  assert.ok(found, `the sandbox has no person ${name}`);
  return found;
}

/** The sandbox's two services as a connection of the extension, as a client that only these tests use. */
export function connectionTo(id: 'service' | 'sandbox'): Connection {
  const { link } = descriptor.clients;
  return {
    id,
    label: id === 'sandbox' ? 'the sandbox' : '127.0.0.1',
    identityUrl: descriptor.identity,
    inferenceUrl: descriptor.inference,
    clientId: link.id,
    clientAuthentication: 'client_secret_post',
    redirectUri: link.redirectUri,
    scope: 'openid',
  };
}

async function control<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${descriptor.control}${path}`, { method, ...init });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path} of the control server: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** A bearer token outside of the sessions, so that no other sign-in of the same person ends it. */
export async function serviceToken(name: PersonName): Promise<string> {
  const { token } = await control<{ token: string }>('POST', '/service-tokens', { person: person(name).id });
  return token;
}

let isDisturbed = false;

/** Puts a fault into force; see src/sandbox/testing/faults.ts. */
export async function addFault(fault: Record<string, unknown>): Promise<void> {
  isDisturbed = true;
  await control('POST', '/faults', fault);
}

/** The next answer of a model begins, and then nothing more comes until the client leaves. */
export async function holdNextAnswer(): Promise<void> {
  await addFault({ service: 'inference', path: 'completions', kind: 'silence', afterBytes: 2000, times: 1 });
}

/** For `afterEach`: removes what the test has put into force. */
export async function clearFaults(): Promise<void> {
  if (isDisturbed) await control('DELETE', '/faults');
  isDisturbed = false;
}

export async function counter(name: string): Promise<number> {
  return (await control<Record<string, number>>('GET', '/counters'))[name] ?? 0;
}

/** How much a counter grew while `action` ran. */
export async function growth(name: string, action: () => Promise<unknown>): Promise<number> {
  const before = await counter(name);
  await action();
  return (await counter(name)) - before;
}

/** Waits until a counter has passed `value`: the server learns of a closed connection a moment after the client. */
export async function counterAbove(name: string, value: number): Promise<void> {
  await until(`${name} above ${value}`, async () => (await counter(name)) > value);
}
