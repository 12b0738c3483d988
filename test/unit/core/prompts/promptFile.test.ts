// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of workflows are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import { runs } from '../../runs.ts';

const MESSAGES = "messages:\n  - role: user\n    content: '{{input}}'\n";

/** `code: text of its range`, in order. */
function problems(text: string): string[] {
  return readPromptFile(text).problems.map(
    ({ code, severity, start, end }) => `${severity} ${code}: ${text.slice(start, end)}`,
  );
}

const messages = (text: string) =>
  readPromptFile(text).messages.map(({ role, content }) => [
    role,
    ...content.map((part) => (part.type === 'text' ? part.text.value : part.url.value)),
  ]);
const sent = (modelParameters: string) =>
  readPromptFile(`${MESSAGES}modelParameters:\n${modelParameters.replace(/^/gm, '  ')}`).parameters.values;
const values = (testData: string) =>
  readPromptFile(`${MESSAGES}testData:\n${testData.replace(/^/gm, '  ')}`).cases.map((one) =>
    Object.fromEntries(one.values),
  );

describe('a prompt file', function () {
  this.timeout(20_000);
  it('is read with every key of the format', () => {
    const file = readPromptFile(`name: Greeter
description: Says hello
model: openai/gpt-4o
modelParameters:
  maxTokens: 100
  temperature: 0.2
  topP: 0.9
messages:
  - role: System
    content: Be brief.
  - role: user
    name: ada
    content: |
      Greet {{name}}.
  - role: assistant
    content: ''
responseFormat: json_schema
jsonSchema: '{"name": "greeting", "schema": {"type": "object"}}'
testData:
  - name: Ada
    expected: Hello Ada
evaluators:
  - name: same
    string:
      equals: '{{expected}}'
  - name: judged
    llm:
      modelId: openai/gpt-4o
      prompt: 'Is {{completion}} polite?'
      systemPrompt: Judge.
      choices:
        - choice: 'yes'
          score: 1
        - choice: 'no'
          score: 0
  - name: built in
    uses: github/fluency
`);
    assert.deepEqual(file.problems, []);
    assert.equal(file.name, 'Greeter');
    assert.equal(file.description, 'Says hello');
    assert.equal(file.model?.value, 'openai/gpt-4o');
    assert.deepEqual(file.parameters.values, { max_tokens: 100, temperature: 0.2, top_p: 0.9 });
    assert.deepEqual(
      file.messages.map(({ role, name }) => [role, name]),
      [
        ['system', undefined],
        ['user', 'ada'],
        ['assistant', undefined],
      ],
    );
    assert.deepEqual(file.responseFormat, {
      type: 'json_schema',
      jsonSchema: { name: 'greeting', schema: { type: 'object' } },
    });
    assert.deepEqual(
      file.cases.map(({ id, label }) => [id, label]),
      [['name:Ada', 'Ada']],
    );
    assert.deepEqual(
      file.evaluators.map(({ name, check }) => [name, check.method]),
      [
        ['same', 'string'],
        ['judged', 'llm'],
        ['built in', 'uses'],
      ],
    );
    assert.deepEqual(file.variables, ['name', 'expected']);
  });

  it('is read with every key of ours', () => {
    const file = readPromptFile(`${MESSAGES}rolecall:
  models: [a, b/c]
  tools: weather
  images: ['{{picture}}.png']
  cases: more.jsonl
  repeats: 5
  passes: 4
  seeds: [1, 2]
  judge: judge/model
  evaluators:
    - regex: ^a
    - regex: {pattern: b, flags: i}
    - jsonSchema: {type: object}
    - jsonSchema: '{"type": "object"}'
    - toolCall: weather
    - toolCall: {name: weather, arguments: {city: '{{city}}', days: 3}}
    - maxTokens: 100
    - maxSeconds: 1.5
    - minProbability: 0.5
`);
    assert.deepEqual(file.problems, []);
    const { models, tools, images, cases, repeats, passes, seeds, judge } = file.extensions;
    assert.deepEqual(
      [models, tools, images, cases].map((list) => list.map(({ value }) => value)),
      [['a', 'b/c'], ['weather'], ['{{picture}}.png'], ['more.jsonl']],
    );
    assert.deepEqual([repeats, passes, seeds, judge?.value], [5, 4, [1, 2], 'judge/model']);
    assert.deepEqual(
      file.evaluators.map(({ check }) => check),
      [
        { method: 'regex', pattern: '^a', flags: '' },
        { method: 'regex', pattern: 'b', flags: 'i' },
        { method: 'jsonSchema', schema: { type: 'object' } },
        { method: 'jsonSchema', schema: { type: 'object' } },
        { method: 'toolCall', tool: 'weather', arguments: {} },
        { method: 'toolCall', tool: 'weather', arguments: { city: '{{city}}', days: 3 } },
        { method: 'maxTokens', limit: 100 },
        { method: 'maxSeconds', limit: 1.5 },
        { method: 'minProbability', limit: 0.5 },
      ],
    );
    assert.deepEqual(file.variables, ['input', 'picture', 'city']);
  });

  describe('parameters', () => {
    const rows: readonly [what: string, yaml: string, sent: object][] = [
      ['camel case', 'maxTokens: 1\nmaxCompletionTokens: null', { max_tokens: 1 }],
      ['snake case', 'max_completion_tokens: 1\ntop_p: 1', { max_completion_tokens: 1, top_p: 1 }],
      [
        'camel case of every field',
        'frequencyPenalty: 1\npresencePenalty: 2\nreasoningEffort: low\ntoolChoice: none',
        {
          frequency_penalty: 1,
          presence_penalty: 2,
          reasoning_effort: 'low',
          tool_choice: 'none',
        },
      ],
      ['an empty list of stops is unset', 'stop: []', {}],
      ['a list of one stop is that text', 'stop: [END]', { stop: 'END' }],
      ['a list of stops is sent as it is', 'stop: [a, b]', { stop: ['a', 'b'] }],
      ['null is absent', 'temperature: null\nseed: ~\nn:', {}],
      [
        'null is a value of two fields',
        'logit_bias: null\nstreamOptions: null',
        { logit_bias: null, stream_options: null },
      ],
      ['log probabilities', 'logprobs: true\ntopLogprobs: 3', { logprobs: true, top_logprobs: 3 }],
      [
        'of two limits the one for all tokens is sent',
        'maxTokens: 5\nmaxCompletionTokens: 9',
        { max_completion_tokens: 9 },
      ],
      ['an unknown field is sent as it is', 'top_k: 4', { top_k: 4 }],
      ['a wrong one is not sent', 'temperature: hot', {}],
      [
        'an object',
        'logitBias: {"15": -100}\nstreamOptions: {include_usage: false}',
        {
          logit_bias: { 15: -100 },
          stream_options: { include_usage: false },
        },
      ],
    ];
    for (const [what, yaml, expected] of rows) it(what, () => assert.deepEqual(sent(yaml), expected));
  });

  describe('values of cases', () => {
    const rows: readonly [what: string, yaml: string, expected: object][] = [
      ['numbers as written', '- n: 1.0', { n: '1.0' }],
      ['words as written', '- a: yes\n  b: 2024-01-01\n  c: 0x10', { a: 'yes', b: '2024-01-01', c: '0x10' }],
      ['null is absent', '- a: null\n  b: ~\n  c:', {}],
      ['empty text is a value', "- expected: ''", { expected: '' }],
      ['lists and mappings as JSON', '- a: [x, 1]\n  b: {c: true}', { a: '["x",1]', b: '{"c":true}' }],
      ['folded and escaped text', '- a: >-\n    one\n    two\n  b: "x\\n\\u00e9"', { a: 'one two', b: 'x\né' }],
      ['a block keeps its line break', '- expected: |\n    Hi\n', { expected: 'Hi\n' }],
      ['aliases', '- &one\n  a: 1\n- *one', { a: '1' }],
      ['an own key before a merged one', '- &base\n  a: 1\n  b: 2\n- b: 3\n  <<: *base', { a: '1', b: '2' }],
    ];
    for (const [what, yaml, expected] of rows) it(what, () => assert.deepEqual(values(yaml)[0], expected));

    it('follow anchors and merges', () => {
      assert.deepEqual(values('- &base\n  a: 1\n  b: 2\n- <<: *base\n  b: 3\n- *base'), [
        { a: '1', b: '2' },
        { b: '3', a: '1' },
        { a: '1', b: '2' },
      ]);
    });

    const merges: readonly [what: string, yaml: string, expected: object][] = [
      ['the first of several', '- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]', { x: '1', y: '2' }],
      [
        'what the first merges before the second',
        '- &a {x: 1}\n- &b {<<: *a}\n- &c {x: 3, z: 3}\n- <<: [*b, *c]',
        { x: '1', z: '3' },
      ],
      ['the anchor as it was there', '- &a {x: 1}\n- &b {<<: *a}\n- &a {x: 2}\n- <<: [*b, *a]', { x: '1' }],
      ['an anchor that is used again', '- &a {x: 1}\n- &a {x: 2}\n- <<: *a', { x: '2' }],
    ];
    for (const [what, yaml, expected] of merges) {
      it(`merge ${what}`, () => assert.deepEqual(values(yaml).at(-1), expected));
    }

    it('are read along a chain that is longer than the stack', () => {
      const chain = Array.from({ length: 20_000 }, (_, at) => `- &a${at + 1} {<<: *a${at}}`).join('\n');
      const { cases } = readPromptFile(`${MESSAGES}x:\n- &a0 {k: v}\n${chain}\ntestData:\n- <<: *a20000\n`);
      assert.deepEqual([...(cases[0]?.values ?? [])], [['k', 'v']]);
    });

    it('are read from very many mappings', () => {
      const { problems } = readPromptFile(`${MESSAGES}<<: [${'{},'.repeat(150_000)}]\n`);
      assert.deepEqual(problems, []);
    });

    it('are not repeated by aliases without end', () => {
      const keys = Array.from({ length: 1000 }, (_, at) => `k${at}: 1`).join(', ');
      const { problems } = readPromptFile(`${MESSAGES}testData:\n- &a {${keys}}\n${'- *a\n'.repeat(5000)}`);
      assert.ok(problems.some(({ message }) => /^This file’s YAML aliases repeat too much/.test(message)));
      const honest = readPromptFile(
        `${MESSAGES}modelParameters: {temperature: 0.5}\ntestData:\n- &a {input: 1}\n${'- {<<: *a, y: [1, 2]}\n'.repeat(2000)}`,
      );
      assert.deepEqual(
        [honest.problems.filter(({ code }) => code !== 'unusedVariable'), honest.cases.length],
        [[], 2001],
      );
      const lists = Array.from({ length: 1100 }, (_, at) => `&b${at} [1], *b${at}`).join(', ');
      const other = readPromptFile(`${MESSAGES}testData:\n- a: [${lists}]\n`);
      assert.ok(other.problems.some(({ message }) => /because of its YAML aliases/.test(message)));
    });

    it('survive names that objects have', () => {
      const [one] = readPromptFile(`${MESSAGES}testData:\n  - __proto__: x\n    constructor: y`).cases;
      assert.deepEqual(
        [...(one?.values ?? [])],
        [
          ['__proto__', 'x'],
          ['constructor', 'y'],
        ],
      );
    });
  });

  describe('messages', () => {
    const rows: readonly [what: string, yaml: string, expected: unknown[]][] = [
      ['roles in any case', 'messages: [{role: SYSTEM, content: a}]', [['system', 'a']]],
      ['a scalar keeps its text', 'messages: [{role: user, content: 1.0}]', [['user', '1.0']]],
      ['empty content', "messages: [{role: user, content: ''}]", [['user', '']]],
      [
        'placeholders that are none stay',
        'messages: [{role: user, content: "{{.x}} {{#if}} ${{ x }}"}]',
        [['user', '{{.x}} {{#if}} ${{ x }}']],
      ],
      [
        'parts',
        'messages: [{role: user, content: [{type: text, text: a}, {type: image_url, image_url: {url: "data:x"}}]}]',
        [['user', 'a', 'data:x']],
      ],
    ];
    for (const [what, yaml, expected] of rows) it(what, () => assert.deepEqual(messages(yaml), expected));
  });

  describe('says what is not understood, at its place', () => {
    const system = 'messages:\n  - role: system\n    content: Hi\n';
    const rows: readonly [what: string, yaml: string, expected: readonly string[]][] = [
      ['nothing', '', ['error noMapping: ', 'error noMessages: ']],
      ['a list', '- a', ['error noMapping: - a', 'error noMessages: - a']],
      ['no messages', 'name: x', ['error noMessages: name: x']],
      ['an empty list of messages', 'messages: []', ['error noMessages: messages']],
      ['a message that is text', 'messages: [hi]', ['error wrongType: hi']],
      ['a message without role', 'messages: [{content: a}]', ['error noRole: {content: a}']],
      ['a message without content', 'messages: [{role: user}]', ['error noContent: {role: user}']],
      ['a null for content', 'messages: [{role: user, content: ~}]', ['error noContent: content']],
      ['an unusual role', 'messages: [{role: bot, content: a}]', ['warning unusualRole: bot']],
      ['an unknown key of a message', 'messages: [{role: user, content: a, x: 1}]', ['information unknownKey: x']],
      [
        'a part of an unknown kind',
        'messages: [{role: user, content: [{type: audio}]}]',
        ['error badPart: {type: audio}'],
      ],
      [
        'a placeholder without quotes',
        'messages:\n  - role: user\n    content: {{input}}\n',
        ['error unquotedPlaceholder: {{input}}'],
      ],
      [
        'a placeholder without quotes, and text behind it',
        'messages:\n  - role: user\n    content: {{input}} is it {{ a }} # b\n',
        ['error unquotedPlaceholder: {{input}} is it {{ a }} # b'],
      ],
      ['a text cut by a comment', 'messages:\n  - role: user\n    content: Fix #12 now\n', []],
      ['an unknown key', `${system}foo: 1`, ['information unknownKey: foo']],
      ['a parameter at the top', `${system}temperature: 1`, ['warning misplacedParameter: temperature']],
      [
        'parameters in config',
        `${system}config:\n  maxTokens: 1`,
        ['warning otherFormat: config', 'warning misplacedParameter: maxTokens'],
      ],
      [
        'keys of other formats',
        `${system}template: x\nvariables: {a: 1}`,
        ['warning otherFormat: template', 'warning otherFormat: variables'],
      ],
      [
        'a prompt of another format',
        'prompts: {a: b}',
        ['warning otherFormat: prompts', 'error noMessages: prompts: {a: b}'],
      ],
      ['a duplicate key', `${system}model: a\nmodel: b`, ['error duplicateKey: model']],
      ['a second document', `${system}---\nname: x`, ['warning secondDocument: ---']],
      [
        'a conflict left by git',
        `${system}<<<<<<< a\nname: x\n=======\nname: y\n>>>>>>> b\n`,
        ['error yaml: <<<<<<< a'],
      ],
      ['a model that is a mapping', `${system}model: {id: x}`, ['warning modelMapping: {id: x}']],
      ['an unknown tag', `${system}name: !include a.txt`, ['warning unknownTag: !include']],
      ['an anchor that was meant as text', `${system}name: &lt x`, ['warning anchor: &lt']],
      ['a name that is a list', `${system}name: [a]`, ['error wrongType: [a]']],
      ['parameters that are no mapping', `${system}modelParameters: fast`, ['error wrongType: fast']],
      ['a parameter of the wrong type', `${system}modelParameters: {temperature: hot}`, ['error badParameter: hot']],
      [
        'a parameter in two spellings',
        `${system}modelParameters: {topP: 1, top_p: 0.5}`,
        ['error severalSpellings: top_p'],
      ],
      [
        'a parameter unknown to the specification',
        `${system}modelParameters: {top_k: 1}`,
        ['information unspecified: top_k'],
      ],
      ['the model as a parameter', `${system}modelParameters: {model: x}`, ['warning misplaced: model']],
      [
        'two limits',
        `${system}modelParameters: {maxTokens: 1, maxCompletionTokens: 2}`,
        ['warning twoLimits: maxTokens'],
      ],
      [
        'a seed beside seeds',
        `${system}modelParameters: {seed: 1}\nrolecall: {seeds: [2]}`,
        ['warning seedAndSeeds: seed'],
      ],
      ['several stops', `${system}modelParameters: {stop: [a, b]}`, ['warning severalStops: [a, b]']],
      [
        'alternatives without log probabilities',
        `${system}modelParameters: {topLogprobs: 2}`,
        ['error needsLogprobs: topLogprobs'],
      ],
      [
        'a tool choice that there is not',
        `${system}modelParameters: {toolChoice: required}`,
        ['error badParameter: required'],
      ],
      [
        'stream options without a stream',
        `${system}modelParameters: {stream: false, streamOptions: {}}`,
        ['error needsStream: streamOptions'],
      ],
      ['a response format that there is not', `${system}responseFormat: xml`, ['error badResponseFormat: xml']],
      ['a schema that is missing', `${system}responseFormat: json_schema`, ['error noSchema: json_schema']],
      ['a schema without effect', `${system}jsonSchema: '{}'`, ['warning unusedSchema: jsonSchema']],
      [
        'a schema in single quotes',
        `${system}responseFormat: json_schema\njsonSchema: "{'name': 1}"`,
        [`error badJson: "{'name': 1}"`],
      ],
      [
        'a schema without its members',
        `${system}responseFormat: json_schema\njsonSchema: '{}'`,
        ["error badSchema: '{}'"],
      ],
      [
        'a schema that others refuse',
        `${system}responseFormat: json_schema\njsonSchema: {name: a, schema: {}}`,
        ['information schemaMapping: jsonSchema'],
      ],
      ['a case that is text', `${MESSAGES}testData: [a]`, ['error wrongType: a']],
      [
        'nested variables',
        `${MESSAGES}testData:\n  - input: a\n    vars: {x: 1}`,
        ['information nestedVariables: vars', 'information unusedVariable: vars'],
      ],
      [
        'a variable that no case has',
        `${system}  - role: user\n    content: '{{Topic}}'\ntestData: [{input: a, topic: b}]`,
        ['warning undefinedVariable: {{Topic}}', 'information unusedVariable: topic'],
      ],
      [
        'a variable that one case lacks',
        `${MESSAGES}testData:\n  - input: a\n  - expected: b`,
        ['warning missingVariable: expected: b'],
      ],
      [
        'blanks in a placeholder',
        "messages: [{role: user, content: '{{ input }}'}]\ntestData: [{input: a}]",
        ['warning notPlaceholder: {{ input }}'],
      ],
      ['a condition', "messages: [{role: user, content: '{{#if x}}'}]", ['information notPlaceholder: {{#if x}}']],
      ['an evaluator that is text', `${system}evaluators: [a]`, ['error wrongType: a']],
      [
        'an evaluator without a method',
        `${system}evaluators: [{name: a, python: x}]`,
        ['warning noMethod: {name: a, python: x}', 'information unknownKey: python'],
      ],
      [
        'an evaluator with two methods',
        `${system}evaluators: [{uses: github/fluency, string: {equals: a}}]`,
        ['warning severalMethods: uses'],
      ],
      [
        'an opposite that other programs take for the check itself',
        `${system}evaluators: [{string: {equals: a}, not: true}]`,
        ['warning ownMethod: not'],
      ],
      [
        'an opposite without a meaning',
        `${system}rolecall: {evaluators: [{maxTokens: 3, not: true}]}`,
        ['error badNot: not'],
      ],
      [
        'an opposite that is no boolean',
        `${system}rolecall: {evaluators: [{regex: a, not: 1}]}`,
        ['error wrongType: 1'],
      ],
      ['a method of ours among those of others', `${system}evaluators: [{regex: a}]`, ['information ownMethod: regex']],
      [
        'a comparison of two kinds',
        `${system}evaluators: [{string: {contains: a, equals: b}}]`,
        ['warning severalMethods: contains'],
      ],
      [
        'a comparison with nothing',
        `${system}evaluators: [{string: {equals: ''}}]`,
        ["warning noOperand: {equals: ''}"],
      ],
      ['a judge without prompt', `${system}evaluators: [{llm: {choices: []}}]`, ['error noJudgePrompt: llm']],
      ['a judge without choices', `${system}evaluators: [{llm: {prompt: a}}]`, ['error noChoices: llm']],
      [
        'a choice without score',
        `${system}evaluators: [{llm: {prompt: a, choices: [{choice: x, score: 1}, {choice: y}]}}]`,
        ['error badChoice: {choice: y}'],
      ],
      ['an unknown built-in', `${system}evaluators: [{uses: github/beauty}]`, ['warning unknownUses: github/beauty']],
      ['a broken pattern', `${system}rolecall: {evaluators: [{regex: '('}]}`, ["error badRegex: '('"]],
      [
        'flags that there are not',
        `${system}rolecall: {evaluators: [{regex: {pattern: a, flags: g}}]}`,
        ['error badFlags: g'],
      ],
      [
        'a limit that is none',
        `${system}rolecall: {evaluators: [{maxTokens: many}, {minProbability: 2}]}`,
        ['error wrongType: many', 'error wrongType: 2'],
      ],
      ['a schema that is text', `${system}rolecall: {evaluators: [{jsonSchema: object}]}`, ['error badSchema: object']],
      ['a key of ours that there is not', `${system}rolecall: {Models: a}`, ['warning unknownKey: Models']],
      ['a seed that is text', `${system}rolecall: {seeds: [a]}`, ['error wrongType: a']],
      ['no number of repeats', `${system}rolecall: {repeats: 0}`, ['error wrongType: 0']],
      ['more passes than answers', `${system}rolecall: {repeats: 2, passes: 3}`, ['error tooManyPasses: 3']],
      [
        'lines of another template language',
        `{% if x %}\n${system}`,
        ['error yaml: %', 'error yaml: messages', 'error yaml: :'],
      ],
      [
        'an alias within itself',
        `${MESSAGES}testData:\n  - &a {input: &b [*b]}`,
        ['warning missingVariable: {input: &b [*b]}', 'error aliases: [*b]'],
      ],
      [
        'aliases that multiply',
        `${MESSAGES}a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\ntestData: [{input: *c}]`,
        [
          'information unknownKey: a',
          'information unknownKey: b',
          'information unknownKey: c',
          'warning missingVariable: {input: *c}',
          'error aliases: *c',
        ],
      ],
    ];
    for (const [what, yaml, expected] of rows) {
      it(what, () => {
        const found = problems(yaml);
        if (expected.length > 0) assert.deepEqual(found, expected);
        else assert.match(found.join(), /information comment: #12 now/);
      });
    }
  });

  describe('mends what can mean one thing only', () => {
    const before = 'messages:\n  - role: user\n    content: Hi\n';
    const rows: readonly [what: string, broken: string, mended: string][] = [
      ['a key', `${before}modelParameter: {}`, `${before}modelParameters: {}`],
      ['a key in quotes', `${before}"modelparameters": {}`, `${before}"modelParameters": {}`],
      ['a parameter', `${before}modelParameters: {temprature: 1}`, `${before}modelParameters: {temperature: 1}`],
      [
        'a parameter of two words',
        `${before}modelParameters: {frequncyPenalty: 1}`,
        `${before}modelParameters: {frequencyPenalty: 1}`,
      ],
      [
        'a parameter in snake case',
        `${before}modelParameters: {max_completion_token: 1}`,
        `${before}modelParameters: {max_completion_tokens: 1}`,
      ],
      [
        'a parameter without capitals',
        `${before}modelParameters: {maxtokens: 1}`,
        `${before}modelParameters: {maxTokens: 1}`,
      ],
      [
        'a value of a parameter',
        `${before}modelParameters: {reasoningEffort: hihg}`,
        `${before}modelParameters: {reasoningEffort: high}`,
      ],
      [
        'logprobs',
        `${before}modelParameters:\n  topLogprobs: 1`,
        `${before}modelParameters:\n  logprobs: true\n  topLogprobs: 1`,
      ],
      ['a role', 'messages: [{role: "usr", content: a}]', 'messages: [{role: "user", content: a}]'],
      ['a format of answers', `${before}responseFormat: json_objct`, `${before}responseFormat: json_object`],
      [
        'a built-in evaluator',
        `${before}evaluators: [{uses: github/coherance}]`,
        `${before}evaluators: [{uses: github/coherence}]`,
      ],
      [
        'one without github/',
        `${before}evaluators: [{uses: fluency}]`,
        `${before}evaluators: [{uses: github/fluency}]`,
      ],
      [
        'a variable',
        `messages: [{role: user, content: "{{inptu}}"}]\ntestData: [{input: a}]`,
        `messages: [{role: user, content: "{{input}}"}]\ntestData: [{input: a}]`,
      ],
      ['blanks', `messages: [{role: user, content: "{{ a }}"}]`, `messages: [{role: user, content: "{{a}}"}]`],
      [
        'a placeholder without quotes',
        'messages:\n  - role: user\n    content: {{a}} b\n',
        'messages:\n  - role: user\n    content: "{{a}} b"\n',
      ],
      ['a comment', `${before}name: Fix #12\n`, `${before}name: "Fix #12"\n`],
    ];
    for (const [what, broken, mended] of rows) {
      it(what, () => {
        const fixes = readPromptFile(broken).problems.flatMap(({ fix }) => fix ?? []);
        const [fix] = fixes;
        assert.ok(fix && fixes.length === 1, JSON.stringify(problems(broken)));
        assert.equal(broken.slice(0, fix.start) + fix.text + broken.slice(fix.end), mended);
        assert.ok(problems(mended).length < problems(broken).length, problems(mended).join());
      });
    }

    it('but no field that services have besides the specification', () => {
      const yaml = `${before}modelParameters: {top_k: 1, min_tokens: 2, minP: 0.1, repetition_penalty: 1}`;
      assert.deepEqual(problems(yaml), [
        'information unspecified: top_k',
        'information unspecified: min_tokens',
        'information unspecified: minP',
        'information unspecified: repetition_penalty',
      ]);
    });
  });

  it('says of a judge that is no text what it must be', () => {
    const { problems } = readPromptFile('messages: [{role: user, content: a}]\nrolecall: {judge: [x]}');
    assert.deepEqual(
      problems.map(({ message }) => message),
      ['"judge" must be the ID of a model.'],
    );
  });

  it('warns of values that services usually refuse, and sends them', () => {
    const unusual =
      '  temperature: 2.5\n  topP: -0.1\n  frequency_penalty: 3\n  presencePenalty: -2.1\n  logprobs: true\n  top_logprobs: 21\n' +
      '  max_tokens: 0\n  n: 0\n  reasoning_effort: turbo\n';
    const yaml = `messages: [{role: user, content: a}]\nmodelParameters:\n${unusual}`;
    const found = readPromptFile(yaml);
    assert.deepEqual(
      found.problems.map(({ severity, code, start, end }) => [severity, code, yaml.slice(start, end)]),
      ['2.5', '-0.1', '3', '-2.1', '21', '0', '0', 'turbo'].map((value) => ['warning', 'unusualValue', value]),
    );
    assert.match(
      found.problems[0]?.message ?? '',
      /^temperature is sent unchanged as 2\.5; it is usually between 0 and 2\.$/,
    );
    assert.match(found.problems[1]?.message ?? '', /^topP is sent unchanged as .*; it is usually between 0 and 1\./);
    assert.match(found.problems[7]?.message ?? '', /is sent unchanged as "turbo"; /);
    assert.match(found.problems[6]?.message ?? '', /^n is sent unchanged as .*; it is usually at least 1\./);
    assert.equal(found.parameters.values.temperature, 2.5);
    const usual =
      '  temperature: 2\n  topP: 0\n  frequency_penalty: -2\n  presencePenalty: 2\n  logprobs: true\n  top_logprobs: 20\n' +
      '  max_tokens: 1\n  n: 1\n  reasoning_effort: xhigh\n';
    assert.deepEqual(problems(`messages: [{role: user, content: a}]\nmodelParameters:\n${usual}`), []);
  });

  describe('says plainly what YAML cannot read, at the place to mend', () => {
    const rows: readonly [what: string, yaml: string, place: string, message: RegExp][] = [
      ['a tab', 'messages:\n\t- role: user\n', '\t', /^Indent with spaces/],
      [
        'a quotation mark that is not closed',
        'name: "Hello\nmodel: x\nmessages: []\n',
        '"Hello',
        /^The closing quotation mark is missing/,
      ],
      [
        'a bracket that is not closed',
        'modelParameters: {n: 1\nmessages: []\n',
        'm',
        /^A bracket that was opened before is not closed/,
      ],
      [
        'a key without a colon',
        'messages:\n  - role: user\n    content hi\n',
        'content hi',
        /^A colon and a space are missing/,
      ],
    ];
    for (const [what, yaml, place, message] of rows) {
      it(what, () => {
        const [first] = readPromptFile(yaml).problems;
        assert.ok(first);
        assert.equal(yaml.slice(first.start, first.end), place);
        assert.match(first.message, message);
      });
    }
  });

  it('names only the first of many slips, and says how many are like it', () => {
    const broken = readPromptFile(`messages:\n  - role: user\n   content: x\n${' foo: [\n'.repeat(100)}`);
    assert.equal(broken.problems.filter(({ code }) => code === 'yaml').length, 3);
    const cases = Array.from({ length: 100 }, () => '  - other: x').join('\n');
    const missing = readPromptFile(`${MESSAGES}testData:\n  - input: a\n${cases}`).problems.filter(
      ({ code }) => code === 'missingVariable',
    );
    assert.equal(missing.length, 20);
    assert.match(missing.at(-1)?.message ?? '', /80 more like this/);
  });

  it('gives ranges in UTF-16 units, also behind a byte order mark and beyond the basic plane', () => {
    const text =
      "\uFEFFname: 😀é\nmessages:\n  - role: user\n    content: '😀 {{n😀}} {{größe}}'\ntestData:\n  - größe: 1\n";
    const file = readPromptFile(text);
    const [message] = file.messages;
    assert.equal(file.name, '😀é');
    assert.equal(message && text.slice(message.start, message.end), "role: user\n    content: '😀 {{n😀}} {{größe}}'");
    const places = message?.content.flatMap((part) => (part.type === 'text' ? part.text.placeholders : [])) ?? [];
    assert.deepEqual(
      places.map(({ start, end }) => text.slice(start, end)),
      ['{{n😀}}', '{{größe}}'],
    );
    assert.deepEqual(
      file.cases.map(({ range }) => range && text.slice(range.start, range.end)),
      ['größe: 1'],
    );
  });

  it('keeps the IDs of cases when others are added or an expectation changes', () => {
    const ids = (testData: string) => readPromptFile(`${MESSAGES}testData:\n${testData}`).cases.map(({ id }) => id);
    const [one, two] = ids('  - {input: a, expected: x}\n  - {input: a, expected: y}\n');
    assert.notEqual(one, two);
    assert.deepEqual(ids('  - {input: new}\n  - {input: a, expected: z}\n  - {input: a, expected: y}\n').slice(1), [
      one,
      two,
    ]);
  });

  it('is refused where its YAML must not be parsed', () => {
    const { problems } = readPromptFile(`messages: ${'['.repeat(20_000)}`);
    assert.deepEqual(
      problems.map(({ code, message }) => [code, message]),
      [['yaml', 'This file is nested too deeply, so it is not read.']],
    );
  });

  it('never throws, and every problem lies in the text', () => {
    const piece = fc.constantFrom(
      ...[
        'messages:',
        '\n',
        '  ',
        '- ',
        'role: user',
        'content: ',
        '{{a}}',
        '|',
        '>',
        '&a',
        '*a',
        '<<: ',
        '"',
        "'",
        '#',
        '[',
        ']',
      ],
      ...[
        '{',
        '}',
        ':',
        'testData:',
        'evaluators:',
        'string:',
        'llm:',
        'rolecall:',
        'jsonSchema:',
        '😀',
        '---',
        '!x ',
        '\t',
        '%',
        '\r',
        ',',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        for (const { start, end } of readPromptFile(text).problems) {
          assert.ok(start >= 0 && start < end && start <= text.length, JSON.stringify({ text, start, end }));
        }
      }),
      // Two empty keys of one mapping.
      { ...runs(150), examples: [[['{', ':', '{{a}}', 'messages:']]] },
    );
  });
});
