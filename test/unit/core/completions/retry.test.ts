import assert from 'node:assert/strict';
import { type ErrorDetails, type ErrorKind, RolecallError } from '../../../../src/core/base/errors.ts';
import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import {
  CompletionRetryPolicy,
  type RequestAttempt,
  type RetryDecision,
  type RetryRules,
} from '../../../../src/core/completions/retry.ts';

const request: CompletionRequest = {
  model: 'org/m',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
  stream_options: { include_usage: true },
  tool_choice: 'auto',
  tools: [{ type: 'function', function: { name: 'look' } }],
};
const first: RequestAttempt = { request, token: 'old' };

/** What the policies said that the model refused. */
let learned: string[] = [];
beforeEach(() => {
  learned = [];
});

function policy(rules: Partial<RetryRules> = {}): CompletionRetryPolicy {
  return new CompletionRetryPolicy({
    own: ['stream', 'stream_options', 'tools', 'tool_choice'],
    longestWaitMs: 30_000,
    newerToken: async (token) => `newer than ${token}`,
    shorter: () => undefined,
    refused: (fields) => void learned.push(...fields),
    ...rules,
  });
}

const error = (kind: ErrorKind, details: ErrorDetails = {}) => new RolecallError(kind, 'x', { details });
const signedOut = error('signedOut', { status: 401 });
const noStreamOptions = error('unsupported', { param: 'stream_options' });
const noTools = error('unsupported', { param: 'tools, tool_choice' });
const wait = (retryAfterMs?: number) =>
  error('rateLimited', { status: 429, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

function without<Name extends keyof CompletionRequest>(...names: Name[]): object {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name as Name)));
}

async function next(
  on: CompletionRetryPolicy,
  thrown: RolecallError,
  last: RequestAttempt = first,
): Promise<RetryDecision> {
  const again = await on.next(thrown, last);
  return again ?? assert.fail('it is not sent again');
}

describe('completions: sending again', () => {
  it('once with a newer token, and the same request', async () => {
    const rules = policy();
    const again = await next(rules, signedOut);
    assert.deepEqual(again, { request, token: 'newer than old' });
    assert.equal(await rules.next(signedOut, again), undefined);
  });

  it('not when there is no newer token', async () => {
    let asked = 0;
    const rules = policy({
      newerToken: async () => {
        asked += 1;
        return undefined;
      },
    });
    assert.equal(await rules.next(signedOut, first), undefined);
    assert.equal(await rules.next(signedOut, first), undefined);
    assert.equal(asked, 1);
  });

  it('once without stream_options, and says so', async () => {
    const rules = policy();
    const again = await next(rules, noStreamOptions);
    assert.deepEqual(again.request, without('stream_options'));
    assert.equal(again.token, 'old');
    assert.equal(again.notices?.[0]?.code, 'streamOptionsDropped');
    assert.equal(await rules.next(noStreamOptions, again), undefined);
    assert.equal(await rules.next(noStreamOptions, first), undefined);
  });

  it('not without stream_options that the person set', async () => {
    assert.equal(await policy({ own: ['tools', 'tool_choice'] }).next(noStreamOptions, first), undefined);
  });

  it('once without tools when they are optional, and says so', async () => {
    const rules = policy();
    const again = await next(rules, noTools);
    assert.deepEqual(again.request, without('tools', 'tool_choice'));
    assert.deepEqual(again.notices, [
      {
        code: 'toolsDropped',
        message: 'The model "org/m" does not support tools, so none were sent.',
      },
    ]);
    assert.deepEqual(learned, ['tools', 'tool_choice']);
    assert.equal(await rules.next(noTools, again), undefined);
    assert.equal(await rules.next(noTools, first), undefined);
  });

  it('not without tools that are not optional, nor when more than tools is refused', async () => {
    assert.equal(await policy({ own: ['stream', 'stream_options'] }).next(noTools, first), undefined);
    assert.equal(await policy().next(error('unsupported', { param: 'tools, logprobs' }), first), undefined);
  });

  it('after exactly the time the service asks for, at most twice', async () => {
    const rules = policy();
    const again = await next(rules, wait(1500));
    assert.equal(again.waitMs, 1500);
    assert.equal(again.request, request);
    assert.deepEqual(again.notices, [
      {
        code: 'waiting',
        message: 'Too many requests. Trying again in 2 seconds, as the service requested.',
      },
    ]);
    assert.equal((await next(rules, wait(0))).waitMs, 0);
    assert.equal(await rules.next(wait(1), first), undefined);
  });

  it('not after 429 without a time, beyond the limit, or with a limit of 0', async () => {
    assert.equal(await policy().next(wait(), first), undefined);
    assert.equal(await policy({ longestWaitMs: 1000 }).next(wait(1001), first), undefined);
    assert.equal((await next(policy({ longestWaitMs: 1000 }), wait(1000))).waitMs, 1000);
    assert.equal(await policy({ longestWaitMs: 0 }).next(wait(0), first), undefined);
  });

  for (const kind of ['credit', 'server', 'offline', 'timeout', 'cancelled', 'protocol', 'forbidden'] as const) {
    it(`never after ${kind}, whatever else is said`, async () => {
      const thrown = error(kind, { retryAfterMs: 1, param: 'tools', serverMessage: 'stream_options is not supported' });
      assert.equal(await policy().next(thrown, first), undefined);
    });
  }

  it('without everything of ours that is refused in one answer', async () => {
    const again = await next(policy(), error('unsupported', { param: 'stream_options, tools' }));
    assert.deepEqual(again.request, without('stream_options', 'tools', 'tool_choice'));
    assert.deepEqual(
      again.notices?.map(({ code }) => code),
      ['streamOptionsDropped', 'toolsDropped'],
    );
  });

  it('in one piece when the model does not stream, without what belongs to streams', async () => {
    const again = await next(policy(), error('unsupported', { param: 'stream' }));
    assert.deepEqual(again.request, { ...without('stream_options'), stream: false });
    assert.deepEqual(
      again.notices?.map(({ code }) => code),
      ['streamDropped'],
    );
  });

  it('with the tools when only the choice between them is named', async () => {
    const again = await next(policy(), error('unsupported', { param: 'tool_choice' }));
    assert.deepEqual(again.request, without('tool_choice'));
    assert.deepEqual(again.notices, []);
  });

  it('without the tools when prose about the choice means that they are switched off', async () => {
    const serverMessage = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    const again = await next(policy(), error('invalidRequest', { serverMessage }));
    assert.deepEqual(again.request, without('tools', 'tool_choice'));
  });

  it('once shorter when the history is too long and something can be left out', async () => {
    const overflow = error('contextOverflow', { contextLimit: 10, contextRequested: 20 });
    assert.equal(await policy().next(overflow, first), undefined);
    const short = { ...request, messages: [{ role: 'user', content: 'Hi' }] };
    const notices = [{ code: 'historyFitted', message: 'x' }] as const;
    const rules = policy({ shorter: () => ({ request: short, notices }) });
    assert.deepEqual(await next(rules, overflow), { request: short, token: 'old', notices });
    assert.equal(await rules.next(overflow, first), undefined);
  });

  it('for each reason once, one after the other', async () => {
    const rules = policy();
    const token = await next(rules, signedOut);
    const options = await next(rules, noStreamOptions, token);
    const tools = await next(rules, noTools, options);
    assert.deepEqual(tools.request, without('stream_options', 'tools', 'tool_choice'));
    assert.equal(tools.token, 'newer than old');
    for (const thrown of [signedOut, noStreamOptions, noTools])
      assert.equal(await rules.next(thrown, tools), undefined);
  });
});
