import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { sessionHash } from '../../../src/host/chat/history.ts';
import { commands, contextKeys } from '../../../src/ids.ts';
import { chatRequest, FakeStream, requestTurn, responseTurn } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, connectionTo, counter, counterAbove, holdNextAnswer } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { eventStream } from '../support/streams.ts';
import { until } from '../support/wait.ts';

describe('@rolecall', () => {
  const scene = useScene();
  const chat = useChat(scene);
  const patches = usePatches();
  afterEach(clearFaults);

  it('streams the answer of the model that was picked', async () => {
    const cloud = await chat().signedIn();
    const result = await chat().ask(
      chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/no-tools' } as never }),
    );
    assert.equal(chat().stream.answer, 'hello');
    assert.equal(chat().sent().model, 'sandbox/no-tools');
    assert.deepEqual(result, {
      metadata: { session: sessionHash(cloud), history: [{ role: 'assistant', content: 'hello' }] },
    });
    assert.match(chat().read(), /\*sandbox\/no-tools · \d+ input, \d+ output tokens · \d+\.\d s\*\s*$/);
  });

  it('waits for the list of models instead of saying that there are none', async () => {
    await addFault({ service: 'inference', path: '/v1/models', kind: 'latency', ms: 400, times: 1 });
    await chat().signedIn();
    await chat().ask('say: hello');
    assert.equal(chat().stream.answer, 'hello');
  });

  it('sends what was chosen for the model in the picker, which Show Effective Parameters and the editor’s commands know then', async () => {
    await chat().signedIn();
    const asked = async (id: string, modelConfiguration: unknown, vendor = 'rolecall') => {
      const model = { vendor, id, name: id } as never;
      await chat().ask({ ...chatRequest('say: hello', { model }), modelConfiguration } as never);
      return [chat().sent().model, chat().sent().reasoning_effort];
    };
    const { catalog } = chat();
    scene().settings.preferred = 'sandbox/vision';
    assert.deepEqual(await asked('sandbox/no-tools', { reasoningEffort: 'high' }), ['sandbox/no-tools', 'high']);
    assert.deepEqual(catalog.choicesOf(catalog.picked)?.parameters, { reasoning_effort: 'high' });
    assert.deepEqual(await asked('rolecall', { reasoningEffort: 'low' }), ['sandbox/vision', 'low']);
    assert.deepEqual(catalog.choicesOf(catalog.picked)?.parameters, { reasoning_effort: 'low' });
    // Choices for a model that does not answer are not for the one that does.
    assert.deepEqual(await asked('own/gone', { reasoningEffort: 'high' }), ['sandbox/vision', undefined]);
    assert.deepEqual(await asked('gpt', { reasoningEffort: 'high' }, 'copilot'), ['sandbox/vision', undefined]);
  });

  it('says once in a window that a workspace is not trusted, with the step', async () => {
    await chat().signedIn();
    patches.set(vscode.workspace, 'isTrusted', false);
    await chat().ask('say: hello');
    assert.match(chat().read(), /Restricted Mode: .* run "Manage Workspace Trust"/);
    assert.deepEqual(chat().steps(), ['workbench.trust.manage']);
    chat().stream = new FakeStream();
    await chat().ask('say: hello again');
    assert.doesNotMatch(chat().read(), /Restricted Mode/);
    assert.deepEqual(chat().steps(), []);
  });

  it('takes the default model when a model of somebody else is picked', async () => {
    await chat().signedIn();
    scene().settings.preferred = 'sandbox/vision';
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'copilot', id: 'sandbox/guide' } as never }));
    assert.equal(chat().sent().model, 'sandbox/vision');
    assert.match(chat().read(), /Answered by sandbox\/vision, because the selected model is not one of your cloud/);
  });

  it('takes the default model when the one that is picked is on offer no more, and says so', async () => {
    await chat().signedIn();
    scene().settings.preferred = 'sandbox/vision';
    const gone = { vendor: 'rolecall', id: 'own/gone', name: 'Gone' } as never;
    await chat().ask(chatRequest('say: hello', { model: gone }));
    assert.equal(chat().sent().model, 'sandbox/vision');
    assert.match(chat().read(), /Answered by sandbox\/vision, because Gone is no longer available\./);
  });

  it('takes the default model without a word when the entry for it is picked', async () => {
    await chat().signedIn();
    scene().settings.preferred = 'sandbox/vision';
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'rolecall' } as never }));
    assert.equal(chat().sent().model, 'sandbox/vision');
    assert.equal(chat().stream.answer, 'hello');
  });

  it('tells everybody which model has answered last, be it the default one again, and the walkthrough that it was asked', async () => {
    const contexts = new Map<unknown, unknown>();
    const execute = vscode.commands.executeCommand;
    patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
      if (id === 'setContext') contexts.set(args[0], args[1]);
      return execute(id, ...args);
    });
    await chat().signedIn();
    scene().settings.preferred = 'sandbox/vision';
    const ask = async (id: string, vendor = 'rolecall') => {
      await chat().ask(chatRequest('say: hello', { model: { vendor, id } as never }));
      return [chat().sent().model, chat().catalog.picked?.id];
    };
    assert.deepEqual(await ask('sandbox/no-tools'), ['sandbox/no-tools', 'sandbox/no-tools']);
    assert.deepEqual(await ask('rolecall'), ['sandbox/vision', 'sandbox/vision']);
    assert.deepEqual(await ask('sandbox/no-tools'), ['sandbox/no-tools', 'sandbox/no-tools']);
    assert.deepEqual(await ask('auto', 'copilot'), ['sandbox/vision', 'sandbox/vision']);
    assert.equal(contexts.get(contextKeys.hasAsked), true);
  });

  it('sends what the user set as parameters, and nothing else besides', async () => {
    await chat().signedIn();
    scene().settings.parameters = { temperature: 0, seed: 3, top_p: 'wrong', reasoning_effort: 'low' };
    scene().settings.described = [{ id: 'sandbox/no-tools', reasoning: false }];
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/no-tools' } as never }));
    const { messages: _, ...others } = chat().sent();
    assert.deepEqual(others, {
      model: 'sandbox/no-tools',
      seed: 3,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
    });
  });

  it('says which of the parameters were not sent, and why', async () => {
    await chat().signedIn();
    scene().settings.parameters = { top_p: 'wrong', model: 'x', seed: 3 };
    await chat().ask('say: hello');
    assert.match(chat().read(), /The chat parameter top_p was not sent: top_p must be a number\./);
    assert.match(chat().read(), /The chat parameter model was not sent: The model cannot be set here\./);
    assert.equal(chat().sent().seed, 3);
    scene().settings.parameters = { reasoning_effort: 'low' };
    scene().settings.described = [{ id: 'sandbox/guide', reasoning: false }];
    await chat().ask('say: hello');
    assert.equal('reasoning_effort' in chat().sent(), false);
    assert.match(chat().read(), /reasoning_effort was not sent: sandbox\/guide does not support reasoning\./);
  });

  it('tells which words the model was least sure of where probabilities were asked for', async () => {
    await chat().signedIn();
    const token = (text: string, logprob: number) => ({ token: text, logprob, bytes: null, top_logprobs: [] });
    scene().settings.parameters = { logprobs: true };
    scene().network = async (address, init) =>
      String(address).endsWith('completions')
        ? eventStream([
            {
              choices: [
                { index: 0, delta: { content: 'It is' }, logprobs: { content: [token('It', 0), token(' is', -0.7)] } },
              ],
            },
            { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
          ])
        : fetch(address, init);
    await chat().ask('hi');
    assert.match(chat().read(), /Lowest confidence: "is" \(50%\)/);
  });

  it('learns from the service how long a conversation may be, and goes on with what fits', async () => {
    await chat().signedIn();
    scene().settings.described = [{ id: 'mine/unknown' }];
    const sent: { messages: { role: string; content: string }[] }[] = [];
    const message = "This model's maximum context length is 1000 tokens. However, you requested 1600 tokens.";
    scene().network = async (address, init) => {
      if (!String(address).endsWith('completions')) return fetch(address, init);
      sent.push(JSON.parse(String(init?.body)));
      if (sent.length === 1) return Response.json({ error: { message, code: '400' } }, { status: 400 });
      return eventStream([{ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }]);
    };
    const session = sessionHash(scene().clouds.require());
    const history = ['First?', 'Second?'].flatMap((prompt) => [
      requestTurn(vscode, `${prompt} ${'word '.repeat(500)}`),
      responseTurn(vscode, [], { session, history: [{ role: 'assistant', content: 'Yes.' }] }),
    ]);
    const model = { vendor: 'rolecall', id: 'mine/unknown' } as never;
    await chat().ask(chatRequest('Third?', { model }), history);
    assert.match(chat().read(), /earliest turn was left out to fit the model/);
    assert.deepEqual(
      sent.map(({ messages }) => messages.filter(({ role }) => role === 'user').length),
      [3, 2],
    );
  });

  it('shows the words of a service as words: no link, no image, no secret', async () => {
    await chat().signedIn();
    const secret = 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaYWJjZGVmZ2g';
    const message = `![x](https://evil.example/a.png) [go](command:evil) token=${secret}`;
    scene().network = async (address, init) =>
      String(address).endsWith('completions')
        ? Response.json({ error: { message, code: '400' } }, { status: 400 })
        : fetch(address, init);
    const { errorDetails } = await chat().ask('hi');
    assert.match(errorDetails?.message ?? '', /evil/);
    assert.doesNotMatch(errorDetails?.message ?? '', /Zm9v/);
    assert.doesNotMatch(errorDetails?.message ?? '', /(?<!\\)\[/);
  });

  it('shows every answer where several were asked for', async () => {
    await chat().signedIn();
    scene().settings.parameters = { n: 3 };
    await chat().ask('say: hello');
    assert.match(chat().read(), /^hello[\s\S]*Answer 2:[\s\S]*hello[\s\S]*Answer 3:[\s\S]*hello/);
  });

  it('keeps the time limits of the user', async () => {
    await chat().signedIn();
    scene().settings.limits = { connectMs: 200 };
    await addFault({ service: 'inference', path: 'completions', kind: 'latency', ms: 5_000, times: 1 });
    const { errorDetails } = await chat().ask('say: hello');
    assert.match(errorDetails?.message ?? '', /did not respond within 1 second/);
  });

  it('says of the sandbox’s raw model what it is', async () => {
    await chat().signedIn();
    const sandbox = scene().enterSandbox();
    await signInAs(sandbox, 'administrator');
    await chat().ask(chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/ngram' } as never }));
    assert.match(chat().read(), /raw language model: it continues text/);
    chat().stream = new FakeStream();
    await chat().ask('say: hello');
    assert.equal(chat().stream.answer, 'hello');
  });

  it('counts the tokens of the session by model', async () => {
    await chat().signedIn();
    await chat().ask('say: hello');
    await chat().ask('say: hello');
    const [line, ...others] = scene().usage.lines;
    assert.deepEqual(others, []);
    assert.match(line ?? '', /^sandbox\/guide: \d+ input, \d+ output tokens$/);
  });

  it('shows that the model reasons, and the reasoning when asked', async () => {
    await chat().signedIn();
    scene().settings.parameters = { reasoning_effort: 'high' };
    await chat().ask('What is a role?');
    assert.deepEqual(chat().stream.progresses, ['Thinking…']);
    const [button] = chat().stream.buttons;
    assert.equal(button?.command, commands.showReasoning);
    assert.ok(String(button?.arguments?.[0]).length > 10);
    assert.doesNotMatch(chat().stream.text, /^\s*>.*thinking/i);
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
    const session = sessionHash(scene().clouds.require());
    const history = [
      requestTurn(vscode, 'First?'),
      responseTurn(vscode, [], { session, history: [{ role: 'assistant', content: 'First.' }] }),
      requestTurn(vscode, 'Second?'),
      responseTurn(vscode, [], { session, history: [] }),
    ];
    await chat().ask('say: hello', history);
    assert.deepEqual(chat().sent().messages, [
      { role: 'user', content: 'First?' },
      { role: 'assistant', content: 'First.' },
      { role: 'user', content: 'Second?' },
      { role: 'assistant', content: '(no answer)' },
      { role: 'user', content: 'say: hello' },
    ]);
  });

  it('keeps what was asked of another connection or account to those, and says so', async () => {
    const cloud = await chat().signedIn();
    const mine = { session: sessionHash(cloud), history: [{ role: 'assistant', content: 'Mine.' }] };
    const history = [requestTurn(vscode, 'Secret?'), responseTurn(vscode, [], mine)];
    await signInAs(cloud, 'ordinaryUser');
    await chat().ask('say: hello', history);
    assert.deepEqual(chat().sent().messages, [{ role: 'user', content: 'say: hello' }]);
    assert.match(chat().read(), /Earlier messages belong to another account/);
  });

  it('remembers whom a question was asked of whose answer was stopped', async () => {
    const cloud = await chat().signedIn();
    await holdNextAnswer();
    const source = new vscode.CancellationTokenSource();
    const done = chat().ask('Please count to 5000.', [], source.token);
    await until('the first words', () => chat().stream.text !== '');
    source.cancel();
    await done;
    // VS Code keeps no metadata of it.
    const history = [requestTurn(vscode, 'Please count to 5000.'), responseTurn(vscode, [], undefined)];
    await chat().ask('say: hello', history);
    assert.deepEqual(chat().sent().messages[0], { role: 'user', content: 'Please count to 5000.' });
    await signInAs(cloud, 'ordinaryUser');
    await chat().ask('say: hello', history);
    assert.deepEqual(chat().sent().messages, [{ role: 'user', content: 'say: hello' }]);
  });

  it('stops the request on the wire when the user stops, and says so where it can', async () => {
    await chat().signedIn();
    const before = await counter('streams.inference.aborted');
    await holdNextAnswer();
    const source = new vscode.CancellationTokenSource();
    const done = chat().ask('Please count to 5000.', [], source.token);
    await until('the first words', () => chat().stream.text !== '');
    source.cancel();
    const { metadata, ...shown } = await done;
    assert.deepEqual(shown, { details: 'Stopped.' });
    await counterAbove('streams.inference.aborted', before);
  });

  it('stops when the account that asked is signed out, and says so', async () => {
    const cloud = await chat().signedIn();
    const before = await counter('streams.inference.aborted');
    await holdNextAnswer();
    const done = chat().ask('Please count to 5000.');
    await until('the first words', () => chat().stream.text !== '');
    await cloud.tokenManager.signOut();
    await done;
    assert.match(chat().read(), /Stopped because the account was signed out\.\s*$/);
    await counterAbove('streams.inference.aborted', before);
  });

  it('tells the next question what was shown of an answer that was stopped, also where its stream was closed', async () => {
    await chat().signedIn();
    const prompt = 'Please count to 5000.';
    for (const isClosed of [false, true]) {
      const source = new vscode.CancellationTokenSource();
      let shown = '';
      chat().stream.markdown = (value) => {
        if (shown.includes('7')) source.cancel();
        if (isClosed && source.token.isCancellationRequested) throw new Error('Response stream has been closed');
        // What is written behind Stop is not shown.
        if (!source.token.isCancellationRequested) shown += typeof value === 'string' ? value : value.value;
      };
      const { metadata } = await chat().ask(prompt, [], source.token);
      assert.equal(metadata?.isStopped, true);
      chat().stream = new FakeStream();
      const answer = responseTurn(vscode, [new vscode.ChatResponseMarkdownPart(shown)], metadata);
      await chat().ask('say: hello', [requestTurn(vscode, prompt), answer]);
      assert.deepEqual(chat().sent().messages.slice(0, 2), [
        { role: 'user', content: prompt },
        { role: 'assistant', content: shown },
      ]);
    }
  });

  it('asks a described model though the service does not say what it lists', async () => {
    scene().settings.described = [{ id: 'sandbox/guide' }];
    await chat().signedIn();
    const { network } = scene();
    const waiting = new Set<unknown>();
    scene().network = (address, init) => {
      if (!String(address).endsWith('/models')) return network(address, init);
      waiting.add(init);
      init?.signal?.addEventListener('abort', () => waiting.delete(init));
      return new Promise(() => {});
    };
    await signInAs(scene().clouds.require(), 'ordinaryUser');
    await chat().ask('say: at once');
    assert.equal(chat().stream.answer, 'at once');
    assert.equal(waiting.size, 1, 'the list is still asked for');
  });

  it('says that it was stopped while it waited for the list of models', async () => {
    await chat().signedIn();
    const { network } = scene();
    let isAsked = false;
    scene().network = (address, init) => {
      if (!String(address).endsWith('/models')) return network(address, init);
      isAsked = true;
      return new Promise(() => {});
    };
    await signInAs(scene().clouds.require(), 'ordinaryUser');
    const source = new vscode.CancellationTokenSource();
    const done = chat().ask('say: never', [], source.token);
    await until('the list is asked for', () => isAsked);
    source.cancel();
    assert.deepEqual(await done, { details: 'Stopped.' });
  });

  it('is not shaken by a stream that VS Code has closed', async () => {
    await chat().signedIn();
    const source = new vscode.CancellationTokenSource();
    const closed = () => {
      source.cancel();
      throw new Error('Response stream has been closed');
    };
    Object.assign(chat().stream, { markdown: closed, button: closed, progress: closed });
    const { errorDetails } = await chat().ask('Please count to 5000.', [], source.token);
    assert.equal(errorDetails, undefined);
    assert.deepEqual(
      scene().log.lines.filter((line) => line.startsWith('error')),
      [],
    );
  });

  it('closes the connection when writing fails though nobody stopped it', async () => {
    await chat().signedIn();
    const before = await counter('streams.inference.aborted');
    await holdNextAnswer();
    Object.assign(chat().stream, {
      markdown: () => {
        throw new Error('Response stream has been closed');
      },
    });
    await chat().ask('Please count to 5000.');
    await counterAbove('streams.inference.aborted', before);
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
      assert.match(chat().read(), /^1,[\s\S]*connection was lost, so the answer is incomplete/);
      assert.match(metadata?.history[0].content, /^1,/);
    });

    it('when the session ends in the middle of the work', async () => {
      const cloud = await chat().signedIn();
      await cloud.tokenManager.signIn({ ...(cloud.tokenManager.session ?? assert.fail()), accessToken: 'superseded' });
      const { errorDetails } = await chat().ask('say: hello');
      assert.match((errorDetails?.message ?? '').replaceAll('\\', ''), /no longer accepts your sign-in/);
      assert.deepEqual(chat().steps(), [commands.signIn]);
    });

    for (const [prompt, line] of [
      ['say nothing', /returned an empty answer/],
      ['only think', /reasoned but did not answer/],
    ] as const) {
      it(`to "${prompt}"`, async () => {
        await chat().signedIn();
        await chat().ask(prompt);
        assert.match(chat().read(), line);
      });
    }
  });

  it('asks the sandbox while it is active, and the services again afterwards', async () => {
    await chat().signedIn();
    scene().clouds.enterSandbox({ ...connectionTo('sandbox'), inferenceUrl: 'http://127.0.0.1:9' });
    await chat().ask('say: hello');
    assert.match(chat().stream.text, /Sign in to the sandbox/);
    scene().clouds.leaveSandbox();
    chat().stream = new FakeStream();
    await chat().ask('say: hello');
    assert.equal(chat().stream.answer, 'hello');
  });
});
