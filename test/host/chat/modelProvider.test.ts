import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RememberedModels } from '../../../src/host/chat/rememberedModels.ts';
import { ask, modelOf, provide, signedInProvider, weather } from '../support/provider.ts';
import { clearFaults, counter, counterAbove, descriptor, holdNextAnswer } from '../support/sandbox.ts';
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
      assert.match(model?.detail ?? '', /^Sign in/);
    });

    it('every model with tools, for Agent mode takes no other, and with room for a question', async () => {
      scene().settings.described = [
        { id: 'mine/tiny', label: 'Tiny', contextLength: 100, maxOutput: 4096, vision: true, tools: false },
      ];
      const provider = await signedInProvider(scene());
      const models = provider.provideLanguageModelChatInformation();
      assert.deepEqual(
        models.map(({ id }) => id),
        ['mine/tiny', ...descriptor.models.map(({ id }) => id), 'rolecall'],
      );
      for (const model of models) {
        assert.equal(model.capabilities.toolCalling, true);
        assert.ok(model.maxInputTokens > 0 && model.maxOutputTokens > 0);
        assert.equal(model.isUserSelectable, true);
      }
      assert.equal(models[0]?.name, 'Tiny');
      assert.match(models[0]?.tooltip ?? '', /It doesn’t call tools\.$/);
      assert.doesNotMatch(models[1]?.tooltip ?? '', /tools/);
      assert.deepEqual(
        models.map(({ capabilities }) => capabilities.imageInput),
        models.map(({ id }) => id === 'mine/tiny' || id === 'rolecall'),
      );
    });

    it('an entry for the default model, which is what a chat has picked that was begun signed out', async () => {
      scene().settings.described = [{ id: 'mine/tiny', label: 'Tiny', contextLength: 100_000, maxOutput: 4096 }];
      const provider = await signedInProvider(scene());
      const entry = provider.provideLanguageModelChatInformation().at(-1);
      assert.equal(entry?.id, 'rolecall');
      assert.equal(entry.name, 'Rolecall');
      assert.equal(entry.detail, 'Default: Tiny');
      assert.equal(entry.maxInputTokens, 100_000 - 4096);
    });

    it('what was picked and is on offer no more, marked, for a chat that has it picked would be refused', async () => {
      const catalog = scene().catalog();
      const provider = provide(scene(), catalog);
      scene().settings.described = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id: `own/${id}` }));
      await signInAs(await scene().startService(), 'administrator');
      await until('the list of models', () => modelOf(provider, 'sandbox/guide'));
      for (const { id } of scene().settings.described) catalog.pick(id);
      catalog.pick('own/b');
      catalog.pick('own/of-nobody');
      scene().settings.described = [{ id: 'own/f' }];
      const models = provider.provideLanguageModelChatInformation();
      assert.deepEqual(
        models.filter(({ detail }) => detail === 'No longer available').map(({ id }) => id),
        ['own/b', 'own/e', 'own/d', 'own/c'],
      );
      assert.equal(models.filter(({ id }) => id === 'own/f').length, 1);
      await assert.rejects(ask(provider, 'own/b', 'hi').done, /own\/b is no longer available\. Pick another model\./);
    });

    it('with the menus of each model, its price and its warning, in which nothing is markup', async () => {
      scene().settings.described = [
        {
          id: 'mine/plain',
          reasoning: false,
          tools: false,
          price: { input: 0.5, output: 1.5, currency: 'EUR' },
          warning: '[Slow](command:x) $(flame)',
        },
        { id: 'mine/deep', reasoningEfforts: ['none', 'xhigh'] },
      ];
      const [plain, deep, ...others] = (await signedInProvider(scene())).provideLanguageModelChatInformation();
      assert.equal(plain?.pricing, '€0.50 input, €1.50 output per million tokens');
      assert.deepEqual(plain?.warningText, { rolecall: '\\[Slow\\]\\(command:x\\) \\$\\(flame\\)' });
      const menus = (model: NonNullable<typeof plain> | undefined) =>
        Object.entries(model?.configurationSchema?.properties ?? {}).map(([name, { enum: values, default: unset }]) => [
          name,
          unset,
          ...values,
        ]);
      const logprobs = ['logprobs', 'default', 'default', 'on', 'off'];
      assert.deepEqual(menus(plain), [logprobs]);
      const toolChoice = ['toolChoice', 'default', 'default', 'auto', 'none'];
      assert.deepEqual(menus(deep), [['reasoningEffort', 'default', 'default', 'none', 'xhigh'], toolChoice, logprobs]);
      assert.equal(others.at(-1)?.pricing, plain?.pricing, 'the entry for the default model has what that model has');
      assert.match(others.at(-1)?.infoText?.rolecall ?? '', /Copilot’s models write titles/);
      for (const model of others.slice(0, -1)) {
        assert.equal(model.infoText, undefined, 'it would be read aloud for each model');
        assert.deepEqual(menus(model)[0], ['reasoningEffort', 'default', 'default', 'low', 'medium', 'high']);
        assert.deepEqual([model.pricing, model.warningText], [undefined, undefined]);
      }
    });

    it('with nothing undeclared to an editor that lists none with it', async () => {
      scene().settings.described = [{ id: 'mine/tiny', price: { input: 1, output: 1, currency: 'EUR' }, warning: 'w' }];
      const provider = provide(scene());
      let changes = 0;
      provider.onDidChangeLanguageModelChatInformation(() => {
        changes += 1;
      });
      await provider.resolveIn(async () => [{}]);
      assert.ok(provider.provideLanguageModelChatInformation()[0]?.configurationSchema);
      assert.equal(changes, 0);
      await provider.resolveIn(() => Promise.reject(new Error('CANNOT use API proposal')));
      assert.equal(changes, 1);
      for (const model of provider.provideLanguageModelChatInformation()) {
        assert.deepEqual(
          Object.keys(model).filter((name) => /configurationSchema|pricing|warningText/.test(name)),
          [],
        );
        assert.equal(model.isUserSelectable, true);
      }
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

  it('passes on every word of an answer', async () => {
    const answer = ask(await signedInProvider(scene()), 'sandbox/guide', 'Please count to 20.');
    await answer.done;
    assert.equal(answer.text(), Array.from({ length: 20 }, (_, index) => index + 1).join(', '));
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
    assert.match(answer.text(), /^\*The model "sandbox\/no\\-tools" does not support tools.*\*\n\nhello$/);
  });

  it('goes on listing its models when somebody signs out, and in the next window, so that what was picked stays', async () => {
    const provider = await signedInProvider(scene());
    const before = provider.provideLanguageModelChatInformation().map(({ id }) => id);
    await scene().clouds.require().tokenManager.signOut();
    assert.deepEqual(
      provider.provideLanguageModelChatInformation().map(({ id }) => id),
      before,
    );
    const next = scene().catalog();
    const remembered = scene().own(new RememberedModels(next, scene().storage));
    assert.deepEqual(
      remembered.models.map(({ id }) => id),
      before.filter((id) => id !== 'rolecall'),
    );
    await assert.rejects(ask(provider, 'sandbox/guide', 'hi').done, /not signed in/);
  });

  it('lists only what the service has once that is known, and survives a store with rubbish in it', async () => {
    await scene().storage.update('rolecall.lastModels', [{ id: 7 }]);
    assert.equal(provide(scene()).provideLanguageModelChatInformation()[0]?.id, 'rolecall');
    const gone = { label: 'g', contextLength: 1, maxOutput: 1, isLengthKnown: true, vision: false };
    await scene().storage.update('rolecall.lastModels', [{ id: 'gone/model', ...gone, price: { input: 1 } }]);
    assert.equal(provide(scene()).provideLanguageModelChatInformation()[0]?.id, 'rolecall');
    await scene().storage.update('rolecall.lastModels', [{ id: 'gone/model', ...gone }]);
    assert.equal(provide(scene()).provideLanguageModelChatInformation()[0]?.id, 'gone/model');
    const provider = await signedInProvider(scene());
    assert.equal(modelOf(provider, 'gone/model'), undefined);
  });

  describe('sends', () => {
    /** The body of the one completion request of `action`. */
    async function body(action: () => Promise<unknown>): Promise<Record<string, unknown>> {
      const bodies: Record<string, unknown>[] = [];
      scene().network = (address, init) => {
        if (String(address).endsWith('completions')) bodies.push(JSON.parse(String(init?.body)));
        return fetch(address, init);
      };
      await action();
      assert.equal(bodies.length, 1);
      return bodies[0] ?? assert.fail();
    }

    it('what the user set, and over it what the request asks for where the service knows it', async () => {
      const provider = await signedInProvider(scene());
      scene().settings.parameters = { temperature: 0.1, seed: 5, n: 3 };
      const modelOptions = { temperature: 0.9, max_tokens: 50, someVendorsOwn: true };
      const { messages, ...others } = await body(
        () => ask(provider, 'sandbox/guide', 'say: hi', { modelOptions }).done,
      );
      assert.deepEqual(messages, [{ role: 'user', content: 'say: hi' }]);
      assert.deepEqual(others, {
        model: 'sandbox/guide',
        max_tokens: 50,
        seed: 5,
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.9,
      });
    });

    it('what was chosen in the picker, over the settings and below what the request asks for', async () => {
      const provider = await signedInProvider(scene());
      scene().settings.parameters = { reasoning_effort: 'low', logprobs: true, seed: 5 };
      const modelConfiguration = { reasoningEffort: 'high', toolChoice: 'default', logprobs: 'off' };
      const chosen = async (more: object) => {
        const sent = await body(
          () => ask(provider, 'sandbox/guide', 'say: hi', { modelConfiguration, ...more } as object).done,
        );
        return [sent.reasoning_effort, sent.logprobs, sent.tool_choice, sent.seed];
      };
      assert.deepEqual(await chosen({}), ['high', false, undefined, 5]);
      assert.deepEqual(await chosen({ modelOptions: { reasoning_effort: 'medium' } }), ['medium', false, undefined, 5]);
      assert.deepEqual(await chosen({ modelConfiguration: undefined }), ['low', true, undefined, 5]);
    });

    it('nothing that the picker does not offer, and says so', async () => {
      const provider = await signedInProvider(scene());
      const modelConfiguration = { reasoningEffort: 'ultra', toolChoice: { a: 1 }, temperature: 2, messages: [] };
      const answer = ask(provider, 'sandbox/guide', 'say: hi', { modelConfiguration } as object);
      const sent = await body(() => answer.done);
      assert.deepEqual([sent.reasoning_effort, sent.tool_choice, sent.temperature], [undefined, undefined, undefined]);
      const said = answer.text().replaceAll('\\', '');
      assert.match(said, /The choice "ultra" for "Reasoning Effort" in the model picker was not sent/);
      assert.match(said, /The choice {"a":1} for "Tools" in the model picker was not sent/);
      for (const rubbish of [null, 'high', ['high'], 7]) {
        await body(() => ask(provider, 'sandbox/guide', 'say: hi', { modelConfiguration: rubbish } as object).done);
      }
    });

    it('the user’s headers to the inference service alone, and not in the sandbox', async () => {
      const seen: { readonly path: string; readonly tenant: string | null; readonly authorization: string | null }[] =
        [];
      scene().network = (address, init) => {
        const headers = new Headers(init?.headers);
        const { pathname: path } = new URL(String(address));
        seen.push({ path, tenant: headers.get('x-tenant'), authorization: headers.get('authorization') });
        return fetch(address, init);
      };
      scene().settings.headers = { 'X-Tenant': 'meridian', Authorization: 'Bearer mine' };
      const provider = await signedInProvider(scene());
      const answer = ask(provider, 'sandbox/guide', 'say: hi');
      await answer.done;
      assert.match(
        answer.text(),
        /^\*The header "Authorization" is not sent, because Rolecall or the connection sets it/,
      );
      await scene()
        .clouds.require()
        .identity.groups(descriptor.organizations[0] ?? '', new AbortController().signal);
      for (const { path, tenant, authorization } of seen) {
        assert.equal(tenant, path.includes('/v1/models') || path.includes('/completions') ? 'meridian' : null, path);
        assert.notEqual(authorization, 'Bearer mine');
      }
      assert.ok(seen.some(({ path }) => path.includes('/groups')));
      assert.ok(seen.some(({ path }) => path.includes('/completions')));
      seen.length = 0;
      await signInAs(scene().enterSandbox(), 'administrator');
      await until('the list of models', () => modelOf(provider, 'sandbox/guide'));
      await ask(provider, 'sandbox/guide', 'say: hi').done;
      assert.deepEqual(new Set(seen.map(({ tenant }) => tenant)), new Set([null]));
    });

    it('no tools to a model that is described as taking none', async () => {
      scene().settings.described = [{ id: 'sandbox/no-tools', tools: false }];
      const provider = await signedInProvider(scene());
      const sent = await body(() => ask(provider, 'sandbox/no-tools', 'say: hi', { tools: [weather] }).done);
      assert.deepEqual([sent.tools, sent.tool_choice], [undefined, undefined]);
    });

    it('and says what of all that is not sent, once an answer', async () => {
      scene().settings.described = [{ id: 'sandbox/no-tools', tools: false, reasoning: false }];
      scene().settings.parameters = { top_p: 'wrong', reasoning_effort: 'low' };
      const provider = await signedInProvider(scene());
      const first = ask(provider, 'sandbox/no-tools', 'say: hi', { tools: [weather] });
      await first.done;
      const said = first.text().replaceAll('\\', '');
      assert.match(said, /^\*The chat parameter top_p was not sent: .*\*\n\n\*reasoning_effort was not sent: /);
      assert.match(said, /\*No tools were sent, because sandbox\/no-tools doesn’t support tools\.\*\n\nhi$/);
      const call = new vscode.LanguageModelToolCallPart('c1', 'weather', {});
      const result = new vscode.LanguageModelToolResultPart('c1', [new vscode.LanguageModelTextPart('sunny')]);
      const round = [
        vscode.LanguageModelChatMessage.User('say: hi'),
        vscode.LanguageModelChatMessage.Assistant([call]),
        vscode.LanguageModelChatMessage.User([result]),
      ];
      const second = ask(provider, 'sandbox/no-tools', round, { tools: [weather] });
      await second.done;
      assert.doesNotMatch(second.text(), /not sent|No tools/);
    });

    it('images as data, and calls with their results', async () => {
      const provider = await signedInProvider(scene());
      const { User, Assistant } = vscode.LanguageModelChatMessage;
      const picture = vscode.LanguageModelDataPart.image(new Uint8Array([1, 2, 3]), 'image/png');
      const messages = [
        User([new vscode.LanguageModelTextPart('Look.'), picture]),
        Assistant([new vscode.LanguageModelToolCallPart('call-1', 'get_weather', { city: 'Oslo' })]),
        User([new vscode.LanguageModelToolResultPart('call-1', [new vscode.LanguageModelTextPart('Rain.')])]),
      ];
      const sent = await body(async () =>
        provider.provideLanguageModelChatResponse(
          modelOf(provider, 'sandbox/vision') ?? assert.fail(),
          messages as unknown as vscode.LanguageModelChatRequestMessage[],
          { toolMode: Auto, tools: [weather] },
          { report: () => {} },
          new vscode.CancellationTokenSource().token,
        ),
      );
      assert.deepEqual(sent.messages, [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
          ],
        },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call-1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call-1', content: 'Rain.' },
      ]);
    });

    it('nothing where a call is required, for the service cannot promise one', async () => {
      const provider = await signedInProvider(scene());
      const before = scene().asked.length;
      const options = { tools: [weather], toolMode: vscode.LanguageModelChatToolMode.Required };
      await assert.rejects(ask(provider, 'sandbox/guide', 'hi', options).done, /requires the model to call a tool/);
      assert.equal(scene().asked.length, before);
    });

    it('nothing with an option that the service cannot take', async () => {
      const provider = await signedInProvider(scene());
      const before = scene().asked.length;
      const { done } = ask(provider, 'sandbox/guide', 'hi', { modelOptions: { temperature: 'hot' } });
      await assert.rejects(done, /temperature must be a number/);
      assert.equal(scene().asked.length, before);
    });
  });

  it('leaves out the oldest of a conversation that is too long for the model, and says so', async () => {
    const provider = await signedInProvider(scene());
    const { User, Assistant } = vscode.LanguageModelChatMessage;
    const long = Array.from({ length: 40 }, (_, turn) => [User(`${turn} ${'word '.repeat(80)}`), Assistant('Yes.')]);
    const parts: vscode.LanguageModelResponsePart[] = [];
    await provider.provideLanguageModelChatResponse(
      modelOf(provider, 'sandbox/ngram') ?? assert.fail(), // It takes 2048 tokens.
      [...long.flat(), User('say: hello')] as unknown as vscode.LanguageModelChatRequestMessage[],
      { toolMode: Auto, modelOptions: { max_tokens: 20 } },
      { report: (part) => void parts.push(part) },
      new vscode.CancellationTokenSource().token,
    );
    const [first] = parts;
    assert.ok(first instanceof vscode.LanguageModelTextPart);
    assert.match(first.value, /earliest turns were left out/);
  });

  it('reports the tokens that were used as VS Code’s context display reads them', async () => {
    const answer = ask(await signedInProvider(scene()), 'sandbox/guide', 'say: hello');
    await answer.done;
    const usage = answer.parts.find((part) => part instanceof vscode.LanguageModelDataPart);
    assert.equal(usage?.mimeType, 'usage');
    const counts = JSON.parse(new TextDecoder().decode(usage?.data));
    assert.ok(counts.prompt_tokens > 0 && counts.completion_tokens > 0);
    assert.equal(counts.total_tokens, counts.prompt_tokens + counts.completion_tokens);
  });

  it('answers all the same where the editor does not take token counts', async () => {
    const provider = await signedInProvider(scene());
    const texts: string[] = [];
    await provider.provideLanguageModelChatResponse(
      modelOf(provider, 'sandbox/guide') ?? assert.fail(),
      [vscode.LanguageModelChatMessage.User('say: hello')] as unknown as [],
      { toolMode: Auto },
      {
        report: (part) => {
          if (!(part instanceof vscode.LanguageModelTextPart)) throw new Error('Unknown part');
          texts.push(part.value);
        },
      },
      new vscode.CancellationTokenSource().token,
    );
    assert.equal(texts.join(''), 'hello');
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
    let body = '';
    scene().network = (address, init) => {
      if (String(address).endsWith('completions')) body = String(init?.body);
      return fetch(address, init);
    };
    await ask(provider, placeholder, 'Who are you?').done;
    assert.equal(JSON.parse(body).model, 'sandbox/no-tools');
  });

  it('streams an answer as it comes, and stops the request on the wire when the user stops', async () => {
    const provider = await signedInProvider(scene());
    const before = await counter('streams.inference.aborted');
    await holdNextAnswer();
    const source = new vscode.CancellationTokenSource();
    const answer = ask(provider, 'sandbox/guide', 'Please count to 5000.', {}, source.token);
    await until('the first words', () => answer.parts.length > 0);
    source.cancel();
    await answer.done; // Silently: the user knows.
    await counterAbove('streams.inference.aborted', before);
  });

  it('stops the request on the wire when VS Code no longer takes its words', async () => {
    const provider = await signedInProvider(scene());
    const before = await counter('streams.inference.aborted');
    await holdNextAnswer();
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
    assert.equal(await provider.provideTokenCount(model, message as never), 104);
    // What the service counted itself tells more than the length.
    await ask(provider, model, 'x '.repeat(500)).done;
    assert.notEqual(await provider.provideTokenCount(model, 'x'.repeat(400)), 100);
  });
});

describe('the models of the running extension', () => {
  it('can be selected from the start', async () => {
    const models = await vscode.lm.selectChatModels({ vendor: 'rolecall' });
    assert.notEqual(models.length, 0);
    for (const model of models) assert.equal(model.vendor, 'rolecall');
  });
});
