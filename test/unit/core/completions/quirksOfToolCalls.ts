import { stream } from './playAnswer.ts';
import type { QuirkRow } from './quirkTable.ts';

const finish = '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}';

/** A stream whose deltas hold these `tool_calls`. */
function calls(...lists: readonly string[]): string {
  const chunks = lists.map((list) => `{"choices":[{"index":0,"delta":{"tool_calls":${list}}}]}`);
  return stream(...chunks, finish, '[DONE]');
}

/** A stream with one call of `f` that ends with this `finish_reason`, and `[DONE]`. */
function ended(reason: string | undefined, json: string): string {
  return stream(
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"${json}"}}]}}]}`,
    ...(reason === undefined ? [] : [`{"choices":[{"index":0,"delta":{},"finish_reason":"${reason}"}]}`]),
    '[DONE]',
  );
}

function called(...calls: readonly string[]): QuirkRow['expected'] {
  return { choices: [{ calls, finish: 'tool_calls' }] };
}

const oslo = String.raw`{\"city\":\"Oslo\"}`;
const rome = String.raw`{\"city\":\"Rome\"}`;

export const toolCallQuirks: readonly QuirkRow[] = [
  {
    quirk: 'a call in fragments, as vLLM sends it',
    body: calls(
      '[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":""}}]',
      String.raw`[{"index":0,"function":{"arguments":"{\"city\":"}}]`,
      String.raw`[{"index":0,"function":{"arguments":"\"Zürich\"}"}}]`,
    ),
    expected: called('c1 weather {"city":"Zürich"}'),
  },
  {
    quirk: 'tool delta without index: matched by id',
    body: calls(
      String.raw`[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":"}}]`,
      String.raw`[{"id":"c2","function":{"name":"weather","arguments":"{\"city\":"}}]`,
      String.raw`[{"id":"c1","function":{"arguments":"\"Oslo\"}"}}]`,
      String.raw`[{"id":"c2","function":{"arguments":"\"Rome\"}"}}]`,
    ),
    expected: called('c1 weather {"city":"Oslo"}', 'c2 weather {"city":"Rome"}'),
  },
  {
    quirk: 'tool delta without index and id: the last open call',
    body: calls(
      '[{"id":"c1","function":{"name":"weather"}}]',
      String.raw`[{"function":{"arguments":"{\"city\":"}}]`,
      String.raw`[{"function":{"arguments":"\"Oslo\"}"}}]`,
    ),
    expected: called('c1 weather {"city":"Oslo"}'),
  },
  {
    quirk: 'only the first delta has an index: the last open call',
    body: calls(
      '[{"index":0,"id":"c1","function":{"name":"weather"}}]',
      String.raw`[{"function":{"arguments":"{\"city\":"}}]`,
      String.raw`[{"function":{"arguments":"\"Oslo\"}"}}]`,
    ),
    expected: called('c1 weather {"city":"Oslo"}'),
  },
  {
    quirk: 'parallel calls all with index 0: a new id starts a new call',
    body: calls(
      `[{"index":0,"id":"c1","function":{"name":"weather","arguments":"${oslo}"}}]`,
      String.raw`[{"index":0,"id":"c2","function":{"name":"weather","arguments":"{\"city\":"}}]`,
      String.raw`[{"index":0,"function":{"arguments":"\"Rome\"}"}}]`,
    ),
    expected: called('c1 weather {"city":"Oslo"}', 'c2 weather {"city":"Rome"}'),
  },
  {
    quirk: 'parallel calls all with index 0 in one list',
    body: calls(
      `[{"index":0,"id":"c1","function":{"name":"f","arguments":"${oslo}"}},{"index":0,"id":"c2","function":{"name":"f","arguments":"${rome}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}', 'c2 f {"city":"Rome"}'),
  },
  {
    quirk: 'the beginning of a call and its fragments in one list',
    body: calls(
      String.raw`[{"index":0,"id":"c1","function":{"name":"f","arguments":""}},{"index":0,"function":{"arguments":"{\"city\":"}},{"index":0,"id":"","function":{"name":"","arguments":"\"Oslo\"}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}'),
  },
  {
    quirk: 'index starts at 1 and has gaps: order of arrival',
    body: calls(
      `[{"index":4,"id":"c1","function":{"name":"f","arguments":"${oslo}"}}]`,
      `[{"index":1,"id":"c2","function":{"name":"g","arguments":"${rome}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}', 'c2 g {"city":"Rome"}'),
  },
  {
    quirk: 'two calls whose fragments interleave',
    body: calls(
      String.raw`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"city\":"}}]`,
      String.raw`[{"index":1,"id":"c2","function":{"name":"g","arguments":"{\"city\":"}}]`,
      String.raw`[{"index":0,"function":{"arguments":"\"Oslo\"}"}},{"index":1,"function":{"arguments":"\"Rome\"}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}', 'c2 g {"city":"Rome"}'),
  },
  {
    quirk: 'no id at all: one is made up',
    body: calls(
      `[{"index":0,"function":{"name":"f","arguments":"${oslo}"}},{"index":1,"function":{"name":"f","arguments":"${rome}"}}]`,
    ),
    expected: called('* f {"city":"Oslo"}', '* f {"city":"Rome"}'),
  },
  {
    quirk: 'id "" on later deltas: ignored',
    body: calls(
      String.raw`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"city\":"}}]`,
      String.raw`[{"index":0,"id":"","function":{"arguments":"\"Oslo\"}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}'),
  },
  {
    quirk: 'name null and "" later, then the whole name again: set once',
    body: calls(
      '[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}]',
      String.raw`[{"index":0,"id":null,"function":{"name":null,"arguments":"\"a\":"}}]`,
      '[{"index":0,"function":{"name":"","arguments":"1"}}]',
      '[{"index":0,"function":{"name":"f","arguments":"}"}}]',
    ),
    expected: called('c1 f {"a":1}'),
  },
  {
    quirk: 'whole arguments sent again at the end: one is kept',
    body: calls(
      String.raw`[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"city\":"}}]`,
      String.raw`[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]`,
      `[{"index":0,"id":"c1","function":{"name":"f","arguments":"${oslo}"}}]`,
    ),
    expected: called('c1 f {"city":"Oslo"}'),
  },
  {
    quirk: 'arguments "" for a tool without parameters',
    body: calls('[{"index":0,"id":"c1","function":{"name":"now","arguments":""}}]'),
    expected: called('c1 now {}'),
  },
  {
    quirk: 'arguments as an object',
    body: calls('[{"index":0,"id":"c1","function":{"name":"f","arguments":{"city":"Oslo"}}}]'),
    expected: called('c1 f {"city":"Oslo"}'),
  },
  ...[
    ...['abort', 'error', 'repetition', 'insufficient_system_resource', 'network_error'],
    ...['model_length', 'length', 'content_filter'],
  ].map(
    (reason): QuirkRow => ({
      quirk: `finish_reason ${reason}: no call runs, however whole it looks`,
      body: ended(reason, oslo),
      expected: { choices: [{ calls: ['c1 f {"city":"Oslo"} (not run)'], finish: reason }] },
    }),
  ),
  ...['eos', 'eos_token', 'stop_sequence', 'end_turn', 'function_call'].map(
    (reason): QuirkRow => ({
      quirk: `finish_reason ${reason}: finished, so no arguments are {}`,
      body: ended(reason, ''),
      expected: { choices: [{ calls: ['c1 f {}'], finish: reason }] },
    }),
  ),
  {
    quirk: 'an unknown finish_reason with whole arguments: the call runs',
    body: ended('whatever', oslo),
    expected: { choices: [{ calls: ['c1 f {"city":"Oslo"}'], finish: 'whatever' }] },
  },
  {
    quirk: 'an unknown finish_reason without arguments: the call does not run',
    body: ended('whatever', ''),
    expected: { choices: [{ calls: ['c1 f  (not run)'], finish: 'whatever' }] },
  },
  {
    quirk: 'no finish_reason at all and no arguments: the call does not run',
    body: ended(undefined, ''),
    expected: { choices: [{ calls: ['c1 f  (not run)'] }] },
  },
  {
    quirk: 'finish_reason tool_calls with no call: reported',
    body: stream('{"choices":[{"index":0,"delta":{"content":"Hm"}}]}', finish, '[DONE]'),
    expected: { choices: [{ text: 'Hm', finish: 'tool_calls' }], notices: ['finishWithoutCalls'] },
  },
  {
    quirk: 'finish_reason stop with calls: the calls decide',
    body: stream(
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}',
      '[DONE]',
    ),
    expected: { choices: [{ calls: ['c1 f {}'], finish: 'stop' }], notices: ['callsWithoutFinish'] },
  },
  {
    quirk: 'tool_calls [] and null in every delta: ignored',
    body: stream(
      '{"choices":[{"index":0,"delta":{"content":"A","tool_calls":[]}}]}',
      '{"choices":[{"index":0,"delta":{"content":"B","tool_calls":null}}]}',
      '{"choices":[{"index":0,"delta":{"tool_calls":[]},"finish_reason":"stop"}]}',
      '[DONE]',
    ),
    expected: { choices: [{ text: 'AB', finish: 'stop' }] },
  },
];
