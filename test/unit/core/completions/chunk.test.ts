import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseJson } from '../../../../src/core/base/json.ts';
import { ChunkParser, readChunk } from '../../../../src/core/completions/chunk.ts';
import { runs } from '../../runs.ts';

const choice = (value: unknown) => readChunk({ choices: [value] }).choices[0];
const delta = (value: unknown) => choice({ index: 0, delta: value });
const toolCalls = (value: unknown) => delta({ tool_calls: value })?.toolCalls;

const silent = {
  index: 0,
  role: '',
  text: '',
  reasoning: '',
  toolCalls: [],
  logprobs: undefined,
  finishReason: '',
  stopReason: undefined,
};

describe('chunk', () => {
  it('reads every field of the specification, of a chunk and of a whole answer', () => {
    const head = { id: 'x', object: 'o', created: 7, model: 'm', system_fingerprint: 'f', prompt_logprobs: 'p' };
    const said = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' };
    const rest = { index: 2, finish_reason: 'stop', stop_reason: 13, logprobs: null };
    for (const member of ['delta', 'message']) {
      const chunk = readChunk({ ...head, choices: [{ ...rest, [member]: said }] });
      assert.deepEqual(chunk, {
        id: 'x',
        object: 'o',
        created: 7,
        model: 'm',
        fingerprint: 'f',
        promptLogprobs: 'p',
        usage: undefined,
        choices: [
          { ...silent, index: 2, role: 'assistant', text: 'Hi', reasoning: 'Hm', finishReason: 'stop', stopReason: 13 },
        ],
      });
    }
  });

  it('reads a member of any other type as absent', () => {
    for (const odd of [null, true, 0, 1.5, 'text', [], [null], {}, { a: 1 }]) {
      const chunk = readChunk({ choices: [odd], usage: odd, id: odd, created: odd, model: odd });
      assert.ok(chunk.choices.length <= 1);
      const number = typeof odd === 'number' ? odd : undefined;
      const text = typeof odd === 'string' ? odd : '';
      assert.equal(chunk.created, number);
      assert.deepEqual(readChunk({ choices: odd as never }).choices, []);
      const read = choice({
        index: odd,
        delta: { role: odd, content: odd, tool_calls: odd, reasoning: odd },
        logprobs: odd,
        finish_reason: odd,
      });
      assert.equal(read?.index, number ?? 0);
      assert.equal(read?.role, text);
      assert.equal(read?.text, text);
      assert.equal(read?.reasoning, text);
      assert.equal(read?.finishReason, text);
      assert.equal(read?.logprobs, undefined);
      assert.ok((read?.toolCalls.length ?? 0) <= 1);
      assert.deepEqual(choice({ delta: odd }), silent);
    }
  });

  it('gives a choice without an index its place', () => {
    const { choices } = readChunk({ choices: [{ delta: { content: 'a' } }, null, { delta: { content: 'b' } }] });
    assert.deepEqual(
      choices.map(({ index, text }) => [index, text]),
      [
        [0, 'a'],
        [2, 'b'],
      ],
    );
  });

  for (const [content, text, reasoning] of [
    ['plain', 'plain', ''],
    [[{ type: 'text', text: 'a' }, 'b', null, 7, { type: 'image' }, { type: 'text', text: 'c' }], 'abc', ''],
    [
      [
        { type: 'thinking', thinking: 'a' },
        { type: 'text', text: 'b' },
      ],
      'b',
      'a',
    ],
    [
      [
        { type: 'reasoning', text: 'a' },
        { type: 'reasoning', reasoning: [{ type: 'text', text: 'b' }] },
      ],
      '',
      'ab',
    ],
    [
      [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'b' },
      ],
      'ab',
      '',
    ],
    [[], '', ''],
  ] as const) {
    it(`joins the parts of content ${JSON.stringify(content)}`, () => {
      const read = delta({ content });
      assert.deepEqual([read?.text, read?.reasoning], [text, reasoning]);
    });
  }

  it('shows a refusal as the text, and reasoning under either name once', () => {
    assert.equal(delta({ content: null, refusal: 'No.' })?.text, 'No.');
    assert.equal(delta({ content: 'Yes.', refusal: 'No.' })?.text, 'Yes.');
    assert.equal(delta({ reasoning: 'a' })?.reasoning, 'a');
    assert.equal(delta({ reasoning_content: 'a', reasoning: 'a' })?.reasoning, 'a');
  });

  it('reads the readable parts of reasoning_details, where reasoning stands nowhere else', () => {
    const reasoning_details = [
      { type: 'reasoning.summary', summary: 'a' },
      { type: 'reasoning.encrypted', data: 'zzz' },
      { type: 'reasoning.text', text: 'b', signature: 'zzz' },
    ];
    assert.equal(delta({ content: '', reasoning_details })?.reasoning, 'ab');
    assert.equal(delta({ reasoning: 'c', reasoning_details })?.reasoning, 'c');
  });

  it('reads the call of the legacy function_call, unless there are tool_calls', () => {
    const function_call = { name: 'f', arguments: '{}' };
    assert.deepEqual(delta({ function_call })?.toolCalls, [{ index: 0, id: '', name: 'f', arguments: '{}' }]);
    assert.deepEqual(choice({ message: { function_call } })?.toolCalls.length, 1);
    const call = { id: 'c', function: function_call };
    assert.deepEqual(
      delta({ function_call, tool_calls: [call] })?.toolCalls.map(({ id }) => id),
      ['c'],
    );
  });

  it('reads parts and arguments however deep they are nested', () => {
    const depth = 50_000;
    const nested = (open: string, middle: string, close: string): unknown =>
      JSON.parse(open.repeat(depth) + middle + close.repeat(depth));
    const content = [nested('{"type":"thinking","thinking":[', '"deep"', ']}')];
    assert.equal(delta({ content })?.reasoning, 'deep');
    const [call] = toolCalls([{ function: { name: 'f', arguments: nested('{"a":', '1', '}') } }]) ?? [];
    assert.throws(() => JSON.parse(call?.arguments ?? ''), 'it must not run without its arguments');
  });

  it('reads calls of tools whatever is missing in them', () => {
    const none = { index: undefined, id: '', name: '', arguments: '' };
    assert.deepEqual(toolCalls([{}, null, 7, { index: 3, id: 'c', function: { name: 'f', arguments: '{' } }]), [
      none,
      { index: 3, id: 'c', name: 'f', arguments: '{' },
    ]);
    assert.deepEqual(toolCalls([{ index: null, id: null, function: null }]), [none]);
    assert.equal(toolCalls([{ function: { arguments: { a: [1] } } }])?.[0]?.arguments, '{"a":[1]}');
    assert.equal(toolCalls([{ function: { arguments: null } }])?.[0]?.arguments, '');
  });

  it('tells the calls of a whole answer apart, whatever their index says', () => {
    const call = { index: 0, function: { name: 'f' } };
    assert.deepEqual(
      choice({ message: { tool_calls: [call, call] } })?.toolCalls.map(({ index }) => index),
      [0, 1],
    );
  });

  it('reads usage member by member, and null as nothing', () => {
    assert.equal(readChunk({ usage: null }).usage, undefined);
    assert.deepEqual(readChunk({ usage: { prompt_tokens: 0, completion_tokens: '5', total_tokens: null } }).usage, {
      promptTokens: 0,
    });
    const details = { cached_tokens: 2 };
    const whole = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    assert.deepEqual(
      readChunk({ usage: { ...whole, prompt_tokens_details: details, completion_tokens_details: details } }).usage,
      {
        promptTokens: 3,
        completionTokens: 2,
        totalTokens: 5,
        promptTokensDetails: details,
        completionTokensDetails: details,
      },
    );
  });

  it('keeps a stop reason of any type but null', () => {
    for (const stop of ['.', 0, false, [1]]) assert.deepEqual(choice({ stop_reason: stop })?.stopReason, stop);
    assert.equal(choice({ stop_reason: null })?.stopReason, undefined);
  });
});

describe('the chunks of a stream', () => {
  const words = fc.oneof(
    fc.constantFrom(
      '',
      ' word',
      'stop',
      'content',
      '"',
      '\\',
      '\n',
      'é 🙂',
      'a","content":"b',
      '\u2028',
      'word '.repeat(9),
    ),
    fc.string(),
  );
  /** Chunks that hold the same words in other places, too, or nothing but them. */
  const shapes: readonly ((content: string, other: string) => unknown)[] = [
    (content) => ({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    (content) => ({ choices: [{ delta: { content }, finish_reason: content, content }], content }),
    (content) => ({ content, delta: { content }, choices: [{ content, delta: { [content]: content, content } }] }),
    (content, other) => ({ content: other, choices: [{ delta: { role: other, content } }, { delta: { content } }] }),
    (content, other) => ({
      choices: [{ delta: { content, ['__proto__']: other, reasoning_content: other } }],
      obfuscation: other,
    }),
    (content, other) => ({ choices: [{ delta: { content: [{ text: content }], refusal: other } }] }),
    (content) => [{ choices: [{ delta: { content } }] }],
    (content) => ({ choices: content }),
    (content) => content,
  ];
  const escaped = (text: string) => text.replaceAll(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const writers: readonly ((value: unknown) => string)[] = [
    (value) => JSON.stringify(value),
    (value) => JSON.stringify(value, null, ' '),
    // Every letter of a value escaped; those of names are not.
    (value) => JSON.stringify(value).replaceAll(/:"(\w+)"/g, (_, text: string) => `:"${escaped(text)}"`),
    // A second member of that name, of which JSON takes the last.
    (value) => JSON.stringify(value).replace('"content"', '"content":"first","content"'),
    // As if the words had not been escaped at all.
    (value) => JSON.stringify(value).replaceAll('\\', ''),
    (value) => JSON.stringify(value).slice(0, -2),
    // Shorter than what stands around the words.
    (value) => JSON.stringify(value).replaceAll('""', '"'),
  ];
  const stream = fc.record({
    shape: fc.nat(shapes.length - 1),
    writer: fc.nat(writers.length - 1),
    other: words,
    contents: fc.array(words, { minLength: 1, maxLength: 6 }),
  });

  it('are read as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.array(stream, { maxLength: 4 }), (parts) => {
        const parser = new ChunkParser();
        for (const { shape, writer, other, contents } of parts) {
          for (const content of contents) {
            const data = writers[writer]?.(shapes[shape]?.(content, other)) ?? '';
            assert.deepEqual(parser.parse(data), parseJson(data), data);
          }
        }
      }),
      runs(1000),
    );
  });

  it('are read as JSON.parse reads them where the words are a name elsewhere', () => {
    for (const [first, next] of [
      ['{"choices":[{"delta":{"content":"one"}}],"choices":[{"delta":{"content":"choices"}}]}', 'choices'],
      ['{"choices":[{"delta":{"content":"other"}}],"choices":[{"delta":{"content":"choices"}}]}', 'choices'],
      ['{"choices":[{"delta":{"one":"","content":"\\u006b","k":"one"}}]}', '"k"'],
      ['{"choices":[{"delta":{"content":"\\u006b","content":"k","k":"one"}}]}', 'k'],
    ] as const) {
      const parser = new ChunkParser();
      for (const data of [first, first.replaceAll(next, 'foo'), first.replace(next, 'foo'), first]) {
        assert.deepEqual(parser.parse(data), parseJson(data), data);
      }
    }
  });

  it('are parsed once more only as often as it pays', () => {
    const { parse } = JSON;
    let count = 0;
    const countOf = (chunks: readonly string[]) => {
      count = 0;
      JSON.parse = (text: string) => {
        count++;
        return parse(text);
      };
      try {
        const parser = new ChunkParser();
        for (const chunk of chunks) parser.parse(chunk);
      } finally {
        JSON.parse = parse;
      }
      return count;
    };
    const chunk = (at: number, more = {}) =>
      JSON.stringify({ choices: [{ delta: { content: `word${at}` } }], ...more });
    const same = Array.from({ length: 1000 }, (_, at) => chunk(at));
    const other = Array.from({ length: 1000 }, (_, at) => chunk(at, { created: at }));
    assert.equal(countOf(same), 3);
    assert.equal(countOf(same.map((each) => each.replace('content', 'reasoning'))), 3);
    assert.equal(countOf(other), 1020, 'whatever changes with every chunk');
    const byTurns = same.map((each, at) => (at % 2 === 0 ? each : each.replace('{', '{"index":1,')));
    assert.ok(countOf(byTurns) <= 1020, 'those of two choices');
    const long = chunk(1, { random: 'x'.repeat(20_000) });
    assert.equal(countOf([long, long, long, long]), 4, 'in which a search could be slow');
  });
});
