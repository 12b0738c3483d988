// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of other formats are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { importPrompty } from '../../../../src/core/prompts/importPrompty.ts';
import { readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import { continuePrompt, newPromptFile, writePromptFile } from '../../../../src/core/prompts/writePromptFile.ts';
import { runs } from '../../runs.ts';
import { play, resourcesOf, says } from './harness.ts';

const texts = (text: string) =>
  readPromptFile(text).messages.map(({ role, content }) => [
    role,
    ...content.map((part) => (part.type === 'text' ? part.text.value : part.url.value)),
  ]);

describe('a prompt file that is written', function () {
  this.timeout(20_000);
  it('looks as a person would write it', () => {
    const text = writePromptFile({
      name: 'Yes',
      model: 'ours/small',
      parameters: { max_tokens: 5, logit_bias: { 15: -1 }, temperature: 0 },
      messages: [
        { role: 'system', content: 'One\ntwo {{input}}\n' },
        { role: 'user', content: 'no' },
        { role: 'assistant', content: '{{x}} # not a comment' },
      ],
      cases: [{ input: '1.0', expected: 'yes' }],
    });
    assert.equal(
      text,
      `name: 'Yes'
model: ours/small
modelParameters:
  maxTokens: 5
  logitBias:
    '15': -1
  temperature: 0
messages:
  - role: system
    content: |
      One
      two {{input}}
  - role: user
    content: 'no'
  - role: assistant
    content: '{{x}} # not a comment'
testData:
  - input: '1.0'
    expected: 'yes'
`,
    );
  });

  it('is read as what was written, whatever the words are', () => {
    const content = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed()),
      fc
        .array(fc.constantFrom('a', '\n', ' ', '\t', '#', ': ', '- ', '|', '{{x}}', "'", '"', '\r', '---', '%'), {
          maxLength: 20,
        })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 4 }), (contents) => {
        const text = writePromptFile({ messages: contents.map((each) => ({ role: 'user', content: each })) });
        assert.deepEqual(
          texts(text),
          contents.map((each) => ['user', each]),
        );
      }),
      { ...runs(80), examples: [[[' \n', '']]] },
    );
  });

  it('is a file to begin with, without problems', () => {
    const file = readPromptFile(newPromptFile('Capitals', 'ours/small'));
    assert.deepEqual(file.problems, []);
    assert.deepEqual([file.cases.length, file.evaluators.length], [2, 1]);
  });
});

describe('a conversation that goes on', () => {
  const file = readPromptFile(`name: Words
modelParameters: { temperature: 0.5, top_k: 4 }
responseFormat: json_schema
jsonSchema: '{"name":"a","schema":{}}'
messages: [{ role: user, content: "{{input}} of {{file:a.md}}" }]
testData: [{ input: a }, { input: b }]
evaluators: [{ name: x, string: { contains: a } }]
rolecall: { tools: [look_up], repeats: 3 }
`);
  const said = [
    { role: 'system', content: 'Be "brief":\n# kind' },
    { role: 'user', content: 'a of A' },
    { role: 'assistant', content: 'Line 1\nLine 2' },
  ];

  it('is a prompt file with what was said, what was asked for, and an empty turn at the cursor', () => {
    const { text, offset } = continuePrompt(file, 'ours/small', 7, said);
    const next = readPromptFile(text);
    assert.deepEqual(
      next.problems.filter(({ severity }) => severity !== 'information'),
      [],
    );
    assert.deepEqual(texts(text), [...said.map(({ role, content }) => [role, content]), ['user', '']]);
    assert.deepEqual(
      [next.model?.value, next.parameters.values],
      ['ours/small', { temperature: 0.5, top_k: 4, seed: 7 }],
    );
    assert.deepEqual(next.responseFormat, file.responseFormat);
    assert.deepEqual(
      next.extensions.tools.map(({ value }) => value),
      ['look_up'],
    );
    // Neither the other cases nor the checks of the first answer.
    assert.deepEqual([next.cases.length, next.evaluators.length, next.extensions.repeats], [0, 0, 1]);
    assert.equal(text.slice(offset - 1, offset + 1), "''");
  });

  it('sends again what was said, and reads no file that an answer names', async () => {
    const spoken = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Use {{file:.env}}, {{x}}, {{ y }} or {{#if}}' },
    ];
    const { text } = continuePrompt(file, 'm', undefined, spoken);
    const { sent } = await play(text, () => says('x'), {
      deps: { resources: resourcesOf({ '.env': 'SECRET' }, ['look_up']) },
    });
    assert.deepEqual(sent[0]?.body.messages, [...spoken, { role: 'user', content: '' }]);
  });

  it('keeps images', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QQ==' } } as const;
    const { text } = continuePrompt(file, 'm', undefined, [
      { role: 'user', content: [{ type: 'text', text: 'See' }, image] },
    ]);
    assert.deepEqual(texts(text)[0], ['user', 'See', 'data:image/png;base64,QQ==']);
  });
});

describe('a .prompty file', function () {
  this.timeout(20_000);
  const imported = async (source: string, files: Record<string, string> = {}) => {
    const { text, notTaken } = await importPrompty(source, async (path) => files[path]);
    const file = readPromptFile(text);
    assert.deepEqual(
      file.problems.filter(({ severity }) => severity === 'error'),
      [],
      text,
    );
    return { file, notTaken, text, cases: file.cases.map(({ values }) => Object.fromEntries(values)) };
  };

  it('of version 1 is imported', async () => {
    const { file, notTaken, cases, text } = await imported(
      `\uFEFF---\r
name: Basic\r
description: Asks\r
authors: [me]\r
model:\r
  api: chat\r
  configuration:\r
    type: azure_openai\r
    azure_deployment: gpt-35\r
  parameters:\r
    max_tokens: 128\r
    temperature: 0.2\r
sample:\r
  firstName: Ada\r
  age: 3\r
---\r
Before all\r
\r
system:\r
\r
You are {{ firstName }}'s.\r
\r
# user:\r
{{question}}\r
assistant[name="x"]:\r
Fine\r
`,
    );
    assert.deepEqual([file.name, file.description, file.model?.value], ['Basic', 'Asks', 'gpt-35']);
    assert.deepEqual(file.parameters.values, { max_tokens: 128, temperature: 0.2 });
    assert.deepEqual(texts(text), [
      ['system', 'Before all'],
      ['system', "You are {{firstName}}'s."],
      ['user', '{{question}}'],
      ['assistant', 'Fine'],
    ]);
    assert.deepEqual(cases, [{ firstName: 'Ada', age: '3' }]);
    assert.deepEqual(notTaken, [
      '"authors" has no counterpart.',
      '"model.configuration.type": Rolecall uses its own connection.',
    ]);
  });

  it('of version 2 is imported', async () => {
    const { file, notTaken, cases } = await imported(`---
name: Two
model:
  id: gpt-4o
  options: {maxOutputTokens: 9, stopSequences: [END], topP: 0.5}
inputs:
  - {name: city, kind: string, default: Rome}
  - {name: day, kind: string, example: Monday}
outputs:
  - {name: degrees, kind: float, description: Celsius}
  - {name: sunny, kind: boolean}
---
user:
Weather in {{city}} on {{day}}?
`);
    assert.equal(file.model?.value, 'gpt-4o');
    assert.deepEqual(file.parameters.values, { max_completion_tokens: 9, stop: 'END', top_p: 0.5 });
    assert.deepEqual(cases, [{ city: 'Rome', day: 'Monday' }]);
    assert.deepEqual(file.responseFormat, {
      type: 'json_schema',
      jsonSchema: {
        name: 'answer',
        strict: true,
        schema: {
          type: 'object',
          properties: { degrees: { type: 'number', description: 'Celsius' }, sunny: { type: 'boolean' } },
          required: ['degrees', 'sunny'],
          additionalProperties: false,
        },
      },
    });
    assert.deepEqual(notTaken, []);
  });

  it('reads its sample from a file', async () => {
    const source = '---\nsample: ${file:sample.json}\n---\nuser:\n{{q}}';
    assert.deepEqual((await imported(source, { 'sample.json': '{"q": ["a"]}' })).cases, [{ q: '["a"]' }]);
    const { cases, notTaken } = await imported(source);
    assert.deepEqual([cases, notTaken], [[], ['The sample "sample.json", which could not be read.']]);
  });

  const rows: readonly [what: string, head: string, body: string, says: RegExp][] = [
    ['conditions', '', 'user:\n{% if x %}a{% endif %}', /Conditions and loops/],
    ['filters', '', 'user:\n{{ x | upper }}', /The expression \{\{ x \| upper \}\}/],
    ['dotted names', '', 'user:\n{{a.b}}', /The expression \{\{a\.b\}\}/],
    ['sections', '', 'user:\n{{#x}}a{{/x}}', /Sections and comments/],
    ['images', '', 'user:\n![x](a.png)', /Images in the text/],
    ['environment variables', '', 'user:\n${env:KEY}', /The reference \$\{env:KEY\}/],
    ['other APIs', 'model: {api: completion}', 'user:\nx', /The API "completion"/],
    ['connections', 'model: {id: a, connection: {kind: key}}', 'user:\nx', /"model\.connection"/],
    ['addresses', 'model: {configuration: {azure_endpoint: x}}', 'user:\nx', /Rolecall uses its own connection/],
    ['other deployments', 'model: {id: a, configuration: {name: b}}', 'user:\nx', /"model\.configuration\.name"/],
    [
      'other members of the model',
      'model: {id: a, response: first}',
      'user:\nx',
      /"model\.response" has no counterpart/,
    ],
    ['what is said of inputs', 'inputs: {q: {default: 1, required: true}}', 'user:\nx', /"inputs\.q\.required" has no/],
    ['what is said of outputs', 'outputs: {q: {kind: string, enum: [a]}}', 'user:\nx', /"outputs\.q\.enum" has no/],
    ['tags and versions', 'version: 2', 'user:\nx', /"version" has no counterpart/],
    ['tools', 'model: {parameters: {tools: []}}', 'user:\nx', /list workspace tools under/],
    ['parameters that there are not', 'model: {parameters: {top_k: 1}}', 'user:\nx', /The parameter "top_k"/],
    ['other inputs', 'inputs: {chat: {kind: thread}}', 'user:\nx', /The input "chat" of kind "thread"/],
    ['other properties', 'tools: [a]', 'user:\nx', /"tools" has no counterpart/],
    ['broken properties', 'a: [', 'user:\nx', /are not YAML/],
  ];
  for (const [what, head, body, says] of rows) {
    it(`says that ${what} were not taken along`, async () => {
      const { notTaken } = await imported(`---\n${head}\n---\n${body}`);
      assert.match(notTaken.join('\n'), says);
      assert.equal(notTaken.length, 1);
    });
  }

  it('never throws', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.constantFrom(
            '---',
            '\n',
            'system:',
            'user:',
            'inputs: ',
            '[',
            '{',
            'sample: a',
            '{{',
            '}}',
            ' x',
            '\r\n',
            'model:\n  id: 1',
          ),
          { maxLength: 15 },
        ),
        async (parts) => {
          const { text } = await importPrompty(parts.join(''), async () => undefined);
          assert.ok(readPromptFile(text).messages.length > 0, text);
        },
      ),
      { ...runs(80), examples: [[[' \n', '']]] },
    );
  });
});
