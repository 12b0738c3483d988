import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallModelProvider } from '../../../src/host/chat/modelProvider.ts';
import { addFault, clearFaults, counter, counterAbove, descriptor } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { eventStream } from '../support/streams.ts';
import { until } from '../support/wait.ts';

type Model = Parameters<RolecallModelProvider['provideLanguageModelChatResponse']>[0];
const { Auto } = vscode.LanguageModelChatToolMode;

describe('the provider of models', () => {
  const scene = useScene();
  afterEach(clearFaults);

  function provide(): RolecallModelProvider {
    const { clouds, fetch, log } = scene();
    return new RolecallModelProvider({ clouds, catalog: scene().catalog(), fetch, log });
  }

  async function signedIn(): Promise<RolecallModelProvider> {
    const provider = provide();
    await signInAs(await scene().startService(), 'administrator');
    await until('the list of models', () => modelOf(provider, 'sandbox/guide'));
    return provider;
  }

  const modelOf = (provider: RolecallModelProvider, id: string) =>
    provider.provideLanguageModelChatInformation().find((model) => model.id === id);

  /** Asks a model; what it reported is in the answer, also when it throws. */
  function ask(
    provider: RolecallModelProvider,
    model: string | Model,
    prompt: string,
    options: Partial<vscode.ProvideLanguageModelChatResponseOptions> = {},
    token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
  ) {
    const parts: vscode.LanguageModelResponsePart[] = [];
    const information = typeof model === 'string' ? modelOf(provider, model) : model;
    const done = provider.provideLanguageModelChatResponse(
      information ?? assert.fail(`no model ${model}`),
      [vscode.LanguageModelChatMessage.User(prompt)] as unknown as vscode.LanguageModelChatRequestMessage[],
      { toolMode: Auto, ...options },
      { report: (part) => void parts.push(part) },
      token,
    );
    return {
      done,
      parts,
      text: () => parts.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join(''),
      calls: () => parts.filter((part) => part instanceof vscode.LanguageModelToolCallPart),
    };
  }

  const weather: vscode.LanguageModelChatTool = {
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  };

  describe('lists', () => {
    it('a model to pick also while nothing is configured, for else VS Code answers in our place', async () => {
      const provider = provide();
      await scene().clouds.start();
      const [model, ...others] = provider.provideLanguageModelChatInformation();
      assert.deepEqual(others, []);
      assert.equal(model?.name, 'Rolecall');
      assert.match(model?.detail ?? '', /sign in/);
    });

    it('every model with tools, for Agent mode takes no other, and with room for a question', async () => {
      scene().settings.described = [
        { id: 'mine/tiny', label: 'Tiny', contextLength: 100, maxOutput: 4096, vision: true },
      ];
      const provider = await signedIn();
      const models = provider.provideLanguageModelChatInformation();
      assert.deepEqual(
        models.map(({ id }) => id),
        ['mine/tiny', ...descriptor.models.map(({ id }) => id)],
      );
      for (const model of models) {
        assert.equal(model.capabilities.toolCalling, true);
        assert.ok(model.maxInputTokens > 0 && model.maxOutputTokens > 0);
        assert.equal(model.isUserSelectable, true);
      }
      assert.equal(models[0]?.name, 'Tiny');
      assert.deepEqual(
        models.map(({ capabilities }) => capabilities.imageInput),
        models.map(({ id }) => id === 'mine/tiny'),
      );
    });

    it('and tells when the list has changed', async () => {
      const provider = provide();
      let changes = 0;
      provider.onDidChangeLanguageModelChatInformation(() => {
        changes += 1;
      });
      await signInAs(await scene().startService(), 'administrator');
      await until('the list of models', () => modelOf(provider, 'sandbox/guide'));
      assert.notEqual(changes, 0);
    });
  });

  it('streams an answer as it comes', async () => {
    const answer = ask(await signedIn(), 'sandbox/guide', 'Please count to 20.');
    await answer.done;
    assert.equal(answer.text(), Array.from({ length: 20 }, (_, index) => index + 1).join(', '));
    assert.ok(answer.parts.length > 5, `${answer.parts.length} parts`);
  });

  it('hands over the calls of tools with their arguments', async () => {
    const answer = ask(await signedIn(), 'sandbox/guide', 'Call get_weather with city "Oslo".', { tools: [weather] });
    await answer.done;
    const [call, ...others] = answer.calls();
    assert.deepEqual(others, []);
    assert.ok(call);
    assert.equal(call.name, 'get_weather');
    assert.deepEqual(call.input, { city: 'Oslo' });
    assert.notEqual(call.callId, '');
  });

  it('asks a model without tools again without them, and says so in the answer', async () => {
    const answer = ask(await signedIn(), 'sandbox/no-tools', 'say: hello', { tools: [weather] });
    await answer.done;
    assert.match(answer.text(), /^\*The model "sandbox\/no-tools" does not support tools.*\*\n\nhello$/);
  });

  it('asks exactly the model that was picked, also one it has not heard of', async () => {
    const provider = await signedIn();
    scene().settings.preferred = 'sandbox/guide';
    const picked = { ...(modelOf(provider, 'sandbox/guide') ?? assert.fail()), id: 'gone/model' };
    await assert.rejects(ask(provider, picked, 'hello').done, /gone\/model/);
  });

  it('asks the default model for the placeholder that was picked while signed out', async () => {
    const provider = provide();
    const [placeholder] = provider.provideLanguageModelChatInformation();
    scene().settings.preferred = 'sandbox/no-tools';
    await signInAs(await scene().startService(), 'administrator');
    const answer = ask(provider, placeholder ?? assert.fail(), 'Who are you?');
    await answer.done;
    assert.match(answer.text(), /sandbox\/no-tools/);
  });

  it('stops the request on the wire when the user stops', async () => {
    const provider = await signedIn();
    const before = await counter('streams.inference.aborted');
    const source = new vscode.CancellationTokenSource();
    const answer = ask(provider, 'sandbox/guide', 'Please count to 5000.', {}, source.token);
    await until('the first words', () => answer.parts.length > 0);
    source.cancel();
    await answer.done; // Silently: the user knows.
    await counterAbove('streams.inference.aborted', before);
    const { length } = answer.parts;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(answer.parts.length, length);
  });

  it('stops the request on the wire when VS Code no longer takes its words', async () => {
    const provider = await signedIn();
    const before = await counter('streams.inference.aborted');
    const done = provider.provideLanguageModelChatResponse(
      modelOf(provider, 'sandbox/guide') ?? assert.fail(),
      [vscode.LanguageModelChatMessage.User('Please count to 5000.')] as unknown as [],
      { toolMode: Auto },
      {
        report: () => {
          throw new Error('closed');
        },
      },
      new vscode.CancellationTokenSource().token,
    );
    await assert.rejects(done, /closed/);
    await counterAbove('streams.inference.aborted', before);
  });

  it('keeps two answers at once apart', async () => {
    const provider = await signedIn();
    const answers = ['say: one', 'say: two'].map((prompt) => ask(provider, 'sandbox/guide', prompt));
    await Promise.all(answers.map(({ done }) => done));
    assert.deepEqual(
      answers.map(({ text }) => text()),
      ['one', 'two'],
    );
  });

  describe('says in plain words', () => {
    it('that nothing is configured', async () => {
      const provider = provide();
      await scene().clouds.start();
      const [placeholder] = provider.provideLanguageModelChatInformation();
      await assert.rejects(ask(provider, placeholder ?? assert.fail(), 'hi').done, /Set rolecall\.identity\.url/);
    });

    it('that nobody is signed in', async () => {
      const provider = provide();
      await scene().startService();
      const [placeholder] = provider.provideLanguageModelChatInformation();
      await assert.rejects(ask(provider, placeholder ?? assert.fail(), 'hi').done, /not signed in/);
      assert.deepEqual(scene().asked, []);
    });

    it('that the service has no models to ask', async () => {
      const provider = provide();
      await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
      await signInAs(await scene().startService(), 'administrator');
      const [placeholder] = provider.provideLanguageModelChatInformation();
      await assert.rejects(ask(provider, placeholder ?? assert.fail(), 'hi').done, /Name one in rolecall\.models/);
    });

    const magic: readonly (readonly [string, RegExp])[] = [
      ['sandbox/no-credit', /no credit left/],
      ['sandbox/broken', /failed/],
      ['sandbox/overloaded', /not available just now/],
    ];
    for (const [id, sentence] of magic) {
      it(`why ${id} refuses`, async () => {
        const provider = await signedIn();
        const model = { ...(modelOf(provider, 'sandbox/guide') ?? assert.fail()), id };
        const { done } = ask(provider, model, 'hi');
        await assert.rejects(done, (error) => error instanceof Error && sentence.test(error.message));
        assert.ok(scene().log.lines.some((line) => line.startsWith('error') && sentence.test(line)));
      });
    }

    it('what the service says in the middle of an answer, after what came before', async () => {
      const provider = await signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'midStreamError', afterBytes: 600 });
      const answer = ask(provider, 'sandbox/guide', 'Please count to 100.');
      await assert.rejects(answer.done, /Injected by the sandbox/);
      assert.match(answer.text(), /^1,/);
    });

    it('that the connection was cut', async () => {
      const provider = await signedIn();
      await addFault({ service: 'inference', path: 'completions', kind: 'cut', afterBytes: 900 });
      const answer = ask(provider, 'sandbox/guide', 'Please count to 100.');
      await assert.rejects(answer.done, /connection was cut/);
      assert.match(answer.text(), /^1,/);
    });

    it('that the model said nothing', async () => {
      await assert.rejects(ask(await signedIn(), 'sandbox/guide', 'say nothing').done, /answered with nothing/);
    });

    it('that the model only reasoned', async () => {
      await assert.rejects(ask(await signedIn(), 'sandbox/guide', 'only think').done, /reasoned but gave no answer/);
    });

    const finished = (reason: string) => ({ index: 0, delta: {}, finish_reason: reason });
    const call = (args: string) => ({
      index: 0,
      delta: {
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'get_weather', arguments: args } }],
      },
    });
    const answers: readonly (readonly [string, object[][], RegExp])[] = [
      ['that a filter left nothing of it', [[finished('content_filter')]], /ended the answer early \(content_filter\)/],
      ['that there was no choice', [[]], /without giving any choice/],
      [
        'that a call cannot be read',
        [[call('{"city": ')], [finished('tool_calls')]],
        /get_weather are not a JSON object/,
      ],
    ];
    for (const [title, chunks, sentence] of answers) {
      it(title, async () => {
        const provider = await signedIn();
        scene().network = async () => eventStream(chunks.map((choices) => ({ id: 'x', choices })));
        const answer = ask(provider, 'sandbox/guide', 'hi', { tools: [weather] });
        await assert.rejects(answer.done, sentence);
        assert.deepEqual(answer.parts, []); // A broken call is not run with whatever could be read of it.
      });
    }
  });

  it('estimates tokens by length', async () => {
    const provider = await signedIn();
    const model = modelOf(provider, 'sandbox/guide') ?? assert.fail();
    assert.equal(await provider.provideTokenCount(model, 'x'.repeat(400)), 100);
    const message = vscode.LanguageModelChatMessage.User('x'.repeat(400));
    assert.equal(await provider.provideTokenCount(model, message as never), 100);
  });
});

describe('the models of the running extension', () => {
  it('can be selected from the start', async () => {
    const models = await vscode.lm.selectChatModels({ vendor: 'rolecall' });
    assert.notEqual(models.length, 0);
    for (const model of models) assert.equal(model.vendor, 'rolecall');
  });
});
