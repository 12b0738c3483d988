import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import {
  type CompletionRequest,
  MAX_TOOLS,
  requestFields,
  serializeRequest,
  unknownFields,
} from '../../../../src/core/completions/request.ts';

const least: CompletionRequest = { model: 'org/model-1', messages: [{ role: 'user', content: 'Hello' }] };
const leastText = '{"model":"org/model-1","messages":[{"role":"user","content":"Hello"}]}';

const tool = (name: string) => ({ type: 'function' as const, function: { name } });

/** Each field of the specification alone: the value, and its member as it must stand on the wire. */
const alone: readonly [field: string, value: unknown, member: string][] = [
  ['frequency_penalty', -0.5, '"frequency_penalty":-0.5'],
  ['presence_penalty', 0, '"presence_penalty":0'],
  ['logit_bias', { '50256': -100, '15': 2.5 }, '"logit_bias":{"15":2.5,"50256":-100}'],
  ['logit_bias', null, '"logit_bias":null'],
  ['logprobs', false, '"logprobs":false'],
  ['logprobs', true, '"logprobs":true'],
  ['top_logprobs', 0, '"top_logprobs":0'],
  ['max_tokens', 1, '"max_tokens":1'],
  ['max_completion_tokens', 16, '"max_completion_tokens":16'],
  ['n', 3, '"n":3'],
  ['seed', -7, '"seed":-7'],
  ['stop', '\n\u2028"end"', '"stop":"\\n\u2028\\"end\\""'],
  ['stop', ['a', 'b'], '"stop":["a","b"]'],
  ['stop', '', '"stop":""'],
  ['stream', false, '"stream":false'],
  ['stream', true, '"stream":true'],
  ['stream_options', null, '"stream_options":null'],
  ['stream_options', { include_usage: false }, '"stream_options":{"include_usage":false}'],
  ['temperature', 0, '"temperature":0'],
  ['top_p', 0.95, '"top_p":0.95'],
  ['reasoning_effort', 'xhigh', '"reasoning_effort":"xhigh"'],
  ['tools', [tool('look')], '"tools":[{"type":"function","function":{"name":"look"}}]'],
];

function refusal(request: object): RolecallError {
  try {
    serializeRequest(request as CompletionRequest);
  } catch (error) {
    assert.ok(error instanceof RolecallError);
    assert.equal(error.kind, 'invalidRequest');
    return error;
  }
  return assert.fail('the request was not refused');
}

describe('completions: the request on the wire', () => {
  it('holds model and messages and nothing else when nothing else is set', () => {
    assert.equal(serializeRequest(least), leastText);
  });

  for (const [field, value, member] of alone) {
    it(`sends ${field} = ${JSON.stringify(value)} alone, byte for byte`, () => {
      assert.equal(serializeRequest({ ...least, [field]: value }), `${leastText.slice(0, -1)},${member}}`);
    });
  }

  it('sends tool_choice before the tools it needs', () => {
    for (const choice of ['auto', 'none'] as const) {
      assert.equal(
        serializeRequest({ ...least, tools: [tool('look')], tool_choice: choice }),
        `${leastText.slice(0, -1)},"tool_choice":"${choice}","tools":[{"type":"function","function":{"name":"look"}}]}`,
      );
    }
  });

  it('knows every field of the specification', () => {
    const fields = new Set(['model', 'messages', 'tool_choice', ...alone.map(([field]) => field)]);
    assert.deepEqual([...requestFields].sort(), [...fields].sort());
  });

  it('sends messages as they are: images, tool calls, tool results', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.', name: 'rules' },
      {
        role: 'user',
        content: [
          { type: 'text' as const, text: 'What is it?' },
          { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AA==', detail: 'low' as const } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function' as const, function: { name: 'look', arguments: '{"at":"x"}' } }],
      },
      { role: 'tool', content: 'seen', tool_call_id: 'c1' },
    ];
    assert.equal(
      serializeRequest({ model: 'm', messages }),
      '{"model":"m","messages":[{"role":"developer","content":"Be brief.","name":"rules"},' +
        '{"role":"user","content":[{"type":"text","text":"What is it?"},' +
        '{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}]},' +
        '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",' +
        '"function":{"name":"look","arguments":"{\\"at\\":\\"x\\"}"}}]},' +
        '{"role":"tool","content":"seen","tool_call_id":"c1"}]}',
    );
  });

  it('puts the fields in one order, whatever order they were set in, and unknown fields last', () => {
    const shuffled = { zeta: 1, top_p: 1, alpha: [2], seed: 3, messages: least.messages, model: least.model };
    assert.equal(serializeRequest(shuffled), `${leastText.slice(0, -1)},"seed":3,"top_p":1,"zeta":1,"alpha":[2]}`);
    assert.deepEqual(unknownFields(shuffled), ['zeta', 'alpha']);
    assert.deepEqual(unknownFields(least), []);
  });

  it('leaves out members that are undefined', () => {
    const request = { ...least, seed: undefined, tools: undefined } as unknown as CompletionRequest;
    assert.equal(serializeRequest(request), leastText);
  });

  it('leaves out an empty list of tools, and a choice without tools', () => {
    assert.equal(serializeRequest({ ...least, tools: [] }), leastText);
    assert.equal(serializeRequest({ ...least, tools: [], tool_choice: 'auto' }), leastText);
    assert.equal(serializeRequest({ ...least, tool_choice: 'none' }), leastText);
  });

  it('does not change what it is given', () => {
    const request = Object.freeze({ ...least, tools: Object.freeze([]), tool_choice: 'auto' as const });
    assert.equal(serializeRequest(request), leastText);
    assert.deepEqual(Object.keys(request), ['model', 'messages', 'tools', 'tool_choice']);
  });
});

describe('completions: what is refused before it is sent', () => {
  for (const choice of ['required', 'AUTO', '', { type: 'function', function: { name: 'look' } }, null, true]) {
    it(`tool_choice ${JSON.stringify(choice)}, with and without tools`, () => {
      for (const tools of [[], [tool('look')]]) {
        const error = refusal({ ...least, tools, tool_choice: choice });
        assert.deepEqual(error.details, { param: 'tool_choice' });
        assert.equal(
          error.message,
          `The service supports only "auto" and "none" as tool_choice, not ${JSON.stringify(choice)}.`,
        );
      }
    });
  }

  it('more than 128 tools, with the two numbers', () => {
    const tools = Array.from({ length: MAX_TOOLS }, (_, at) => tool(`tool_${at}`));
    assert.equal(MAX_TOOLS, 128);
    const { tools: sent } = JSON.parse(serializeRequest({ ...least, tools })) as { tools: unknown[] };
    assert.equal(sent.length, 128);
    const error = refusal({ ...least, tools: [...tools, tool('one_more')] });
    assert.equal(error.message, 'The service accepts at most 128 tools, but 129 are enabled. Disable some.');
    assert.deepEqual(error.details, { param: 'tools' });
  });

  it('two tools of one name; names that differ in case are two names', () => {
    const error = refusal({ ...least, tools: [tool('look'), tool('read'), tool('look')] });
    assert.equal(error.message, 'Two tools are named "look". Rename one of them.');
    assert.deepEqual(error.details, { param: 'tools' });
    assert.ok(serializeRequest({ ...least, tools: [tool('look'), tool('Look')] }).includes('"Look"'));
  });

  for (const name of ['', 'with space', 'dotted.name', 'ä', 'x'.repeat(65), 'line\n']) {
    it(`the tool name ${JSON.stringify(name).slice(0, 20)}`, () => {
      const error = refusal({ ...least, tools: [tool(name)] });
      assert.ok(error.message.startsWith(`${JSON.stringify(name)} is not a valid tool name`), error.message);
    });
  }

  it('no model, no message', () => {
    assert.deepEqual(refusal({ ...least, model: ' ' }).details, { param: 'model' });
    assert.deepEqual(refusal({ ...least, messages: [] }).details, { param: 'messages' });
  });
});
