import assert from 'node:assert/strict';
import { resolveParameters } from '../../../../src/core/completions/parameters.ts';
import { requestFields } from '../../../../src/core/completions/request.ts';

const of = (...values: unknown[]) => resolveParameters(values.map((value, source) => ({ source, value })));

describe('parameters out of several places', () => {
  it('are nothing where nothing is written, or nothing that could be read', () => {
    for (const values of [[], [undefined, {}], ['temperature', 7, [1], null]]) {
      assert.deepEqual(of(...values), { parameters: {}, entries: [] });
    }
  });

  it('are those of the last place that wrote each, and say which that was', () => {
    const { parameters, entries } = of({ temperature: 0.1, seed: 7 }, { temperature: 0.9, top_p: 1 });
    assert.deepEqual(parameters, { seed: 7, temperature: 0.9, top_p: 1 });
    assert.deepEqual(
      entries.map(({ field, sources }) => [field, ...sources]),
      [
        ['seed', 0],
        ['temperature', 1],
        ['top_p', 1],
      ],
    );
  });

  it('join objects member by member, as VS Code does with settings', () => {
    const { parameters, entries } = of({ logit_bias: { 1: 5, 2: 5 } }, { logit_bias: { 2: -5 } });
    assert.deepEqual(parameters, { logit_bias: { 1: 5, 2: -5 } });
    assert.deepEqual(entries[0]?.sources, [0, 1]);
  });

  it('take back with null, which is a value of its own for two fields', () => {
    const { parameters } = of(
      { temperature: 1, logit_bias: { 1: 5 }, stream_options: {} },
      { temperature: null, logit_bias: null, stream_options: null },
    );
    assert.deepEqual(parameters, { logit_bias: null, stream_options: null });
  });

  it('leave out what cannot be sent, saying why, and send the rest', () => {
    const { parameters, entries } = of({
      temperature: 'hot',
      max_tokens: 1.5,
      tool_choice: 'required',
      model: 'm',
      messages: [],
      tools: [],
      top_p: 0.5,
    });
    assert.deepEqual(parameters, { top_p: 0.5 });
    const problems = Object.fromEntries(entries.map(({ field, problem }) => [field, problem]));
    assert.match(problems.temperature ?? '', /temperature must be a number/);
    assert.match(problems.max_tokens ?? '', /whole number/);
    assert.match(problems.tool_choice ?? '', /"auto" or "none"/);
    for (const field of ['model', 'messages', 'tools']) assert.ok(problems[field], field);
    assert.equal(problems.top_p, undefined);
  });

  it('pass on what the specification does not know, last and marked', () => {
    const { parameters, entries } = of({ min_p: 0.1, seed: 1, constructor: 2 });
    assert.equal(JSON.stringify(parameters), '{"seed":1,"min_p":0.1,"constructor":2}');
    assert.deepEqual(
      entries.map(({ isSpecified }) => isSpecified),
      [true, false, false],
    );
  });

  it('take what the specification does not know from the user alone, and say what of others is ignored', () => {
    const { parameters, entries } = resolveParameters([
      { source: 'user', value: { min_p: 0.1, chat_template: 'mine' } },
      {
        source: 'workspace',
        value: { chat_template: 'theirs', min_p: null, extra_body: { a: 1 }, seed: 1 },
        isForeign: true,
      },
    ]);
    assert.deepEqual(parameters, { seed: 1, min_p: 0.1, chat_template: 'mine' });
    assert.deepEqual(
      entries.map(({ field, sources, problem }) => [field, ...sources, problem !== undefined]),
      [
        ['seed', 'workspace', false],
        ['min_p', 'user', false],
        ['chat_template', 'user', false],
        ['chat_template', 'workspace', true],
        ['min_p', 'workspace', true],
        ['extra_body', 'workspace', true],
      ],
    );
  });

  const samples: Record<string, unknown> = {
    frequency_penalty: -0.5,
    presence_penalty: 0.5,
    logit_bias: { 42: -100 },
    logprobs: true,
    top_logprobs: 3,
    max_tokens: 100,
    max_completion_tokens: 200,
    n: 2,
    seed: 0,
    stop: 'END',
    stream: false,
    stream_options: { include_usage: false },
    temperature: 0,
    top_p: 0.5,
    reasoning_effort: 'low',
    tool_choice: 'none',
  };
  for (const field of requestFields.filter((each) => !['model', 'messages', 'tools'].includes(each))) {
    it(`reach ${field}`, () => {
      assert.ok(field in samples);
      assert.deepEqual(of({ [field]: samples[field] }).parameters, { [field]: samples[field] });
    });
  }
});
