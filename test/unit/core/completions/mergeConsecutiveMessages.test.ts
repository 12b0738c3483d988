import assert from 'node:assert/strict';
import { mergeConsecutiveMessages } from '../../../../src/core/completions/history.ts';
import type { ChatMessage } from '../../../../src/core/completions/request.ts';

const user = (content: ChatMessage['content']): ChatMessage => ({ role: 'user', content });
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQ==' } } as const;

describe('neighbouring messages', () => {
  it('of one side are joined, so that roles alternate', () => {
    const given: ChatMessage[] = [
      { role: 'system', content: 'a' },
      { role: 'system', content: 'b' },
      user('one'),
      user('two'),
      { role: 'assistant', content: 'x' },
      user('three'),
    ];
    assert.deepEqual(mergeConsecutiveMessages(given), [
      { role: 'system', content: 'a\n\nb' },
      user('one\n\ntwo'),
      { role: 'assistant', content: 'x' },
      user('three'),
    ]);
  });

  it('keep their images', () => {
    assert.deepEqual(mergeConsecutiveMessages([user('one'), user([image])]), [
      user([{ type: 'text', text: 'one' }, image]),
    ]);
    assert.deepEqual(mergeConsecutiveMessages([user([image]), user('two')]), [
      user([image, { type: 'text', text: 'two' }]),
    ]);
  });

  it('with calls and results stay apart, for they are matched one to one', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } } as const;
    const given: ChatMessage[] = [
      { role: 'assistant', content: 'first' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
      { role: 'tool', tool_call_id: 'd', content: '2' },
    ];
    assert.deepEqual(mergeConsecutiveMessages(given), given);
  });
});
