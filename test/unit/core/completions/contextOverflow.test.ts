import assert from 'node:assert/strict';
import { isContextOverflow, readContextOverflow } from '../../../../src/core/completions/errorBody.ts';

/** What servers say when a conversation does not fit, and the numbers in it. */
const said: readonly [message: string, limit: number | undefined, requested: number | undefined][] = [
  [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    4096,
    5000,
  ],
  [
    "This model's maximum context length is 8,192 tokens. However, your messages resulted in 10,240 tokens.",
    8192,
    10240,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 53 input tokens (9000 > 8192 - 53). None",
    8192,
    9053,
  ],
  [
    "You passed 4000 input tokens and requested 500 output tokens. However, the model's context length is only 4096 tokens.",
    4096,
    4500,
  ],
  ['The decoder prompt (length 5012) is longer than the maximum model length of 4096.', 4096, 5012],
  ['prompt is too long: 210000 tokens > 200000 maximum', 200000, 210000],
  ['the request exceeds the available context size (4096 tokens), try increasing it', 4096, undefined],
  ['request (5023 tokens) exceeds the available context size (4096 tokens), try increasing it', 4096, 5023],
  ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192, 9000],
  ['`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000 `inputs` tokens', 2048, undefined],
  ['context_length_exceeded', undefined, undefined],
];

describe('completions: context overflow', () => {
  for (const [message, limit, requested] of said) {
    it(message.slice(0, 70), () => {
      assert.equal(isContextOverflow(message), true);
      assert.deepEqual(readContextOverflow(message), {
        ...(limit === undefined ? {} : { limit }),
        ...(requested === undefined ? {} : { requested }),
      });
    });
  }

  for (const message of [
    'max_tokens must be at least 1',
    'The context of the request is missing',
    'temperature must be <= 2',
    'Rate limit reached: 4096 tokens per minute',
    'The tool name is longer than 64 characters',
    '',
  ]) {
    it(`is not: ${message || 'nothing said'}`, () => assert.equal(isContextOverflow(message), false));
  }
});
