import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { readAll, useSandbox } from './fixture.ts';
import { signIn, streamCompletion } from './walk.ts';

const events = (text: string): string[] => text.split('\n\n').filter((event) => event !== '');

describe('sandbox control: faults in a stream', () => {
  const sandbox = useSandbox({ paceMs: 5 });
  let accessToken: string;

  before(async () => {
    accessToken = (await signIn(sandbox.descriptor)).access_token;
  });

  beforeEach(() => sandbox.control('DELETE', '/faults'));

  const stream = (signal?: AbortSignal): Promise<Response> => streamCompletion(sandbox.descriptor, accessToken, signal);

  it('cut: some events, no end', async () => {
    await sandbox.fault({ service: 'inference', kind: 'cut' });
    const { text, error } = await readAll(await stream());
    assert.ok(events(text).length >= 1);
    assert.ok(error instanceof Error);
    assert.doesNotMatch(text, /\[DONE\]/);
    await sandbox.until('streams.inference.open', 0);
  });

  it('midStreamError: an error object as the last event', async () => {
    await sandbox.fault({ service: 'inference', kind: 'midStreamError' });
    const { text, error } = await readAll(await stream());
    assert.equal(error, undefined);
    const told = events(text);
    assert.ok(told.length >= 2);
    const last = JSON.parse((told.at(-1) ?? '').slice('data: '.length)) as { error: { message: string } };
    assert.ok(last.error.message);
    assert.match(told[0] ?? '', /chat\.completion\.chunk/);
  });

  it('garbage: one event that is no JSON, and the stream goes on to its end', async () => {
    await sandbox.fault({ service: 'inference', kind: 'garbage' });
    const { text, error } = await readAll(await stream());
    assert.equal(error, undefined);
    const broken = events(text).filter((event) => {
      const data = event.slice('data: '.length);
      if (data === '[DONE]') return false;
      try {
        return JSON.parse(data) === undefined;
      } catch {
        return true;
      }
    });
    assert.equal(broken.length, 1);
    assert.match(text, /\[DONE\]\n\n$/);
  });

  it('silence: the first event, then nothing until the client leaves', async () => {
    const aborted = (await sandbox.counters())['streams.inference.aborted'] ?? 0;
    await sandbox.fault({ service: 'inference', kind: 'silence' });
    const controller = new AbortController();
    const reader = (await stream(controller.signal)).body?.getReader();
    assert.ok(((await reader?.read())?.value?.length ?? 0) > 0);
    const next = reader?.read().then(
      () => 'came',
      () => 'came',
    );
    assert.equal(await Promise.race([next, wait(150, 'silent')]), 'silent');
    controller.abort();
    await sandbox.until('streams.inference.aborted', aborted + 1);
  });

  it('silence: the rest, when the faults are removed', async () => {
    await sandbox.fault({ service: 'inference', kind: 'silence', afterBytes: 100 });
    const response = await stream();
    const reader = response.body?.getReader();
    const first = Buffer.from((await reader?.read())?.value ?? '').toString();
    assert.equal(first.length, 100);
    await sandbox.control('DELETE', '/faults');
    let text = first;
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      text += Buffer.from(read.value);
    for (const event of events(text)) assert.match(event, /^data: (?:\{.*\}|\[DONE\])$/);
    assert.match(text, /\[DONE\]\n\n$/);
  });
});
