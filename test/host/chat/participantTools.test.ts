import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { ChatMessage } from '../../../src/core/completions/request.ts';
import type { ToolRegistry } from '../../../src/host/conversation.ts';
import { ownAccessToolNames } from '../../../src/host/ownAccessTools.ts';
import { chatRequest, requestTurn, responseTurn } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { clearFaults } from '../support/sandbox.ts';
import { useScene } from '../support/scene.ts';

describe('@rolecall with a tool', () => {
  const scene = useScene();
  const chat = useChat(scene);
  afterEach(clearFaults);

  const offered = (invoke: ToolRegistry['invoke']): ToolRegistry => ({
    tools: [
      {
        name: 'count_words',
        definition: {
          type: 'function',
          function: {
            name: 'count_words',
            description: 'Counts words.',
            parameters: { type: 'object', properties: {} },
          },
        },
        check: () => [],
      },
    ],
    invoke,
  });

  it('runs it, tells the model and keeps both in the history', async () => {
    await chat().signedIn();
    chat().toolRegistry = offered(async () => ({ content: '42 words', isError: false }));
    const { metadata } = await chat().ask('Please call count_words.');
    assert.deepEqual(chat().stream.progresses, ['Calling count_words…', 'Round 2: sending the results to the model…']);
    assert.match(chat().read(), /\$\(info\) Used count_words\./);
    assert.match(chat().stream.text, /42 words/);
    assert.equal(chat().sent().tool_choice, 'auto');
    assert.deepEqual(
      metadata?.history.map(({ role }: ChatMessage) => role),
      ['assistant', 'tool', 'assistant'],
    );
  });

  it('has the access tools for /access and those that it refers to, and knows what has answered before', async () => {
    await chat().signedIn();
    const last = () => {
      const { access, answered } = chat().opened.at(-1) ?? {};
      return [[...(access ?? [])], [...(answered ?? [])]];
    };
    await chat().ask('say: hello');
    assert.deepEqual(last(), [[], []]);
    await chat().ask(chatRequest('say: hello', { command: 'access' }));
    assert.deepEqual(last(), [[...ownAccessToolNames], []]);
    const toolReferences = [{ name: 'rolecall_who_has_role' }, { name: 'rolecall_workspaceTool' }];
    await chat().ask(chatRequest('say: hello', { toolReferences }));
    assert.deepEqual(last(), [['who_has_role'], []]);
    const { metadata: who } = await chat().ask(chatRequest('who?', { command: 'access' }));
    await chat().ask('say: hello', [
      requestTurn(vscode, 'who?', [], undefined, 'access'),
      responseTurn(vscode, [], who),
    ]);
    assert.deepEqual(last(), [[], [...ownAccessToolNames]]);
    chat().toolRegistry = offered(async () => {
      chat().opened.at(-1)?.answered?.add('count_words');
      return { content: '42 words', isError: false };
    });
    const { metadata } = await chat().ask('Please call count_words.');
    const earlier = [requestTurn(vscode, 'Please call count_words.'), responseTurn(vscode, [], metadata)];
    await chat().ask('say: hello', earlier);
    assert.deepEqual(last(), [[], ['count_words']]);
    // A call that was refused is among the messages too.
    chat().toolRegistry = offered(async () => Promise.reject(cancelled()));
    const { metadata: refused } = await chat().ask('Please call count_words.');
    assert.equal(JSON.stringify(refused?.history).includes('count_words'), true);
    await chat().ask('say: hello', [earlier[0] ?? assert.fail(), responseTurn(vscode, [], refused)]);
    assert.deepEqual(last(), [[], []]);
  });

  it('tells once what every round of the answer meets', async () => {
    await chat().signedIn();
    scene().settings.described = [{ id: 'sandbox/guide', contextLength: 700, maxOutput: 100 }];
    let calls = 0;
    chat().toolRegistry = offered(async () => {
      calls += 1;
      return { content: `result ${calls} ${'word '.repeat(400)}`, isError: false };
    });
    await chat().ask('Please keep calling count_words.');
    assert.ok(calls > 3);
    assert.equal(
      chat()
        .read()
        .match(/of tool calls (?:was|were) left out/g)?.length,
      1,
    );
  }).timeout(60_000);

  it('that the user does not allow, says so and lets the model go on', async () => {
    await chat().signedIn();
    chat().toolRegistry = offered(async () => {
      throw new RolecallError('cancelled', 'no');
    });
    const { metadata } = await chat().ask('Please call count_words.');
    assert.match(chat().read(), /You did not allow count_words\./);
    assert.match(metadata?.history[1].content, /did not allow this call/);
  });

  it('asks a model that takes none without it, and says so', async () => {
    await chat().signedIn();
    chat().toolRegistry = offered(async () => assert.fail('not called'));
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/ngram' } as never }));
    assert.match(chat().stream.text.replaceAll('\\', ''), /does not support tools/);
    assert.equal(chat().sent().tools, undefined);
  });

  it('ends with a line when the calls do not', async () => {
    await chat().signedIn();
    let calls = 0;
    chat().toolRegistry = offered(async () => {
      calls += 1;
      return { content: `result ${calls}`, isError: false };
    });
    const { errorDetails } = await chat().ask('Please keep calling count_words.');
    assert.equal(errorDetails, undefined);
    assert.match(chat().read(), /after 10 rounds/);
    assert.equal(calls, 9);
    scene().settings.rounds = 3;
    await chat().ask('Please keep calling count_words.');
    assert.match(chat().read(), /after 3 rounds/);
    assert.equal(calls, 11);
  }).timeout(60_000);
});
