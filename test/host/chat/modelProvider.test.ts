import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, modelOf, provide, signedInProvider, weather } from '../support/provider.ts';
import { clearFaults, counter, counterAbove, descriptor } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const { Auto } = vscode.LanguageModelChatToolMode;

describe('the provider of models', () => {
  const scene = useScene();
  afterEach(clearFaults);

  describe('lists', () => {
    it('a model to pick also while nothing is configured, for else VS Code answers in our place', async () => {
      const provider = provide(scene());
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
      const provider = await signedInProvider(scene());
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
      const provider = provide(scene());
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
    const answer = ask(await signedInProvider(scene()), 'sandbox/guide', 'Please count to 20.');
    await answer.done;
    assert.equal(answer.text(), Array.from({ length: 20 }, (_, index) => index + 1).join(', '));
    assert.ok(answer.parts.length > 5, `${answer.parts.length} parts`);
  });

  it('hands over the calls of tools with their arguments', async () => {
    const answer = ask(await signedInProvider(scene()), 'sandbox/guide', 'Call get_weather with city "Oslo".', {
      tools: [weather],
    });
    await answer.done;
    const [call, ...others] = answer.calls();
    assert.deepEqual(others, []);
    assert.ok(call);
    assert.equal(call.name, 'get_weather');
    assert.deepEqual(call.input, { city: 'Oslo' });
    assert.notEqual(call.callId, '');
  });

  it('asks a model without tools again without them, and says so in the answer', async () => {
    const answer = ask(await signedInProvider(scene()), 'sandbox/no-tools', 'say: hello', { tools: [weather] });
    await answer.done;
    assert.match(answer.text(), /^\*The model "sandbox\/no-tools" does not support tools.*\*\n\nhello$/);
  });

  it('asks exactly the model that was picked, also one it has not heard of', async () => {
    const provider = await signedInProvider(scene());
    scene().settings.preferred = 'sandbox/guide';
    const picked = { ...(modelOf(provider, 'sandbox/guide') ?? assert.fail()), id: 'gone/model' };
    await assert.rejects(ask(provider, picked, 'hello').done, /gone\/model/);
  });

  it('asks the default model for the placeholder that was picked while signed out', async () => {
    const provider = provide(scene());
    const [placeholder] = provider.provideLanguageModelChatInformation();
    scene().settings.preferred = 'sandbox/no-tools';
    await signInAs(await scene().startService(), 'administrator');
    const answer = ask(provider, placeholder, 'Who are you?');
    await answer.done;
    assert.match(answer.text(), /sandbox\/no-tools/);
  });

  it('stops the request on the wire when the user stops', async () => {
    const provider = await signedInProvider(scene());
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
    const provider = await signedInProvider(scene());
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
    const provider = await signedInProvider(scene());
    const answers = ['say: one', 'say: two'].map((prompt) => ask(provider, 'sandbox/guide', prompt));
    await Promise.all(answers.map(({ done }) => done));
    assert.deepEqual(
      answers.map(({ text }) => text()),
      ['one', 'two'],
    );
  });

  it('estimates tokens by length', async () => {
    const provider = await signedInProvider(scene());
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
