import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../../src/ids.ts';
import { chatRequest, FakeStream, requestTurn, responseTurn } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { addFault, clearFaults, connectionTo, counter, counterAbove } from '../support/sandbox.ts';
import { useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

describe('@rolecall', () => {
  const scene = useScene();
  const chat = useChat(scene);
  afterEach(clearFaults);

  it('streams the answer of the model that was picked', async () => {
    await chat().signedIn();
    const result = await chat().ask(
      chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/no-tools' } as never }),
    );
    assert.equal(chat().stream.text, 'hello');
    assert.equal(chat().sent().model, 'sandbox/no-tools');
    assert.deepEqual(result, { metadata: { history: [{ role: 'assistant', content: 'hello' }] } });
  });

  it('waits for the list of models instead of saying that there are none', async () => {
    await addFault({ service: 'inference', path: '/v1/models', kind: 'latency', ms: 400, times: 1 });
    await chat().signedIn();
    await chat().ask('say: hello');
    assert.equal(chat().stream.text, 'hello');
  });

  it('takes the default model when a model of somebody else is picked', async () => {
    await chat().signedIn();
    scene().settings.preferred = 'sandbox/vision';
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'copilot', id: 'sandbox/guide' } as never }));
    assert.equal(chat().sent().model, 'sandbox/vision');
  });

  it('sends exactly what was asked: model, messages, and that it streams with counts', async () => {
    await chat().signedIn();
    await chat().ask('say: hello');
    assert.deepEqual(chat().sent(), {
      model: 'sandbox/guide',
      messages: [{ role: 'user', content: 'say: hello' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends the earlier turns, roles alternating also after a question without an answer', async () => {
    await chat().signedIn();
    const history = [
      requestTurn(vscode, 'First?'),
      responseTurn(vscode, [], { history: [{ role: 'assistant', content: 'First.' }] }),
      requestTurn(vscode, 'Second?'),
      responseTurn(vscode, [], undefined),
    ];
    await chat().ask('say: hello', history);
    assert.deepEqual(chat().sent().messages, [
      { role: 'user', content: 'First?' },
      { role: 'assistant', content: 'First.' },
      { role: 'user', content: 'Second?\n\nsay: hello' },
    ]);
  });

  it('stops the request on the wire when the user stops, silently', async () => {
    await chat().signedIn();
    const before = await counter('streams.inference.aborted');
    const source = new vscode.CancellationTokenSource();
    const done = chat().ask('Please count to 5000.', [], source.token);
    await until('the first words', () => chat().stream.text !== '');
    source.cancel();
    const { errorDetails } = await done;
    assert.equal(errorDetails, undefined);
    await counterAbove('streams.inference.aborted', before);
  });

  it('is not shaken by a stream that VS Code has closed', async () => {
    await chat().signedIn();
    const source = new vscode.CancellationTokenSource();
    const closed = () => {
      source.cancel();
      throw new Error('Response stream has been closed');
    };
    Object.assign(chat().stream, { markdown: closed, button: closed, progress: closed });
    assert.deepEqual(await chat().ask('Please count to 5000.', [], source.token), {});
    assert.deepEqual(
      scene().log.lines.filter((line) => line.startsWith('error')),
      [],
    );
  });

  describe('says why there is no whole answer', () => {
    it('with the service’s own error and the next step', async () => {
      await chat().signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'garbage' });
      const { errorDetails } = await chat().ask('Please count to 100.');
      assert.ok(errorDetails?.message);
      assert.deepEqual(chat().steps(), [commands.showLog]);
    });

    it('after what came before, which stays and is remembered', async () => {
      await chat().signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'cut', afterBytes: 900 });
      const { errorDetails, metadata } = await chat().ask('Please count to 100.');
      assert.equal(errorDetails, undefined);
      assert.match(chat().read(), /^1,[\s\S]*connection was cut: the answer is incomplete/);
      assert.match(metadata?.history[0].content, /^1,/);
    });

    it('when the session ends in the middle of the work', async () => {
      const cloud = await chat().signedIn();
      await cloud.keeper.adopt({ ...(cloud.keeper.session ?? assert.fail()), accessToken: 'superseded' });
      const { errorDetails } = await chat().ask('say: hello');
      assert.match(errorDetails?.message ?? '', /does not accept the sign-in any more/);
      assert.deepEqual(chat().steps(), [commands.signIn]);
    });

    for (const [prompt, line] of [
      ['say nothing', /answered with nothing/],
      ['only think', /reasoned but gave no answer/],
    ] as const) {
      it(`to “${prompt}”`, async () => {
        await chat().signedIn();
        await chat().ask(prompt);
        assert.match(chat().read(), line);
      });
    }
  });

  it('asks the sandbox while it is on the stage, and the services again afterwards', async () => {
    await chat().signedIn();
    scene().clouds.enterSandbox({ ...connectionTo('sandbox'), inferenceUrl: 'http://127.0.0.1:9' });
    await chat().ask('say: hello');
    assert.match(chat().stream.text, /Sign in to the sandbox/);
    scene().clouds.leaveSandbox();
    chat().stream = new FakeStream();
    await chat().ask('say: hello');
    assert.equal(chat().stream.text, 'hello');
  });
});
