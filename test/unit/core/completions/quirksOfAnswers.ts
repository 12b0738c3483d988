import { stream } from './playAnswer.ts';
import type { QuirkRow } from './quirkTable.ts';

const hello = '{"choices":[{"index":0,"delta":{"content":"Hello"}}]}';
const stop = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
const helloStop = { choices: [{ text: 'Hello', finish: 'stop' }] };

export const answerQuirks: readonly QuirkRow[] = [
  {
    quirk: 'a plain stream, as vLLM sends it; stop_reason may be a number',
    body: stream(
      '{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}',
      hello,
      '{"choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"stop","stop_reason":128009}]}',
      '{"choices":[],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}',
      '[DONE]',
    ),
    expected: {
      choices: [{ text: 'Hello!', finish: 'stop', stop: 128009 }],
      usage: { promptTokens: 3, totalTokens: 5, completionTokens: 2 },
    },
  },
  {
    quirk: 'status 201 for a stream',
    status: 201,
    body: stream(hello, stop, '[DONE]'),
    expected: helloStop,
  },
  {
    quirk: 'n > 1: choices interleave and are keyed by index',
    request: { n: 2 },
    body: stream(
      '{"choices":[{"index":1,"delta":{"content":"B"}}]}',
      '{"choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"b"}}]}',
      '{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}',
      '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","stop_reason":"."}]}',
      '[DONE]',
    ),
    expected: {
      choices: [
        { text: 'Aa', finish: 'stop', stop: '.' },
        { index: 1, text: 'Bb', finish: 'length' },
      ],
    },
  },
  {
    quirk: 'one choice with index 1, where one was asked for: it is the first',
    body: stream(
      '{"choices":[{"index":1,"delta":{"content":"Hello"}}]}',
      '{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}',
      '[DONE]',
    ),
    expected: helloStop,
  },
  {
    quirk: 'two choices where one was asked for: neither is lost',
    body: stream(
      '{"choices":[{"index":1,"delta":{"content":"Hello"},"finish_reason":"stop"}]}',
      '{"choices":[{"index":0,"delta":{"content":"Again"},"finish_reason":"stop"}]}',
      '[DONE]',
    ),
    expected: {
      choices: [
        { text: 'Hello', finish: 'stop' },
        { index: 1, text: 'Again', finish: 'stop' },
      ],
    },
  },
  {
    quirk: 'function_call in pieces, as before there were tools',
    body: stream(
      '{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":""}}}]}',
      String.raw`{"choices":[{"index":0,"delta":{"function_call":{"arguments":"{\"a\":"}}}]}`,
      '{"choices":[{"index":0,"delta":{"function_call":{"arguments":"1}"}},"finish_reason":"function_call"}]}',
      '[DONE]',
    ),
    expected: { choices: [{ calls: ['* f {"a":1}'], finish: 'function_call' }] },
  },
  {
    quirk: 'created 0, then nothing of it: kept, as it was sent',
    body: stream('{"created":0,"choices":[{"index":0,"delta":{"content":"Hello"}}]}', stop, '[DONE]'),
    expected: {
      ...helloStop,
      head: { id: undefined, object: undefined, created: 0, model: undefined, fingerprint: undefined },
    },
  },
  {
    quirk: 'lines of JSON instead of events',
    type: 'application/x-ndjson',
    body: `${hello}\n${stop}\n`,
    expected: helloStop,
  },
  {
    quirk: 'lines of JSON instead of events, the last of which was cut',
    type: 'application/x-ndjson',
    body: `${hello}\n{"choices":[{"index":0,"del`,
    expected: { choices: [{ text: 'Hello' }], incomplete: /connection was closed/ },
  },
  {
    quirk: 'a list of chunks instead of events',
    type: 'application/json',
    body: `[${hello},${stop}]`,
    expected: { ...helloStop, notices: ['notStreamed'] },
  },
  {
    quirk: 'finish_reason "" in every delta and null at the end: ended by [DONE], reason unknown',
    body: stream(
      '{"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":""}]}',
      '{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}',
      '[DONE]',
    ),
    expected: { choices: [{ text: 'Hello' }] },
  },
  {
    quirk: 'no [DONE] after a finish: complete',
    body: stream(hello, stop),
    expected: helloStop,
  },
  {
    quirk: 'no [DONE] and no finish: an incomplete answer that says so',
    body: stream(hello),
    expected: { choices: [{ text: 'Hello' }], incomplete: /closed before the answer was complete/ },
  },
  {
    quirk: 'chunks after a finish, and a finish twice: read on to [DONE]',
    body: stream(
      '{"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":"stop"}]}',
      '{"choices":[{"index":0,"delta":{"content":"lo"}}]}',
      stop,
      '[DONE]',
    ),
    expected: helloStop,
  },
  {
    quirk: 'choices [], null and absent, and an all-empty first chunk: skipped',
    body: stream(
      '{"id":"","object":"","created":0,"model":"","choices":[],"usage":null}',
      '{"choices":null}',
      '{"id":"x"}',
      '{}',
      hello,
      stop,
      '[DONE]',
    ),
    expected: helloStop,
  },
  {
    quirk: 'object, created and system_fingerprint only in later chunks: kept',
    body: stream(
      '{"id":"x","object":"","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"}}]}',
      '{"id":"x","object":"chat.completion.chunk","created":7,"model":"m","choices":[]}',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"system_fingerprint":"fp"}',
      '[DONE]',
    ),
    expected: {
      ...helloStop,
      head: { id: 'x', object: 'chat.completion.chunk', created: 7, model: 'm', fingerprint: 'fp' },
    },
  },
  {
    quirk: 'usage null, on every chunk and in the finish chunk: the last that is not null is kept, never added',
    body: stream(
      '{"choices":[{"index":0,"delta":{"content":"Hel"}}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}',
      '{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
      '{"choices":[],"usage":null}',
      '[DONE]',
    ),
    expected: { ...helloStop, usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 } },
  },
  {
    quirk: 'role repeated and null: ignored',
    body: stream(
      '{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}',
      '{"choices":[{"index":0,"delta":{"role":null,"content":"l"}}]}',
      '{"choices":[{"index":0,"delta":{"role":"assistant","content":"o"}}]}',
      stop,
      '[DONE]',
    ),
    expected: helloStop,
  },
  {
    quirk: 'content as an array of parts: text is joined, thinking is reasoning',
    body: stream(
      '{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}}]}',
      '{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}}]}',
      stop,
      '[DONE]',
    ),
    expected: { choices: [{ text: 'Hello', reasoning: 'Hm', finish: 'stop' }] },
  },
  {
    quirk: 'reasoning_content, or reasoning in newer servers; sent under both names it counts once',
    body: stream(
      '{"choices":[{"index":0,"delta":{"reasoning_content":"One. "}}]}',
      '{"choices":[{"index":0,"delta":{"reasoning":"Two. "}}]}',
      '{"choices":[{"index":0,"delta":{"reasoning":"Three.","reasoning_content":"Three."}}]}',
      hello,
      stop,
      '[DONE]',
    ),
    expected: { choices: [{ text: 'Hello', reasoning: 'One. Two. Three.', finish: 'stop' }] },
  },
  {
    quirk: 'JSON though a stream was asked: read, with a notice',
    type: 'application/json',
    body: '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"total_tokens":5}}',
    expected: { ...helloStop, usage: { totalTokens: 5 }, notices: ['notStreamed'] },
  },
  {
    quirk: 'JSON under the content type of a stream: the first character that is no space decides',
    body: '\r\n {"choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}\n',
    expected: { ...helloStop, notices: ['notStreamed'] },
  },
  {
    quirk: 'a stream though JSON was asked',
    request: { stream: false },
    type: 'application/json',
    body: stream(hello, stop, '[DONE]'),
    expected: helloStop,
  },
  {
    quirk: 'a stream without a content type',
    type: '',
    body: `\n${stream(hello, stop, '[DONE]')}`,
    expected: helloStop,
  },
];
