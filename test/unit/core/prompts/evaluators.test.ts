import assert from 'node:assert/strict';
import { findChoice } from '../../../../src/core/prompts/judge.ts';
import { play, type Reply, refuses, says } from './harness.ts';

/** The verdict of one evaluator on one answer, and the reason. */
async function verdict(
  evaluator: string,
  reply: string | ((index: number) => Reply),
  testCase = '{input: a}',
  more = '',
): Promise<[string, string]> {
  const yaml = `messages: [{role: user, content: '{{input}}'}]
modelParameters: {stream: false}
testData: [${testCase}]
evaluators: [${evaluator}]
${more}`;
  const { run } = await play(yaml, (_request, index) => (typeof reply === 'string' ? says(reply) : reply(index)));
  const [result] = run.results;
  const [evaluation] = result?.attempts[0]?.answers[0]?.evaluations ?? [];
  assert.ok(result && evaluation, JSON.stringify(result?.attempts));
  assert.equal(result.verdict, evaluation.verdict, 'the case follows its only check');
  return [evaluation.verdict, evaluation.reason ?? ''];
}

const judge = (choices: string) =>
  `{name: j, llm: {modelId: judge, prompt: 'Is {{completion}} right?', choices: ${choices}}}`;
const YES_NO = '[{choice: "yes", score: 1}, {choice: "no", score: 0}]';

describe('an evaluator', function () {
  // Some wait for a time limit, which counts only what this process has computed.
  this.timeout(20_000);
  const rows: readonly [what: string, evaluator: string, answer: string, expected: string, testCase?: string][] = [
    ['equals', '{string: {equals: Paris}}', ' Paris\n', 'passed'],
    ['equals minds case', '{string: {equals: paris}}', 'Paris', 'failed'],
    ['equals a value of the case', "{string: {equals: '{{expected}}'}}", 'Paris', 'passed', '{expected: Paris}'],
    [
      'equals a block, without its line break',
      "{string: {equals: '{{expected}}'}}",
      'Paris',
      'passed',
      '{expected: "Paris\\n"}',
    ],
    ['equals nothing, as the case says', "{string: {equals: '{{expected}}'}}", 'Paris', 'failed', "{expected: ''}"],
    ['contains, in any case', '{string: {contains: PAR}}', 'It is Paris.', 'passed'],
    ['contains not', '{string: {contains: Rome}}', 'It is Paris.', 'failed'],
    [
      'contains a block, without its line break',
      "{string: {contains: '{{expected}}'}}",
      'It is Paris',
      'passed',
      '{expected: "Paris\\n"}',
    ],
    [
      'contains nothing: every answer does',
      "{string: {contains: '{{expected}}'}}",
      'Paris',
      'skipped',
      "{expected: ''}",
    ],
    ['starts with', '{string: {startsWith: it}}', 'It is Paris.', 'passed'],
    ['starts not with', '{string: {startsWith: Paris}}', 'It is Paris.', 'failed'],
    ['ends with', '{string: {endsWith: "PARIS."}}', 'It is Paris.', 'passed'],
    ['ends not with', '{string: {endsWith: Paris}}', 'It is Paris.', 'failed'],
    ['equals before contains', '{string: {contains: Paris, equals: Rome}}', 'Paris', 'failed'],
    ['a variable that the case lacks', "{string: {contains: '{{expected}}'}}", '{{expected}}', 'skipped'],
    ['a null that the case has', "{string: {contains: '{{expected}}'}}", 'x', 'skipped', '{expected: null, input: a}'],
    [
      'a value that looks like a placeholder',
      "{string: {equals: '{{expected}}'}}",
      '{{input}}',
      'passed',
      '{expected: "{{input}}", input: a}',
    ],
    ['no method', '{name: x, python: print()}', 'x', 'skipped'],
    ['an unknown built-in', '{uses: github/beauty}', 'x', 'skipped'],
    ['a pattern', '{regex: "^P.+s$"}', 'Paris', 'passed'],
    ['a pattern that does not match', '{regex: "^R"}', 'Paris', 'failed'],
    ['a pattern with flags', '{regex: {pattern: ^par, flags: i}}', 'Paris', 'passed'],
    ['a pattern with a value that means itself', "{regex: '^{{expected}}$'}", 'a.c', 'passed', '{expected: a.c}'],
    ['a pattern with a value that is no pattern', "{regex: '^{{expected}}$'}", 'abc', 'failed', '{expected: a.c}'],
    ['a value with a hyphen in brackets', "{regex: '^[{{expected}}]$'}", 'm', 'failed', '{expected: a-z}'],
    ['a pattern that would take years', '{regex: "^(a+)+$"}', `${'a'.repeat(40)}b`, 'error'],
    ['a schema', '{jsonSchema: {type: object, required: [a]}}', '{"a": 1}', 'passed'],
    ['a schema that the answer does not fit', '{jsonSchema: {type: object, required: [a]}}', '{"b": 1}', 'failed'],
    ['any JSON', '{jsonSchema: {}}', '[1]', 'passed'],
    ['no JSON', '{jsonSchema: {}}', 'Here: {}', 'failed'],
    ['a schema that answers with a promise', '{jsonSchema: {$async: true}}', '{}', 'error'],
    ['a schema from elsewhere', '{jsonSchema: {$ref: "https://example.com/x"}}', '{}', 'error'],
    [
      'a pattern in a schema that would take years',
      '{jsonSchema: {type: string, pattern: "^(a+)+$"}}',
      `"${'a'.repeat(40)}b"`,
      'error',
    ],
    ['a text that must not be there', '{string: {contains: Rome}, not: true}', 'It is Paris.', 'passed'],
    ['a text that must not be there, and is', '{string: {contains: paris}, not: true}', 'It is Paris.', 'failed'],
    ['the opposite of a check that could not be made', "{string: {contains: '{{x}}'}, not: true}", 'x', 'skipped'],
    ['the opposite of a check that went wrong', '{jsonSchema: {$async: true}, not: true}', '{}', 'error'],
    ['a check that is not turned around', '{string: {contains: Paris}, not: false}', 'Paris', 'passed'],
    ['few tokens', '{maxTokens: 7}', 'x', 'passed'],
    ['many tokens', '{maxTokens: 6}', 'x', 'failed'],
    ['time', '{maxSeconds: 100}', 'x', 'passed'],
    ['a probability without log probabilities', '{minProbability: 0.5}', 'x', 'skipped'],
    ['a tool that is not called', '{toolCall: weather}', 'x', 'failed'],
  ];
  for (const [what, evaluator, answer, expected, testCase] of rows) {
    it(`${what}: ${expected}`, async () => {
      const [found, reason] = await verdict(evaluator, answer, testCase);
      assert.equal(found, expected, reason);
      if (found !== 'passed') assert.notEqual(reason, '');
    });
  }

  const long = (end: string) => `${'😀'.repeat(100)}${end}`;
  const failures: readonly [evaluator: string, answer: string, reason: string | RegExp][] = [
    ['{string: {equals: Paris}}', 'France', 'Expected "Paris", got "France".'],
    ['{string: {equals: "a\\nb"}}', 'a', 'Expected "a\\nb", got "a".'],
    [`{string: {equals: ${long('a')}}}`, long('b'), /^Expected "…(😀){10,12}a", got "…(😀){10,12}b"\.$/u],
    [`{string: {equals: x}}`, long('b'), /^Expected "x", got "(😀){39}…"\.$/u],
    ['{string: {contains: Rome}}', 'Paris', 'Expected text that contains "Rome", got "Paris".'],
    ['{string: {startsWith: Rome}}', 'Paris', 'Expected text that starts with "Rome", got "Paris".'],
    ['{string: {endsWith: Rome}}', long('b'), /^Expected text that ends with "Rome", got "…(😀){39}b"\.$/u],
    ['{regex: {pattern: ^R, flags: i}}', 'Paris', 'Expected text that matches /^R/i, got "Paris".'],
  ];
  for (const [evaluator, answer, expected] of failures) {
    it(`${evaluator.slice(0, 30)} says what was expected, and what came of ${answer.slice(0, 6)}`, async () => {
      const [found, reason] = await verdict(evaluator, answer);
      assert.equal(found, 'failed');
      if (typeof expected === 'string') assert.equal(reason, expected);
      else assert.match(reason, expected);
    });
  }

  describe('of tool calls', () => {
    const call = (name: string, args: string) => ({
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: args } }],
      },
      finish_reason: 'tool_calls',
    });
    const calls: readonly [what: string, evaluator: string, args: string, expected: string][] = [
      ['any arguments', '{toolCall: weather}', '{"city":"Rome"}', 'passed'],
      [
        'these among others',
        '{toolCall: {name: weather, arguments: {city: Rome}}}',
        '{"city":"Rome","days":3}',
        'passed',
      ],
      ['others', '{toolCall: {name: weather, arguments: {city: Rome}}}', '{"city":"Bonn"}', 'failed'],
      ['none of them', '{toolCall: {name: weather, arguments: {city: Rome}}}', '{}', 'failed'],
      ['inherited names', '{toolCall: {name: weather, arguments: {constructor: Rome}}}', '{}', 'failed'],
      [
        'nested ones',
        '{toolCall: {name: weather, arguments: {at: {x: [1, {y: 2}]}}}}',
        '{"at":{"x":[1,{"y":2,"z":3}],"w":0}}',
        'passed',
      ],
      ['lists of another length', '{toolCall: {name: weather, arguments: {at: [1]}}}', '{"at":[1,2]}', 'failed'],
      [
        'a number for the text of a case',
        "{toolCall: {name: weather, arguments: {days: '{{days}}'}}}",
        '{"days":3}',
        'passed',
      ],
      ['arguments that are cut', '{toolCall: weather}', '{"city":', 'failed'],
      ['another tool', '{toolCall: news}', '{}', 'failed'],
    ];
    for (const [what, evaluator, args, expected] of calls) {
      it(`${what}: ${expected}`, async () => {
        const reply = () => says('', call('weather', args));
        assert.equal((await verdict(evaluator, reply, '{input: a, days: 3}'))[0], expected);
      });
    }
  });

  it('of probability multiplies those of the tokens', async () => {
    const logprobs = (...chances: number[]) => ({
      logprobs: {
        content: chances.map((chance) => ({ token: 'x', logprob: Math.log(chance), bytes: [120], top_logprobs: [] })),
      },
    });
    for (const [limit, expected] of [
      [0.3, 'failed'],
      [0.2, 'passed'],
    ] as const) {
      const reply = () => says('xx', logprobs(0.5, 0.5));
      assert.equal((await verdict(`{minProbability: ${limit}}`, reply))[0], expected);
    }
  });

  describe('that asks a judge', () => {
    const judged: readonly [what: string, choices: string, reply: string, expected: string][] = [
      ['the reply', YES_NO, 'yes', 'passed'],
      ['the other reply', YES_NO, 'no', 'failed'],
      ['in any case and with a full stop', YES_NO, '**Yes.**', 'passed'],
      ['in a sentence', YES_NO, 'I would say yes, it is.', 'passed'],
      ['10 does not contain 1', '[{choice: "1", score: 1}, {choice: "10", score: 0}]', '10', 'failed'],
      [
        'incorrect does not contain correct',
        '[{choice: correct, score: 1}, {choice: incorrect, score: 0}]',
        'incorrect',
        'failed',
      ],
      ['1.5 is neither 1 nor 5', '[{choice: "1", score: 0}, {choice: "5", score: 1}]', '1.5', 'error'],
      ['the last line decides', '[{choice: "1", score: 0}, {choice: "5", score: 1}]', 'Of 1 to 5 points:\n5', 'passed'],
      ['both at once', YES_NO, 'yes and no', 'error'],
      ['neither', YES_NO, 'maybe', 'error'],
      ['nothing', YES_NO, '', 'error'],
    ];
    for (const [what, choices, reply, expected] of judged) {
      it(`${what}: ${expected}`, async () => {
        const [found] = await verdict(judge(choices), (index) => says(index === 0 ? 'An answer' : reply));
        assert.equal(found, expected);
      });
    }

    it('fills both of its texts in, and sends only what is set', async () => {
      const yaml = `messages: [{role: user, content: '{{input}}'}]
modelParameters: {temperature: 0.5}
testData: [{input: Q, completion: mine}]
evaluators:
  - llm:
      modelId: the/judge
      systemPrompt: 'Judge {{input}}'
      prompt: 'Answer: {{completion}}'
      choices: ${YES_NO}
`;
      const { sent } = await play(yaml, ({ body }) => says(body.model === 'the/judge' ? 'yes' : 'An answer'));
      const { stream: _, stream_options: __, ...asked } = sent[1]?.body ?? {};
      assert.deepEqual(asked, {
        model: 'the/judge',
        messages: [
          { role: 'system', content: 'Judge Q' },
          { role: 'user', content: 'Answer: An answer' },
        ],
      });
    });

    it('is an error where the judge cannot be asked, and skipped where there is none', async () => {
      const [found, reason] = await verdict(judge(YES_NO), (index) =>
        index === 0 ? says('x') : refuses(500, 'broken'),
      );
      assert.equal(found, 'error');
      assert.match(reason, /The judge did not answer: .*broken/);
      // Another model than the one that is named would not mean the same.
      const yaml = `messages: [{role: user, content: x}]\ntestData: [{input: a}]\nevaluators: [${judge(YES_NO)}]`;
      const { run, sent } = await play(yaml, () => says('x'), { deps: { judgeModel: () => undefined } });
      assert.equal(run.results[0]?.verdict, 'skipped');
      const [evaluation] = run.results[0]?.attempts[0]?.answers[0]?.evaluations ?? [];
      assert.equal(evaluation?.reason, 'There is no model to judge with. Choose one.');
      assert.equal(sent.length, 1);
    });

    it('takes the first model that is asked where none is named, or the one given for that', async () => {
      const yaml = `messages: [{role: user, content: x}]\ntestData: [{input: a}]\nevaluators: [{uses: github/fluency}, ${judge(YES_NO).replace('modelId: judge, ', '')}]`;
      const judges = async (given?: string) => {
        const { sent } = await play(yaml, () => says('yes'), {
          plan: { models: ['one', 'two'] },
          concurrency: 1,
          deps: { judge: given },
        });
        return sent.map(({ body }) => body.model).sort();
      };
      assert.deepEqual(await judges(), ['one', 'one', 'one', 'one', 'one', 'two']);
      assert.deepEqual(await judges('three'), ['one', 'three', 'three', 'three', 'three', 'two']);
    });

    it('says its score, and what passes', async () => {
      const choices = '[{choice: "2", score: 0.25}]';
      const [, reason] = await verdict(judge(choices), (index) => says(index === 0 ? 'x' : '2'));
      assert.equal(reason, 'The judge replied "2", which has the score 0.25. A score above 0 passes.');
      const [, ofBuiltin] = await verdict('{uses: github/fluency}', (index) => says(index === 0 ? 'x' : '2'));
      assert.equal(ofBuiltin, 'The judge gave 2 of 5. Anything above 1 passes.');
    });

    it('takes the judge of the file where the evaluator names none that there is', async () => {
      const yaml = `messages: [{role: user, content: x}]\ntestData: [{input: a}]\nevaluators: [${judge(YES_NO)}]\nrolecall: {judge: ours}`;
      const { sent } = await play(yaml, () => says('yes'), {
        deps: { judgeModel: (name) => (name === 'ours' ? 'our-judge' : undefined) },
      });
      assert.equal(sent[1]?.body.model, 'our-judge');
    });
  });

  describe('that is built in', () => {
    const builtin: readonly [uses: string, testCase: string, grade: string, expected: string][] = [
      ['github/similarity', '{input: a, expected: b}', '2', 'passed'],
      ['github/similarity', '{input: a, expected: b}', '1', 'failed'],
      ['github/similarity', '{input: a}', '5', 'skipped'],
      ['github/similarity', "{input: a, expected: ''}", '5', 'skipped'],
      ['github/groundedness', '{question: a, expected: b}', '5', 'skipped'],
      ['github/relevance', '{input: a}', '5', 'passed'],
      ['github/coherence', '{input: a}', 'six', 'error'],
      ['github/fluency', '{other: a}', '3', 'passed'],
    ];
    for (const [uses, testCase, grade, expected] of builtin) {
      it(`${uses} of ${testCase} graded ${grade}: ${expected}`, async () => {
        const yaml = `messages: [{role: user, content: x}]\ntestData: [${testCase}]\nevaluators: [{uses: ${uses}}]`;
        const { run } = await play(yaml, (_request, index) => says(index === 0 ? 'x' : grade));
        assert.equal(run.results[0]?.verdict, expected);
      });
    }
  });

  it('finds the choice of a reply by words', () => {
    const numbers = [1, 2, 3, 4, 5].map((score) => ({ choice: String(score), score }));
    for (const [reply, expected] of [
      ['4', 4],
      ['Score: 4', 4],
      ['<S2>3</S2>', 3],
      ['-1', 1],
      ['45', undefined],
      ['4/5', undefined],
      ['', undefined],
    ] as const) {
      assert.equal(findChoice(reply, numbers)?.score, expected, reply);
    }
  });
});
