import assert from 'node:assert/strict';
import { Ajv, type AnySchema } from 'ajv';
import fc from 'fast-check';
import { fillArguments, sampleNumber, sampleString } from '../../../src/sandbox/inference/arguments.ts';
import { wordsOfName } from '../../../src/sandbox/inference/tools.ts';
import { runs } from '../runs.ts';
import {
  ask,
  choiceOf,
  contentOf,
  InferenceHarness,
  listFiles,
  type ToolCall,
  tool,
  user,
  wordCount,
} from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const search = tool('searchDocs', 'Finds pages of the documentation about a subject.', { query: { type: 'string' } }, [
  'query',
]);
const offered = [wordCount, listFiles, search];

/** `name(arguments)` of every call the guide makes to these messages. */
async function callsTo(messages: object[], tools: object[] = offered): Promise<string[]> {
  const { message, finish_reason } = choiceOf(
    await service.complete({ model: 'sandbox/guide', messages, tools, seed: 1 }),
  );
  assert.equal(finish_reason, message.tool_calls.length > 0 ? 'tool_calls' : 'stop');
  return message.tool_calls.map(({ function: fn }) => `${fn.name}(${fn.arguments})`);
}

/** The history after the guide's calls were answered. */
async function afterRound(messages: object[], answer = 'ok', tools: object[] = offered): Promise<object[]> {
  const { message } = choiceOf(await service.complete({ model: 'sandbox/guide', messages, tools }));
  return [
    ...messages,
    { role: 'assistant', content: message.content, tool_calls: message.tool_calls },
    ...message.tool_calls.map((call: ToolCall) => ({ role: 'tool', tool_call_id: call.id, content: answer })),
  ];
}

describe('sandbox inference: when the guide calls tools', () => {
  const rows: [message: string, calls: string[]][] = [
    ['run the `word_count` tool on "a b"', ['word_count({"text":"a b"})']],
    ['Use word_count on hello world.', ['word_count({"text":"hello world"})']],
    ['give me the word count of `x y z`', ['word_count({"text":"x y z"})']],
    ['Count the words in "so many"', ['word_count({"text":"so many"})']],
    ['list files', ['list_files({})']],
    ['please list the files', ['list_files({})']],
    ['LIST_FILES folder=src limit=5', ['list_files({"folder":"src","limit":5})']],
    ['search docs for tokens', ['searchDocs({"query":"tokens"})']],
    ['call searchDocs with query: "top p"', ['searchDocs({"query":"top p"})']],
    ['run word_count and list_files on "a"', ['word_count({"text":"a"})', 'list_files({})']],
    ['word_count {"text":"from JSON"}', ['word_count({"text":"from JSON"})']],
    ['find documentation pages on this subject', ['searchDocs({"query":"this subject"})']],
    ['hello', []],
    ['find documentation for a cat that wants to cross seven seas before winter begins', []],
    ['what is a group?', []],
    ['list the roles', []],
    ['word_counter is another name', []],
    ['answer without tools: what does word_count do?', []],
    ["don't use word_count", []],
    ['no tools please, but list files', []],
    ['what does this do?\n```sh\nword_count x\n```', []],
  ];
  for (const [message, calls] of rows)
    it(`"${message.replaceAll('\n', '⏎')}" → ${calls.join(', ') || 'words'}`, async () => {
      assert.deepEqual(await callsTo([user(message)]), calls);
    });

  it('says to the user that they did not let a call run', async () => {
    const messages = await afterRound([user('list files')], 'The user did not allow this call.');
    const { message } = choiceOf(await service.complete({ model: 'sandbox/guide', messages, tools: offered, seed: 1 }));
    assert.equal(message.content, 'You did not allow `list_files` to run.');
  });

  it('several named tools are called in parallel, each with its own id and index', async () => {
    const { message } = choiceOf(await service.complete(ask('run word_count and list_files', { tools: offered })));
    assert.equal(new Set(message.tool_calls.map(({ id }) => id)).size, 2);
  });

  it('"then" makes rounds: each step after the results of the one before, then words', async () => {
    let messages: object[] = [user('list_files then word_count on "a" and then tell me')];
    assert.deepEqual(await callsTo(messages), ['list_files({})']);
    messages = await afterRound(messages, 'a.txt');
    assert.deepEqual(await callsTo(messages), ['word_count({"text":"a"})']);
    messages = await afterRound(messages, '1');
    assert.deepEqual(await callsTo(messages), []);
  });

  it('a call is not made again with equal arguments', async () => {
    const messages = await afterRound([user('list_files then list_files')]);
    assert.deepEqual(await callsTo(messages), []);
    const other = await afterRound([user('word_count "a" then word_count "b"')]);
    assert.deepEqual(await callsTo(other), ['word_count({"text":"b"})']);
  });

  it('a new user message may ask for the same call again', async () => {
    const messages = [
      ...(await afterRound([user('list files')])),
      { role: 'assistant', content: 'done' },
      user('list files'),
    ];
    assert.deepEqual(await callsTo(messages), ['list_files({})']);
  });

  it('"keep calling" repeats the round without end', async () => {
    let messages: object[] = [user('keep calling word_count on "x"')];
    for (let round = 0; round < 12; round++) {
      assert.deepEqual(await callsTo(messages), ['word_count({"text":"x"})']);
      messages = await afterRound(messages);
    }
    const { message } = choiceOf(await service.complete({ model: 'sandbox/guide', messages, tools: offered, seed: 1 }));
    const ids = messages.flatMap((m) => ('tool_call_id' in m ? [m.tool_call_id] : []));
    assert.ok(!ids.includes(message.tool_calls[0]?.id), 'every call has an id of its own');
  }).timeout(20_000);

  it('"keep calling" without a name calls the first tool, and ends when no tool is offered', async () => {
    assert.deepEqual(await callsTo([user('keep calling')]), ['word_count({"text":"sample"})']);
    const messages = await afterRound([user('keep calling')]);
    assert.match(contentOf(await service.complete({ model: 'sandbox/guide', messages })), /word_count/);
  });

  it('n choices call the same tool, each under its own id', async () => {
    const { choices } = await service.complete(ask('list files', { tools: offered, n: 2, seed: 4 }));
    const [a, b] = choices.map(({ message }) => message.tool_calls[0]);
    assert.equal(a?.function.name, b?.function.name);
    assert.notEqual(a?.id, b?.id);
  });

  it('cuts names into words', () => {
    assert.deepEqual(wordsOfName('getHTTPStatus_of-page2'), ['get', 'httpstatus', 'of', 'page2']);
    assert.deepEqual(wordsOfName('list_files'), ['list', 'files']);
  });
});

describe('sandbox inference: answers to tool results', () => {
  it('name the tool and quote the first lines of its result', async () => {
    const result = Array.from({ length: 11 }, (_, line) => `line ${line + 1}`).join('\n');
    const content = contentOf(
      await service.complete({
        model: 'sandbox/guide',
        messages: await afterRound([user('list files')], result),
        tools: offered,
      }),
    );
    assert.match(content, /`list_files`/);
    assert.match(content, /```text\nline 1\nline 2\n[\s\S]*line 8\n```\n\n3 more lines not shown\.$/);
  });

  it('of a program that failed quote why, whole, before its output', async () => {
    const list = (name: string, count: number) => Array.from({ length: count }, (_, line) => `${name} ${line + 1}`);
    const failed = ['The tool failed.', 'The program ended with exit code 2.', 'Standard output:', ...list('out', 12)];
    const quoted = async (...errors: string[]): Promise<string> =>
      contentOf(
        await service.complete({
          model: 'sandbox/guide',
          messages: await afterRound([user('list files')], [...failed, '', 'Standard error:', ...errors].join('\n')),
          tools: offered,
        }),
      );
    assert.match(
      await quoted('cat: no such file'),
      /```text\nThe tool failed\.\nThe program ended with exit code 2\.\nStandard error:\ncat: no such file\nStandard output:\nout 1\nout 2\nout 3\n```\n\n9 more lines not shown/,
    );
    assert.match(await quoted(...list('err', 20)), /err 19\nerr 20\n```\n\n13 more lines not shown/);
  });

  it('quote each result of a round that called several', async () => {
    const messages = await afterRound([user('run word_count and list_files')], 'r');
    const content = contentOf(await service.complete({ model: 'sandbox/guide', messages, tools: offered }));
    assert.match(content, /`word_count`[\s\S]*```text\nr\n```[\s\S]*`list_files`[\s\S]*```text\nr\n```/);
  });

  it('say that a result is empty, and keep a fence of the result inside', async () => {
    const empty = await afterRound([user('list files')], ' \n');
    assert.match(
      contentOf(await service.complete({ model: 'sandbox/guide', messages: empty })),
      /`list_files` returned nothing/,
    );
    const fenced = await afterRound([user('list files')], '```\ncode\n```');
    assert.match(
      contentOf(await service.complete({ model: 'sandbox/guide', messages: fenced })),
      /````text\n```\ncode\n```\n````/,
    );
  });

  it('without a call the guide names the tools on offer', async () => {
    const many = Array.from({ length: 7 }, (_, index) => tool(`helper${index}x`));
    assert.match(
      contentOf(await service.complete(ask('hello', { tools: many }))),
      /Available tools: `helper0x`, .*`helper4x` and 2 more tools\. Name one to run it\./,
    );
    assert.doesNotMatch(
      contentOf(await service.complete(ask('hello', { tools: many, tool_choice: 'none' }))),
      /Available tools/,
    );
  });
});

describe('sandbox inference: arguments fit the schema', () => {
  const ajv = new Ajv({
    strict: false,
    formats: { email: /^[^@]+@[^@]+$/, uri: /^https?:/, date: /^\d{4}-\d\d-\d\d$/ },
  });
  const parametersOf = (properties: object, required: string[] = Object.keys(properties)): Record<string, unknown> => ({
    type: 'object',
    properties,
    required,
  });
  const fill = (properties: object, text: string, required?: string[]): object =>
    fillArguments({ name: 'some_tool', description: '', parameters: parametersOf(properties, required) }, text);

  const rows: [name: string, properties: object, text: string, filled: object][] = [
    [
      'quoted strings in order',
      { a: { type: 'string' }, b: { type: 'string' } },
      'use "one" and `two`',
      { a: 'one', b: 'two' },
    ],
    ['an apostrophe is no quote', { a: { type: 'string' } }, "some_tool on Ada's list", { a: "Ada's list" }],
    ['a path', { file: { type: 'string' } }, 'some_tool reads src/a.ts now', { file: 'src/a.ts' }],
    ['numbers in order', { a: { type: 'integer' }, b: { type: 'number' } }, 'from 3 to 4.5', { a: 3, b: 4.5 }],
    ['a number moved into bounds when none fits', { a: { type: 'integer', minimum: 10 } }, 'some_tool 3', { a: 10 }],
    ['an enum member that is mentioned', { a: { enum: ['red', 'green'] } }, 'make it Green', { a: 'green' }],
    ['the first of an enum', { a: { enum: ['red', 'green'] } }, 'some_tool', { a: 'red' }],
    ['a default', { a: { type: 'number', default: 7 } }, 'some_tool', { a: 7 }],
    ['a const', { a: { const: 'fixed' } }, 'some_tool "x"', { a: 'fixed' }],
    ['a boolean', { a: { type: 'boolean' }, b: { type: 'boolean' } }, 'b=no', { a: true, b: false }],
    [
      "an assignment in the parameter's type",
      { a: { type: 'integer' }, b: { type: 'string' } },
      'a=12 b=12',
      { a: 12, b: '12' },
    ],
    ['an assignment that cannot be converted', { a: { type: 'integer' } }, 'a=many', { a: 1 }],
    ['an assignment outside the enum', { a: { type: 'string', enum: ['x', 'y'] } }, 'a=z', { a: 'x' }],
    ['an assignment that is too short', { a: { type: 'string', minLength: 3, default: 'long' } }, 'a=x', { a: 'long' }],
    ['an array of one', { a: { type: 'array', items: { type: 'string' } } }, 'some_tool "q"', { a: ['q'] }],
    ['an object inside', { a: parametersOf({ b: { type: 'string' } }) }, 'some_tool "q"', { a: { b: 'q' } }],
    [
      'an assignment sets a parameter of the tool, not a member inside one',
      { a: parametersOf({ b: { type: 'string' } }) },
      'b=zz "q"',
      { a: { b: 'q' } },
    ],
    ['null beside a type', { a: { type: ['null', 'string'] } }, 'some_tool "q"', { a: 'q' }],
    ['the first of anyOf', { a: { anyOf: [{ type: 'integer' }, { type: 'string' }] } }, 'some_tool 5', { a: 5 }],
    [
      'a sample by name',
      { url: { type: 'string' }, filePath: { type: 'string' } },
      'some_tool',
      { url: 'https://example.com/', filePath: 'README.md' },
    ],
    ['a JSON object as it is', { a: { type: 'integer' } }, 'some_tool {"a": 99}', { a: 99 }],
    ['braces that are no JSON are text', { a: { type: 'string' } }, 'some_tool {x} "v"', { a: 'v' }],
  ];
  for (const [name, properties, text, filled] of rows)
    it(`${name}: ${JSON.stringify(filled)}`, () => assert.deepEqual(fill(properties, text), filled));

  it('an optional parameter is left out unless it is assigned', () => {
    assert.deepEqual(fill({ a: { type: 'string' } }, 'some_tool "x"', []), {});
    assert.deepEqual(fill({ a: { type: 'string' } }, 'a="x y"', []), { a: 'x y' });
  });

  it('$ref into the schema, also one that refers to itself', () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } },
      required: ['name'],
    };
    const parameters = { ...parametersOf({ a: { $ref: '#/$defs/node' } }), $defs: { node } };
    assert.deepEqual(fillArguments({ name: 't', description: '', parameters }, 't "x"'), { a: { name: 'x' } });
    const endless = { ...parametersOf({ a: { $ref: '#/properties/a' } }) };
    assert.ok(fillArguments({ name: 't', description: '', parameters: endless }, 't'));
  });

  const leaf = fc.oneof(
    fc.record({ type: fc.constant('string'), minLength: fc.nat(20) }, { requiredKeys: ['type'] }),
    fc.nat(10).map((maxLength) => ({ type: 'string', maxLength })),
    fc.constantFrom('^[a-z]+$', '^\\d+$', '^v\\d', '^[A-Z]$').map((pattern) => ({ type: 'string', pattern })),
    fc.constantFrom('email', 'uri', 'date').map((format) => ({ type: 'string', format })),
    fc
      .constantFrom('integer', 'number')
      .chain((type) =>
        fc
          .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 2, max: 60 }))
          .map(([minimum, span]) => ({ type, minimum, exclusiveMaximum: minimum + span })),
      ),
    fc
      .integer({ min: 1, max: 9 })
      .chain((multipleOf) => fc.nat(40).map((exclusiveMinimum) => ({ type: 'integer', multipleOf, exclusiveMinimum }))),
    fc.constant({ type: 'boolean' }),
    fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).map((members) => ({ type: 'string', enum: members })),
    fc.constant({ type: ['null', 'number'] }),
  );
  const { node: schema } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ type: fc.constant('array'), items: tie('node'), minItems: fc.nat(3) }),
      fc
        .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('node') as fc.Arbitrary<object>, { maxKeys: 3 })
        .map((properties) => parametersOf(properties)),
    ),
  }));

  it('whatever the schema and whatever the user wrote', () => {
    const words = fc.oneof(
      fc.string(),
      fc.constantFrom('"quoted" 5 -3 0.5', 'a=1 b=x', 'some_tool on a/b.c', '{"9":1}', '`x` "y" 12'),
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), schema as fc.Arbitrary<object>, { maxKeys: 4 }),
        words,
        (properties, text) => {
          const parameters = parametersOf(properties);
          const filled = fillArguments({ name: 'some_tool', description: '', parameters }, text);
          assert.ok(
            ajv.validate(parameters as AnySchema, filled),
            `${JSON.stringify(parameters)} ${JSON.stringify(filled)} ${ajv.errorsText()}`,
          );
        },
      ),
      runs(60),
    );
  }).timeout(20_000);

  it('samples keep length, pattern and bounds', () => {
    assert.equal(sampleString('x', { minLength: 12 }).length, 12);
    assert.equal(sampleString('x', { maxLength: 2 }).length <= 2, true);
    assert.match(sampleString('x', { pattern: '^#[0-9a-f]{6}$' }), /^#[0-9a-f]{6}$/);
    assert.equal(sampleString('x', { pattern: '(' }), 'sample');
    assert.equal(sampleNumber({ exclusiveMinimum: 0, exclusiveMaximum: 1 }, 'number', 1), 0.5);
    assert.equal(sampleNumber({ exclusiveMaximum: -2 }, 'number', 1), -3);
    assert.equal(sampleNumber({ minimum: 2.5 }, 'integer', 1), 3);
  });
});
