import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import type { ChatMessage } from '../../../src/core/completions/request.ts';
import { registerParticipant } from '../../../src/host/chat/participant.ts';
import type { Toolbox } from '../../../src/host/conversation.ts';
import { chatParticipant, commands } from '../../../src/ids.ts';
import { chatRequest, FakeStream, requestTurn, responseTurn } from '../support/chat.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, connectionTo, counter, counterAbove } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const noTools: Toolbox = { tools: [], invoke: async () => assert.fail('there is no tool to call') };

describe('@rolecall', () => {
  const scene = useScene();
  const patches = usePatches();
  let handler: vscode.ChatRequestHandler;
  let toolbox: Toolbox;
  let stream: FakeStream;

  beforeEach(() => {
    toolbox = noTools;
    stream = new FakeStream();
    patches.set(vscode.chat, 'createChatParticipant', (id: string, given: vscode.ChatRequestHandler) => {
      assert.equal(id, chatParticipant);
      handler = given;
      return { dispose: () => {} };
    });
    const { clouds, fetch, log } = scene();
    const icon = vscode.Uri.file('/icon.png');
    const openTools = async () => toolbox;
    scene().own(registerParticipant({ clouds, catalog: scene().catalog(), openTools, fetch, log, icon }));
  });
  afterEach(clearFaults);

  async function ask(
    request: vscode.ChatRequest | string,
    history: (vscode.ChatRequestTurn | vscode.ChatResponseTurn)[] = [],
    token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
  ): Promise<vscode.ChatResult> {
    const asked = typeof request === 'string' ? chatRequest(request) : request;
    const result = await handler(asked, { history }, stream as unknown as vscode.ChatResponseStream, token);
    return result ?? {};
  }

  /** The messages of the last request that went out. */
  function sent(): { readonly model: string; readonly messages: ChatMessage[]; readonly [field: string]: unknown } {
    return bodies.at(-1) as never;
  }
  const bodies: unknown[] = [];

  async function signedIn() {
    bodies.length = 0;
    scene().network = (address, init) => {
      if (String(address).endsWith('completions')) bodies.push(JSON.parse(String(init?.body)));
      return fetch(address, init);
    };
    const cloud = await scene().startService();
    await signInAs(cloud, 'administrator');
    return cloud;
  }

  const titles = () => stream.buttons.map(({ command }) => command);

  describe('answers a newcomer with the way in', () => {
    it('when nothing is configured', async () => {
      await scene().clouds.start();
      assert.deepEqual(await ask('hi'), {});
      assert.match(stream.text, /does not know your cloud yet/);
      assert.deepEqual(titles(), [commands.trySandbox]);
    });

    it('when the settings are wrong, saying what to write', async () => {
      scene().settings.problem = new RolecallError('configuration', 'rolecall.identity.url must be an address.');
      await scene().clouds.start();
      await ask('hi');
      assert.match(stream.text, /rolecall\.identity\.url must be an address/);
      assert.deepEqual(titles(), [commands.trySandbox]);
    });

    it('when nobody is signed in', async () => {
      await scene().startService();
      await ask('hi');
      assert.match(stream.text, /Sign in to 127\.0\.0\.1, then ask again/);
      assert.deepEqual(titles(), [commands.signIn, commands.trySandbox]);
      assert.deepEqual(scene().asked, []);
    });

    it('when nobody is signed in to the sandbox', async () => {
      scene().enterSandbox();
      await ask('hi');
      assert.match(stream.text, /Sign in to the sandbox/);
      assert.deepEqual(titles(), [commands.signIn]);
    });

    it('when the session has ended, saying why', async () => {
      const cloud = await scene().startService();
      const session = await signInAs(cloud, 'administrator');
      await cloud.keeper.rejected(session.accessToken, new AbortController().signal);
      await ask('hi');
      assert.match(stream.text, /no longer accepts this sign-in/);
      assert.deepEqual(titles(), [commands.signIn, commands.trySandbox]);
    });

    it('when the secret store cannot be read, without looking signed out', async () => {
      const locked = async () => {
        throw new Error('locked');
      };
      scene().stores.set('service', { read: locked, write: locked, clear: locked });
      await scene().startService();
      await ask('hi');
      assert.match(stream.text, /secret store/);
    });

    it('when the service lists no models', async () => {
      await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
      await signInAs(await scene().startService(), 'administrator');
      await ask('hi');
      assert.match(stream.text, /Name one in the setting `rolecall\.models`/);
      assert.deepEqual(titles(), ['workbench.action.openSettings']);
    });
  });

  it('streams the answer of the model that was picked', async () => {
    await signedIn();
    const result = await ask(
      chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/no-tools' } as never }),
    );
    assert.equal(stream.text, 'hello');
    assert.equal(sent().model, 'sandbox/no-tools');
    assert.deepEqual(result, { metadata: { history: [{ role: 'assistant', content: 'hello' }] } });
  });

  it('waits for the list of models instead of saying that there are none', async () => {
    await addFault({ service: 'inference', path: '/v1/models', kind: 'latency', ms: 400, times: 1 });
    await signedIn();
    await ask('say: hello');
    assert.equal(stream.text, 'hello');
  });

  it('takes the default model when a model of somebody else is picked', async () => {
    await signedIn();
    scene().settings.preferred = 'sandbox/vision';
    await ask(chatRequest('say: hello', { model: { vendor: 'copilot', id: 'sandbox/guide' } as never }));
    assert.equal(sent().model, 'sandbox/vision');
  });

  it('sends exactly what was asked: model, messages, and that it streams with counts', async () => {
    await signedIn();
    await ask('say: hello');
    assert.deepEqual(sent(), {
      model: 'sandbox/guide',
      messages: [{ role: 'user', content: 'say: hello' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends the earlier turns, roles alternating also after a question without an answer', async () => {
    await signedIn();
    const history = [
      requestTurn(vscode, 'First?'),
      responseTurn(vscode, [], { history: [{ role: 'assistant', content: 'First.' }] }),
      requestTurn(vscode, 'Second?'),
      responseTurn(vscode, [], undefined),
    ];
    await ask('say: hello', history);
    assert.deepEqual(sent().messages, [
      { role: 'user', content: 'First?' },
      { role: 'assistant', content: 'First.' },
      { role: 'user', content: 'Second?\n\nsay: hello' },
    ]);
  });

  describe('with a tool', () => {
    const offered = (invoke: Toolbox['invoke']): Toolbox => ({
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
      await signedIn();
      toolbox = offered(async () => ({ content: '42 words', isError: false }));
      const { metadata } = await ask('Please call count_words.');
      assert.deepEqual(stream.progresses, ['Calling count_words…']);
      assert.match(stream.text.replaceAll('\\', '').replaceAll('&nbsp;', ' '), /\$\(info\) Used count_words\./);
      assert.match(stream.text, /42 words/);
      assert.equal(sent().tool_choice, 'auto');
      assert.deepEqual(
        metadata?.history.map(({ role }: ChatMessage) => role),
        ['assistant', 'tool', 'assistant'],
      );
    });

    it('that the user does not allow, says so and lets the model go on', async () => {
      await signedIn();
      toolbox = offered(async () => {
        throw new RolecallError('cancelled', 'no');
      });
      const { metadata } = await ask('Please call count_words.');
      assert.match(stream.text.replaceAll('\\', '').replaceAll('&nbsp;', ' '), /You did not allow count_words\./);
      assert.match(metadata?.history[1].content, /did not let this call run/);
    });

    it('asks a model that takes none without it, and says so', async () => {
      await signedIn();
      toolbox = offered(async () => assert.fail('not called'));
      await ask(chatRequest('say: hello', { model: { vendor: 'rolecall', id: 'sandbox/ngram' } as never }));
      assert.match(stream.text.replaceAll('\\', ''), /does(?: |&nbsp;)not(?: |&nbsp;)support(?: |&nbsp;)tools/);
      assert.equal(sent().tools, undefined);
    });

    it('ends with a line when the calls do not', async () => {
      await signedIn();
      let calls = 0;
      toolbox = offered(async () => {
        calls += 1;
        return { content: `result ${calls}`, isError: false };
      });
      const { errorDetails } = await ask('Please keep calling count_words.');
      assert.equal(errorDetails, undefined);
      assert.match(stream.text.replaceAll('&nbsp;', ' '), /after 10 rounds/);
      assert.equal(calls, 9);
    }).timeout(60_000);
  });

  it('stops the request on the wire when the user stops, silently', async () => {
    await signedIn();
    const before = await counter('streams.inference.aborted');
    const source = new vscode.CancellationTokenSource();
    const done = ask('Please count to 5000.', [], source.token);
    await until('the first words', () => stream.text !== '');
    source.cancel();
    const { errorDetails } = await done;
    assert.equal(errorDetails, undefined);
    await counterAbove('streams.inference.aborted', before);
  });

  it('is not shaken by a stream that VS Code has closed', async () => {
    await signedIn();
    const source = new vscode.CancellationTokenSource();
    const closed = () => {
      source.cancel();
      throw new Error('Response stream has been closed');
    };
    Object.assign(stream, { markdown: closed, button: closed, progress: closed });
    assert.deepEqual(await ask('Please count to 5000.', [], source.token), {});
    assert.deepEqual(
      scene().log.lines.filter((line) => line.startsWith('error')),
      [],
    );
  });

  describe('says why there is no whole answer', () => {
    it('with the service’s own error and the next step', async () => {
      await signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'garbage' });
      const { errorDetails } = await ask('Please count to 100.');
      assert.ok(errorDetails?.message);
      assert.deepEqual(titles(), [commands.showLog]);
    });

    it('after what came before, which stays and is remembered', async () => {
      await signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'cut', afterBytes: 900 });
      const { errorDetails, metadata } = await ask('Please count to 100.');
      assert.equal(errorDetails, undefined);
      assert.match(stream.text.replaceAll('&nbsp;', ' '), /^1,[\s\S]*connection was cut: the answer is incomplete/);
      assert.match(metadata?.history[0].content, /^1,/);
    });

    it('when the session ends in the middle of the work', async () => {
      const cloud = await signedIn();
      await cloud.keeper.adopt({ ...(cloud.keeper.session ?? assert.fail()), accessToken: 'superseded' });
      const { errorDetails } = await ask('say: hello');
      assert.match(errorDetails?.message ?? '', /does not accept the sign-in any more/);
      assert.deepEqual(titles(), [commands.signIn]);
    });

    for (const [prompt, line] of [
      ['say nothing', /answered with nothing/],
      ['only think', /reasoned but gave no answer/],
    ] as const) {
      it(`to “${prompt}”`, async () => {
        await signedIn();
        await ask(prompt);
        assert.match(stream.text.replaceAll('&nbsp;', ' '), line);
      });
    }
  });

  it('asks the sandbox while it is on the stage, and the services again afterwards', async () => {
    await signedIn();
    scene().clouds.enterSandbox({ ...connectionTo('sandbox'), inferenceUrl: 'http://127.0.0.1:9' });
    await ask('say: hello');
    assert.match(stream.text, /Sign in to the sandbox/);
    scene().clouds.leaveSandbox();
    stream = new FakeStream();
    await ask('say: hello');
    assert.equal(stream.text, 'hello');
  });
});
