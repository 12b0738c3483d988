import { stream } from './playAnswer.ts';
import type { QuirkRow } from './quirkTable.ts';

const hello = '{"choices":[{"index":0,"delta":{"content":"Hello"}}]}';
const failed = { kind: 'server', says: /Engine died/ };

export const errorQuirks: readonly QuirkRow[] = [
  {
    quirk: 'error object in mid-stream, with [DONE]: what came before stays',
    body: stream(hello, '{"error":{"message":"Engine died","type":"InternalServerError","code":500}}', '[DONE]'),
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'error object in mid-stream, without [DONE]',
    body: stream(hello, '{"error":{"code":"500","message":"Engine died","error_type":"INTERNAL","param":null}}'),
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'error after event: error, as an object without "error"',
    body: `${stream(hello)}event: error\ndata: {"message":"Engine died","code":500}\n\n`,
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'error after event: error, as plain text',
    body: `${stream(hello)}event: error\ndata: Engine died\n\n`,
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'error beside choices: what stands in them counts',
    body: stream(
      hello,
      '{"choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"error"}],"error":{"code":502,"message":"Engine died"}}',
      '[DONE]',
    ),
    expected: { choices: [{ text: 'Hello!', finish: 'error' }], error: failed },
  },
  {
    quirk: 'error: null beside choices is no error',
    body: stream('{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}],"error":null}', '[DONE]'),
    expected: { choices: [{ text: 'Hello', finish: 'stop' }] },
  },
  {
    quirk: 'error as the first event',
    body: stream(
      '{"error":{"code":"422","error_type":"UNSUPPORTED_OPENAI_PARAMS","message":"no","param":"tools, tool_choice"}}',
    ),
    expected: { error: { kind: 'unsupported', says: /"m" does not support tools and tool_choice/ } },
  },
  {
    quirk: '200 with an error body',
    type: 'application/json',
    body: '{"error":{"code":"402","error_type":"INSUFFICIENT_CREDIT","message":"Top up","param":""}}',
    expected: { error: { kind: 'credit', says: /no credit left.*Top up/ } },
  },
  {
    quirk: '200 with a flat error body, under the content type of a stream',
    body: '{"object":"error","message":"Engine died","type":"InternalServerError","param":null,"code":500}',
    expected: { error: failed },
  },
  {
    quirk: 'HTML 502: a short message, never the page',
    status: 502,
    type: 'text/html',
    body: '<html><head><title>502 Bad Gateway</title></head><body><hr>nginx</body></html>',
    expected: {
      error: {
        kind: 'server',
        says: /^The inference service is temporarily unavailable \(502\)\. Try again in a moment\.$/,
      },
    },
  },
  {
    quirk: 'HTML 503 that calls itself JSON',
    status: 503,
    type: 'application/json',
    body: '\n<!DOCTYPE html><title>Service Unavailable</title>',
    expected: {
      error: {
        kind: 'server',
        says: /^The inference service is temporarily unavailable \(503\)\. Try again in a moment\.$/,
      },
    },
  },
  {
    quirk: 'HTML 504 in a JSON error',
    status: 504,
    type: 'application/json',
    body: '{"error":{"message":"<html><body><h1>504 Gateway Time-out</h1></body></html>"}}',
    expected: {
      error: {
        kind: 'server',
        says: /^The inference service is temporarily unavailable \(504\)\. Try again in a moment\.$/,
      },
    },
  },
  {
    quirk: 'HTML with status 200, as captive portals answer',
    type: 'text/html',
    body: '<html><body>Welcome to the hotel</body></html>',
    expected: {
      error: { kind: 'protocol', says: /^https:\/\/inference\.example returned a web page(?!.*hotel)/ },
    },
  },
  {
    quirk: 'JSON that came whole but cannot be parsed is no cut connection',
    type: 'application/json',
    body: '{"choices":[{"message":{"content":"Hel\nlo"},"logprobs":NaN}]}',
    expected: { error: { kind: 'protocol', says: /something that is not a JSON object: \{"choices"/ } },
  },
  {
    quirk: 'JSON that is no object',
    type: 'application/json',
    body: '[1]',
    expected: { error: { kind: 'protocol', says: /something that is not a JSON object: \[1\]/ } },
  },
  {
    quirk: 'lines of JSON with something else behind them: what came before stays',
    type: 'application/x-ndjson',
    body: `${hello}\nTraceback: KeyError\n`,
    expected: {
      choices: [{ text: 'Hello' }],
      error: { kind: 'protocol', says: /something that is not a JSON object: Traceback/ },
    },
  },
  {
    quirk: 'a bare JSON error line within a stream',
    body: `${stream(hello)}{"error":{"message":"Engine died","code":500}}\n\ndata: [DONE]\n\n`,
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'a bare JSON error line at the end of a stream, right behind an event',
    body: `data: ${hello}\r\n{"error":{"message":"Engine died","code":500}}`,
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  {
    quirk: 'an error in a list, in mid-stream',
    body: stream(hello, '[{"error":{"message":"Engine died","code":500}}]'),
    expected: { choices: [{ text: 'Hello' }], error: failed },
  },
  ...['', 'data: '].map(
    (prefix): QuirkRow => ({
      quirk: `a web page within a stream, ${prefix === '' ? 'bare' : 'as an event'}: never the page`,
      body: `${stream(hello)}${prefix}<html><head><title>502 Bad Gateway</title></head></html>\n\n`,
      expected: {
        choices: [{ text: 'Hello' }],
        error: { kind: 'protocol', says: /^The answer was interrupted by a web page(?!.*502)/ },
      },
    }),
  ),
  {
    quirk: 'data that is neither JSON nor [DONE] nor a keep-alive: reported',
    body: stream(hello, 'Traceback: KeyError', '[DONE]'),
    expected: { choices: [{ text: 'Hello' }], error: { kind: 'protocol', says: /invalid JSON: Traceback: KeyError/ } },
  },
];
