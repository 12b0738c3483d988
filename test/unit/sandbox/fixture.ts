import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxOptions } from '../../../src/sandbox/options.ts';
import {
  type RunningTestSandbox,
  startTestSandbox,
  type TestDescriptor,
} from '../../../src/sandbox/testing/sandbox.ts';

/** The groups of the organization the administrator reads. */
export const GROUPS = '/api/v1/organizations/meridian/groups';

/** A sandbox and its remote control. */
export class Fixture {
  #running: RunningTestSandbox | undefined;

  async start(options: Partial<SandboxOptions>): Promise<void> {
    this.#running = await startTestSandbox(options);
  }

  async close(): Promise<void> {
    await this.#running?.close();
  }

  get descriptor(): TestDescriptor {
    assert.ok(this.#running, 'the sandbox has not been started');
    return this.#running.descriptor;
  }

  control(method: string, path: string, body?: unknown): Promise<Response> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${this.descriptor.control}${path}`, { method, ...init });
  }

  /** Puts a fault, or several, into force. */
  async fault(rule: object): Promise<void> {
    const response = await this.control('POST', '/faults', rule);
    assert.equal(response.status, 200, await response.text());
  }

  async counters(): Promise<Record<string, number>> {
    return (await (await this.control('GET', '/counters')).json()) as Record<string, number>;
  }

  /** How much a counter grew while `action` ran. */
  async growth(name: string, action: () => Promise<unknown>): Promise<number> {
    const before = (await this.counters())[name] ?? 0;
    await action();
    return ((await this.counters())[name] ?? 0) - before;
  }

  /** Waits until a counter has this value: the server learns of a closed connection a moment after the client. */
  async until(name: string, value: number): Promise<void> {
    for (let tries = 0; tries < 100 && (await this.counters())[name] !== value; tries++) await wait(10);
    assert.equal((await this.counters())[name], value, name);
  }
}

/** One sandbox for all the tests of the `describe` that calls this. */
export function useSandbox(options: Partial<SandboxOptions> = {}): Fixture {
  const fixture = new Fixture();
  before(() => fixture.start(options));
  after(() => fixture.close());
  return fixture;
}

/** Runs `use` with a sandbox of its own. */
export async function withSandbox(
  options: Partial<SandboxOptions>,
  use: (fixture: Fixture) => Promise<unknown>,
): Promise<void> {
  const fixture = new Fixture();
  await fixture.start(options);
  try {
    await use(fixture);
  } finally {
    await fixture.close();
  }
}

/** Status and the two members of the identity service's error object; it must have exactly those, as JSON. */
export async function problem(response: Response): Promise<[status: number, error: string, description: string]> {
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  const body = (await response.json()) as { error: string; error_description: string };
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description']);
  assert.ok(body.error_description.length > 0);
  return [response.status, body.error, body.error_description];
}

/** All text that arrives until the end or the break, and the error of a break. */
export async function readAll(response: Response): Promise<{ text: string; error: unknown }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}
