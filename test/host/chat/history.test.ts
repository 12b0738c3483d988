import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { AskedQuestions, earlierTurns, readMetadata, sessionHash } from '../../../src/host/chat/history.ts';
import { requestTurn, responseTurn } from '../support/chat.ts';
import { folder } from '../support/workspace.ts';

const session = 'here';
const said = (text: string) => new vscode.ChatResponseMarkdownPart(text);
const ask = (prompt: string, ...more: [vscode.ChatPromptReference[]?, string?]) => requestTurn(vscode, prompt, ...more);
const answer = (response: unknown[], metadata: unknown = { session, history: [] }, participant?: string) =>
  responseTurn(vscode, response, metadata, participant);

async function turns(...history: (vscode.ChatRequestTurn | vscode.ChatResponseTurn)[]) {
  return earlierTurns({ history }, session, new AskedQuestions(), true);
}

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
    const { messages } = await turns(ask('What is it?'), answer([said('Used f. It is 42.')], { session, history }));
    assert.deepEqual(messages, [{ role: 'user', content: 'What is it?' }, ...history]);
  });

  it('are sent as what stood in the chat when nothing else that can be read is left of them', async () => {
    const anchor = new vscode.ChatResponseAnchorPart(folder().uri);
    const broken = ['gone', [{ role: 7 }], [{ role: 'tool', content: { not: 'text' } }]];
    for (const history of broken) {
      const { messages } = await turns(ask('Count.'), answer([said('1, '), anchor, said('2')], { session, history }));
      assert.deepEqual(messages, [
        { role: 'user', content: 'Count.' },
        { role: 'assistant', content: '1, 2' },
      ]);
    }
  });

  it('hold the model’s words only, and nothing that Rolecall said beside them', async () => {
    const line = new vscode.MarkdownString('\n\n$(info) Used count\\_words\\.\n\n', true);
    const response = [said('It has '), new vscode.ChatResponseMarkdownPart(line), said('7 words.')];
    const { messages } = await turns(ask('Count.'), answer(response, { session, history: 'gone' }));
    assert.deepEqual(messages[1], { role: 'assistant', content: 'It has 7 words.' });
  });

  describe('that were stopped', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const calling = { role: 'assistant', content: 'Let me look. ', tool_calls: [call] };
    const result = { role: 'tool', tool_call_id: 'c', content: '42' };
    const history = [calling, result, { role: 'assistant', content: 'It is 42, as far' }];
    const line = new vscode.ChatResponseMarkdownPart(new vscode.MarkdownString('\n\n$(info) Used f.\n\n', true));
    const shown = (...response: unknown[]) =>
      turns(ask('What?'), answer(response, { session, history, isStopped: true }));
    const sent = async (...response: unknown[]) => (await shown(...response)).messages.slice(1);

    it('hold what was shown, however much more had come', async () => {
      assert.deepEqual(await sent(said('Let me look. '), line, said('It is')), [
        calling,
        result,
        { role: 'assistant', content: 'It is' },
      ]);
      assert.deepEqual(await sent(said('Let me look. '), line, said('It is 42, as far')), history);
    });

    it('keep the calls that were made, also where less was shown', async () => {
      assert.deepEqual(await sent(said('Let')), [{ ...calling, content: 'Let' }, result]);
      assert.deepEqual(await sent(), [{ ...calling, content: '' }, result]);
    });

    it('hold what was shown where it is something else', async () => {
      assert.deepEqual(await sent(said('Lo')), [{ role: 'assistant', content: 'Lo' }]);
    });

    it('are known in this window also where VS Code has kept nothing of them', async () => {
      const asked = new AskedQuestions();
      asked.remember('What?', session);
      asked.keep('What?', { session, history: history as never, isStopped: true });
      const told = await earlierTurns(
        { history: [ask('What?'), answer([said('Let me')], null)] },
        session,
        asked,
        true,
      );
      assert.deepEqual(told.messages.slice(1), [{ ...calling, content: 'Let me' }, result]);
    });
  });

  it('in which the model said nothing say so, whatever Rolecall said of it', async () => {
    const { messages } = await turns(ask('Count.'), answer([said('*The model returned an empty answer.*')]));
    // Without an answer between them the next question would be joined to this one.
    const expected = [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: '(no answer)' },
    ];
    assert.deepEqual(messages, expected);
    assert.deepEqual((await turns(ask('Count.'), answer([], { session, history: 'gone' }))).messages, expected);
  });

  it('keep what was attached to them, and what a command made of them', async () => {
    const reference = { id: 'r', value: 'the attached words' };
    const [message] = (await turns(ask('Look.', [reference]), answer([]))).messages;
    assert.match(String(message?.content), /^Look\.\n\n[\s\S]*the attached words/);
    const asked = await turns(ask(''), answer([], { session, history: [], question: 'Explain x.' }));
    assert.deepEqual(asked.messages[0], { role: 'user', content: 'Explain x.' });
  });

  it('with somebody else are not told', async () => {
    const told = await turns(ask('Secret?', [], 'other'), answer([said('Yes.')], { session, history: [] }, 'other'));
    assert.deepEqual(told, { messages: [], followsAnotherAccount: false, unsent: [], answered: new Set() });
  });

  it('of another connection or account are not sent, and are noted until the next turn', async () => {
    const there = { session: 'there', history: [{ role: 'assistant', content: 'Secret.' }] };
    const here = { session, history: [{ role: 'assistant', content: 'Yes.' }] };
    const told = await turns(ask('Mine?'), answer([], there), ask('Yours?'), answer([], here));
    assert.equal(told.followsAnotherAccount, false);
    assert.equal((await turns(ask('Mine?'), answer([], there))).followsAnotherAccount, true);
    assert.deepEqual(
      told.messages.map(({ content }) => content),
      ['Yours?', 'Yes.'],
    );
  });

  it('of nobody knows whom, and what Rolecall said by itself, are not sent', async () => {
    for (const metadata of [undefined, {}, 'rubbish', { session: 7 }, { session, history: [], isLocal: true }]) {
      const told = await turns(ask('Hi.'), answer([said('Sign in.')], metadata === undefined ? null : metadata));
      assert.deepEqual(told, { messages: [], followsAnotherAccount: false, unsent: [], answered: new Set() });
    }
  });
});

describe('questions whose answers were stopped', () => {
  it('belong to whom they were asked of, and to nobody when that was more than one', async () => {
    const asked = new AskedQuestions();
    asked.remember('a', 'here');
    asked.remember('a', 'here');
    asked.remember('b', 'there');
    asked.remember('c', 'here');
    asked.remember('c', 'there');
    const history = ['a', 'b', 'c', 'd'].flatMap((prompt) => [ask(prompt), answer([said(`${prompt}!`)], null)]);
    const { messages, followsAnotherAccount } = await earlierTurns({ history }, session, asked, true);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['a', 'a!'],
    );
    assert.equal(followsAnotherAccount, true);
  });

  it('are not kept without end', () => {
    const asked = new AskedQuestions();
    for (let count = 0; count < 300; count += 1) asked.remember(String(count), session);
    assert.deepEqual([asked.sessionOf('0'), asked.sessionOf('299')], [undefined, session]);
  });
});

describe('what the participant leaves in a result', () => {
  it('names connection and account without telling them', () => {
    const one = sessionHash({ key: 'k', inferenceAccount: 'secret@example.com' });
    assert.doesNotMatch(one, /secret/);
    assert.equal(one, sessionHash({ key: 'k', inferenceAccount: 'secret@example.com' }));
    assert.notEqual(one, sessionHash({ key: 'k', inferenceAccount: 'other' }));
    assert.notEqual(one, sessionHash({ key: 'l', inferenceAccount: 'secret@example.com' }));
  });

  it('is read back, and nothing else', () => {
    const left = { session, history: [{ role: 'assistant', content: 'x' }], question: 'q', followUp: 'fix' };
    assert.deepEqual(readMetadata(left), left);
    for (const rubbish of [undefined, null, [], { history: [] }, { session, question: 7 }]) {
      assert.equal(readMetadata(rubbish as never), undefined);
    }
  });
});
