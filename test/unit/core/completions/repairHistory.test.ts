import assert from 'node:assert/strict';
import { repairHistory } from '../../../../src/core/completions/history.ts';
import type { ChatMessage } from '../../../../src/core/completions/request.ts';
import { repairArguments } from '../../../../src/core/completions/toolCalls.ts';

const user: ChatMessage = { role: 'user', content: 'q' };
const call = (id: string, args = '{}', name = 'f') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args },
});
const calling = (content: string | null, ...made: ReturnType<typeof call>[]): ChatMessage => ({
  role: 'assistant',
  content,
  tool_calls: made,
});
const result = (id: string, content = `result of ${id}`): ChatMessage => ({ role: 'tool', tool_call_id: id, content });

describe('completions: the arguments of an earlier call', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['{"a": 1}', '{"a": 1}'],
    [' {} ', ' {} '],
    ['', '{}'],
    ['null', '{}'],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['{"a":[1,2,],}', '{"a":[1,2]}'],
    ['{"a":"x,}",}', '{"a":"x,}"}'],
    ['{"a":', undefined],
    ['{"path": "/etc/pass', undefined],
    ['[1]', undefined],
    ['7', undefined],
    ['"text"', undefined],
    ['rm -rf', undefined],
  ];
  for (const [given, repaired] of rows) {
    it(`${JSON.stringify(given)} ${repaired === undefined ? 'cannot be repaired' : `become ${repaired}`}`, () => {
      assert.equal(repairArguments(given), repaired);
    });
  }
});

describe('completions: a history that a service would refuse', () => {
  const rows: readonly (readonly [string, ChatMessage[], ChatMessage[]])[] = [
    [
      'is left alone when it is whole',
      [user, calling('', call('a')), result('a')],
      [user, calling('', call('a')), result('a')],
    ],
    [
      'gets readable arguments',
      [user, calling(null, call('a', '{"x":1,}')), result('a')],
      [user, calling(null, call('a', '{"x":1}')), result('a')],
    ],
    [
      'loses a call that cannot be read, with its result, and keeps the others',
      [user, calling('', call('a', '{"x'), call('b')), result('a'), result('b')],
      [user, calling('', call('b')), result('b')],
    ],
    [
      'keeps what was said beside calls that are gone',
      [user, calling('Let me see.', call('a', '{"x')), result('a')],
      [user, { role: 'assistant', content: 'Let me see.' }],
    ],
    ['loses a turn of which nothing is left', [user, calling(null, call('a', '{"x')), result('a')], [user]],
    ['loses a call without a name', [user, calling('', call('a', '{}', '')), result('a')], [user]],
    ['loses results without a call', [result('z'), user, result('y')], [user]],
    [
      'gets the results that are missing, in the order of the calls',
      [user, calling('', call('a'), call('b')), result('b'), user],
      [user, calling('', call('a'), call('b')), result('a', 'There is no result of this call.'), result('b'), user],
    ],
    [
      'loses a second result of one call',
      [user, calling('', call('a')), result('a', 'one'), result('a', 'two')],
      [user, calling('', call('a')), result('a', 'one')],
    ],
  ];
  for (const [title, given, expected] of rows) {
    it(title, () => {
      const before = structuredClone(given);
      assert.deepEqual(repairHistory(given), expected);
      assert.deepEqual(given, before, 'what was given is not changed');
    });
  }
});
