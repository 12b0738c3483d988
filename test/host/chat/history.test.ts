import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { earlierMessages } from '../../../src/host/chat/history.ts';
import { requestTurn, responseTurn } from '../support/chat.ts';
import { folder } from '../support/workspace.ts';

const said = (text: string) => new vscode.ChatResponseMarkdownPart(text);
const ask = (prompt: string, ...more: [vscode.ChatPromptReference[]?, string?]) => requestTurn(vscode, prompt, ...more);
const answer = (response: unknown[], metadata?: unknown, participant?: string) =>
  responseTurn(vscode, response, metadata, participant);

describe('earlier turns of a chat', () => {
  it('are sent back whole, calls and results included', async () => {
    const history = [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '42' },
      { role: 'assistant', content: 'It is 42.' },
    ];
    const context = { history: [ask('What is it?'), answer([said('Used f. It is 42.')], { history })] };
    assert.deepEqual(await earlierMessages(context), [{ role: 'user', content: 'What is it?' }, ...history]);
  });

  it('are sent as what stood in the chat when nothing else is left of them', async () => {
    const anchor = new vscode.ChatResponseAnchorPart(folder().uri);
    for (const metadata of [undefined, {}, { history: 'gone' }, { history: [] }]) {
      const context = { history: [ask('Count.'), answer([said('1, '), anchor, said('2')], metadata)] };
      assert.deepEqual(await earlierMessages(context), [
        { role: 'user', content: 'Count.' },
        { role: 'assistant', content: '1, 2' },
      ]);
    }
  });

  it('without any words are no messages', async () => {
    assert.deepEqual(await earlierMessages({ history: [ask('Count.'), answer([], { history: [] })] }), [
      { role: 'user', content: 'Count.' },
    ]);
  });

  it('keep what was attached to them', async () => {
    const reference = { id: 'r', value: 'the attached words' };
    const [message] = await earlierMessages({ history: [ask('Look.', [reference])] });
    assert.match(String(message?.content), /^Look\.\n\n[\s\S]*the attached words/);
  });

  it('with somebody else are not told', async () => {
    const history = [ask('Secret?', [], 'other.participant'), answer([said('Yes.')], undefined, 'other.participant')];
    assert.deepEqual(await earlierMessages({ history }), []);
  });
});
