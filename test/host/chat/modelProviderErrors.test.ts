import assert from 'node:assert/strict';
import { ask, modelOf, provide, signedInProvider, weather } from '../support/provider.ts';
import { addFault, clearFaults, connectionTo, holdNextAnswer } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { eventStream } from '../support/streams.ts';
import { until } from '../support/wait.ts';

describe('the provider of models says in plain words', () => {
  const scene = useScene();
  afterEach(clearFaults);

  it('that nothing is configured', async () => {
    const provider = provide(scene());
    await scene().clouds.start();
    const [placeholder] = provider.provideLanguageModelChatInformation();
    await assert.rejects(ask(provider, placeholder, 'hi').done, /Set rolecall\.identity\.url/);
  });

  it('that nobody is signed in', async () => {
    const provider = provide(scene());
    await scene().startService();
    const [placeholder] = provider.provideLanguageModelChatInformation();
    await assert.rejects(ask(provider, placeholder, 'hi').done, /not signed in/);
    assert.deepEqual(scene().asked, []);
  });

  it('that the service has no models to ask', async () => {
    const provider = provide(scene());
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
    await signInAs(await scene().startService(), 'administrator');
    const [placeholder] = provider.provideLanguageModelChatInformation();
    await assert.rejects(ask(provider, placeholder, 'hi').done, /Add one to the setting rolecall\.models/);
  });

  const magic: readonly (readonly [string, RegExp])[] = [
    ['sandbox/no-credit', /no credit left/],
    ['sandbox/broken', /failed/],
    ['sandbox/overloaded', /temporarily unavailable/],
  ];
  for (const [id, sentence] of magic) {
    it(`why ${id} refuses`, async () => {
      const provider = await signedInProvider(scene());
      const model = { ...(modelOf(provider, 'sandbox/guide') ?? assert.fail()), id };
      const { done } = ask(provider, model, 'hi');
      await assert.rejects(done, (error) => error instanceof Error && sentence.test(error.message));
      assert.ok(scene().log.lines.some((line) => line.startsWith('error') && sentence.test(line)));
    });
  }

  it('what the service says in the middle of an answer, after what came before', async () => {
    const provider = await signedInProvider(scene());
    await addFault({ service: 'inference', path: 'completions', kind: 'midStreamError', afterBytes: 600 });
    const answer = ask(provider, 'sandbox/guide', 'Please count to 100.');
    await assert.rejects(answer.done, /Injected by the sandbox/);
    assert.match(answer.text(), /^1,/);
  });

  it('that the connection was cut', async () => {
    const provider = await signedInProvider(scene());
    await addFault({ service: 'inference', path: 'completions', kind: 'cut', afterBytes: 900 });
    const answer = ask(provider, 'sandbox/guide', 'Please count to 100.');
    await assert.rejects(answer.done, /connection was closed/);
    assert.match(answer.text(), /^1,/);
  });

  it('that the model said nothing', async () => {
    await assert.rejects(
      ask(await signedInProvider(scene()), 'sandbox/guide', 'say nothing').done,
      /returned an empty answer/,
    );
  });

  it('that the model only reasoned', async () => {
    await assert.rejects(
      ask(await signedInProvider(scene()), 'sandbox/guide', 'only think').done,
      /reasoned but gave no answer/,
    );
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
    ['that there was no choice', [[]], /without an answer/],
    [
      'that a call cannot be read',
      [[call('{"city": ')], [finished('tool_calls')]],
      /get_weather are not a JSON object/,
    ],
    // The arguments of a cut call may still be read, and would be run.
    [
      'that its length limit cut a call',
      [[call('{"city":"Oslo"}')], [finished('length')]],
      /length limit and stops here\. It was calling a tool, which was not run/,
    ],
    [
      'that a filter cut a call',
      [[call('{"city":"Oslo"}')], [finished('content_filter')]],
      /ended the answer early \(content_filter\)\. It was calling a tool, which was not run/,
    ],
    [
      'that the service broke off a call',
      [[call('{"city":"Oslo"}')], [finished('insufficient_system_resource')]],
      /ended the answer early \(insufficient_system_resource\)\. It was calling a tool, which was not run/,
    ],
  ];
  for (const [title, chunks, sentence] of answers) {
    it(title, async () => {
      const provider = await signedInProvider(scene());
      scene().network = async () => eventStream(chunks.map((choices) => ({ id: 'x', choices })));
      const answer = ask(provider, 'sandbox/guide', 'hi', { tools: [weather] });
      await assert.rejects(answer.done, sentence);
      assert.deepEqual(answer.parts, []); // A broken call is not run with whatever could be read of it.
    });
  }

  it('that the connection was cut after a call, which is not run', async () => {
    const provider = await signedInProvider(scene());
    const [begun = ''] = (await eventStream([{ id: 'x', choices: [call('{"city":"Oslo"}')] }]).text()).split(
      'data: [DONE]',
    );
    scene().network = async () => new Response(begun, { headers: { 'content-type': 'text/event-stream' } });
    const answer = ask(provider, 'sandbox/guide', 'hi', { tools: [weather] });
    await assert.rejects(answer.done, /connection was closed/);
    assert.deepEqual(answer.parts, []);
  });

  const says = (content: string) => ({ index: 0, delta: { content } });
  for (const [reason, line] of [
    ['length', '\n\n*The answer reached its length limit and stops here.*'],
    ['content_filter', '\n\n*The service ended the answer early (content_filter).*'],
    ['abort', '\n\n*The service ended the answer early (abort).*'],
    ['stop', ''],
  ] as const) {
    it(`how an answer of words ended: ${reason}`, async () => {
      const provider = await signedInProvider(scene());
      scene().network = async () => eventStream([[says('Half')], [finished(reason)]].map((choices) => ({ choices })));
      const answer = ask(provider, 'sandbox/guide', 'hi');
      await answer.done;
      assert.equal(answer.text().replaceAll('\\', ''), `Half${line}`);
    });
  }

  it('nothing where the session becomes known only while it is asked', async () => {
    await signInAs(await scene().startService(), 'administrator');
    const window = scene().beside();
    const provider = provide(window);
    window.settings.connection = connectionTo('service');
    const starting = window.clouds.start();
    const answer = ask(provider, provider.provideLanguageModelChatInformation().at(-1), 'say: hi');
    await answer.done;
    assert.equal(answer.text(), 'hi');
    await starting;
  });

  it('that the account that asked is signed out meanwhile', async () => {
    const provider = await signedInProvider(scene());
    await holdNextAnswer();
    const answer = ask(provider, 'sandbox/guide', 'Please count to 5000.');
    await until('the first words', () => answer.text() || undefined);
    await scene().clouds.require().tokenManager.signOut();
    await assert.rejects(answer.done, /Stopped because the account was signed out/);
  });

  it('what of the parameters was not sent', async () => {
    const provider = await signedInProvider(scene());
    scene().network = async () => eventStream([[says('Whole')], [finished('stop')]].map((choices) => ({ choices })));
    const modelOptions = { stream: false, stream_options: { include_usage: true } };
    const answer = ask(provider, 'sandbox/guide', 'hi', { modelOptions });
    await answer.done;
    assert.match(answer.text().replaceAll('\\', ''), /^\*stream_options was not sent because .*\*\n\nWhole$/);
  });
});
