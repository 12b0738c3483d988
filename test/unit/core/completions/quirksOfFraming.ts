import { bytes } from './playAnswer.ts';
import type { QuirkRow } from './quirkTable.ts';

const hel = 'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}';
const lo = 'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}';
const done = 'data: [DONE]';
const helloStop = { choices: [{ text: 'Hello', finish: 'stop' }] };

export const framingQuirks: readonly QuirkRow[] = [
  {
    quirk: 'data: without the space',
    body: [hel, lo, done].map((line) => `${line.replace('data: ', 'data:')}\n\n`).join(''),
    expected: helloStop,
  },
  { quirk: 'lines end at CR', body: [hel, lo, done, ''].join('\r\r'), expected: helloStop },
  { quirk: 'lines end at CRLF', body: [hel, lo, done, ''].join('\r\n\r\n'), expected: helloStop },
  { quirk: 'line ends mixed', body: `${hel}\r\n\n${lo}\r\r\n${done}\n\r`, expected: helloStop },
  { quirk: 'no blank line after [DONE]', body: `${hel}\n\n${lo}\n\n${done}`, expected: helloStop },
  {
    quirk: 'comments, event:, id:, retry:, empty data, unknown fields',
    body: `: ping\n\nretry: 3000\nid: 1\nevent: message\n${hel}\n\ndata:\n\ndata\n\n:\nfoo: bar\nid: 2\n${lo}\n\n: end\n\n${done}\n\n`,
    expected: helloStop,
  },
  {
    quirk: 'keep-alives that are not JSON: ignored',
    body: `data: : keep-alive\n\n${hel}\n\ndata: ping\n\ndata: : PROCESSING\n\ndata: ""\n\nevent: ping\ndata: {"type":"ping"}\n\n${lo}\n\n${done}\n\n`,
    expected: helloStop,
  },
  {
    quirk: 'one JSON text over two data lines',
    body: `data: {"choices":[{"index":0,\ndata: "delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n${done}\n\n`,
    expected: helloStop,
  },
  {
    quirk: 'U+2028, U+2029 and U+0085 inside JSON text end no line',
    body: `data: {"choices":[{"index":0,"delta":{"content":"a\u2028b\u2029c\u0085d"},"finish_reason":"stop"}]}\n\n${done}\n\n`,
    expected: { choices: [{ text: 'a\u2028b\u2029c\u0085d', finish: 'stop' }] },
  },
  {
    quirk: 'characters of two, three and four bytes',
    body: `data: {"choices":[{"index":0,"delta":{"content":"é€😀"}}]}\n\n${lo}\n\n${done}\n\n`,
    expected: { choices: [{ text: 'é€😀lo', finish: 'stop' }] },
  },
  {
    quirk: 'byte order mark at the beginning',
    body: Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes(`${hel}\n\n${lo}\n\n${done}\n\n`)]),
    expected: helloStop,
  },
  {
    quirk: 'byte order mark before JSON',
    type: 'application/json',
    body: Uint8Array.from([
      0xef,
      0xbb,
      0xbf,
      ...bytes('{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}'),
    ]),
    expected: { ...helloStop, notices: ['notStreamed'] },
  },
];
