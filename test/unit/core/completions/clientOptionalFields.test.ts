import assert from 'node:assert/strict';
import { ModelObservations } from '../../../../src/core/completions/modelObservations.ts';
import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import { type Answer, FakeService, least, noticesOf, ok, stream, textOf } from './clientHarness.ts';

const tools = [{ type: 'function' as const, function: { name: 'look' } }];
const mine = { stream: true, stream_options: { include_usage: true } };
const refuses = (param: string): Answer => [
  422,
  JSON.stringify({ error: { code: '422', error_type: 'UNSUPPORTED_OPENAI_PARAMS', message: 'x', param } }),
];

/** Asks twice: the second time it is known what was refused. */
async function askTwice(request: CompletionRequest, refusal: Answer) {
  const options = { observations: new ModelObservations(), toolsAreOptional: true };
  const first = new FakeService(refusal, ok);
  const once = await stream(first.deps, { request, options });
  const second = new FakeService(ok);
  const again = await stream(second.deps, { request, options });
  return { once, again, bodies: [...first.bodies.slice(1), ...second.bodies] };
}

describe('completions: what Rolecall adds to a request that offers its tools', () => {
  const sent = async (request: CompletionRequest, toolsAreOptional = true) => {
    const service = new FakeService(ok);
    await stream(service.deps, { request, options: { toolsAreOptional } });
    return service.bodies[0];
  };

  it('is the choice "auto", unless somebody chose or there is no tool', async () => {
    assert.deepEqual(await sent({ ...least, tools }), { ...least, ...mine, tools, tool_choice: 'auto' });
    for (const tool_choice of ['auto', 'none'] as const) {
      assert.deepEqual(await sent({ ...least, tools, tool_choice }), { ...least, ...mine, tools, tool_choice });
    }
    assert.deepEqual(await sent(least), { ...least, ...mine });
    assert.deepEqual(await sent({ ...least, tools: [] }), { ...least, ...mine });
  });

  it('is nothing where the tools are the caller’s own', async () => {
    assert.deepEqual(await sent({ ...least, tools }, false), { ...least, ...mine, tools });
  });
});

describe('completions: a model that refuses the choice between tools', () => {
  it('is asked without the choice where it was Rolecall’s', async () => {
    const { once, again, bodies } = await askTwice({ ...least, tools }, refuses('tool_choice'));
    assert.deepEqual(bodies, [
      { ...least, ...mine, tools },
      { ...least, ...mine, tools },
    ]);
    assert.deepEqual([noticesOf(once), noticesOf(again)], [[], []]);
  });

  it('is asked without tools where the person chose "none", and says so each time', async () => {
    const { once, again, bodies } = await askTwice({ ...least, tools, tool_choice: 'none' }, refuses('tool_choice'));
    assert.deepEqual(bodies, [
      { ...least, ...mine },
      { ...least, ...mine },
    ]);
    for (const { completion, ...outcome } of [once, again]) {
      assert.deepEqual(noticesOf(outcome), ['toolsDropped']);
      assert.equal(
        completion?.notices[0]?.message,
        'The model "org/m" does not support tool_choice. Because it is set to "none", no tools were sent.',
      );
    }
  });

  it('is asked with tools again when the person no longer chooses', async () => {
    const options = { observations: new ModelObservations(), toolsAreOptional: true };
    const service = new FakeService(refuses('tool_choice'), ok, ok);
    await stream(service.deps, { request: { ...least, tools, tool_choice: 'none' }, options });
    await stream(service.deps, { request: { ...least, tools }, options });
    assert.deepEqual(service.bodies[2], { ...least, ...mine, tools });
  });

  it('is not asked again where the person chose "auto", nor where the tools are the caller’s own', async () => {
    for (const [tool_choice, toolsAreOptional] of [
      ['auto', true],
      ['none', false],
    ] as const) {
      const observations = new ModelObservations();
      const service = new FakeService(refuses('tool_choice'));
      const request = { ...least, tools, tool_choice };
      const { error } = await stream(service.deps, { request, options: { observations, toolsAreOptional } });
      assert.equal(error?.kind, 'unsupported');
      const next = new FakeService(ok);
      await stream(next.deps, { request, options: { observations, toolsAreOptional } });
      assert.equal(next.bodies[0]?.tool_choice, tool_choice, 'nothing is remembered');
    }
  });

  it('loses a choice of the person only with the tools, and says so', async () => {
    for (const tool_choice of ['auto', 'none'] as const) {
      for (const param of ['tools', 'tools, tool_choice']) {
        const { once, again, bodies } = await askTwice({ ...least, tools, tool_choice }, refuses(param));
        assert.deepEqual(bodies, [
          { ...least, ...mine },
          { ...least, ...mine },
        ]);
        assert.deepEqual([noticesOf(once), noticesOf(again)], [['toolsDropped'], ['toolsDropped']]);
      }
    }
  });
});

describe('completions: stream_options of the person', () => {
  const stream_options = { include_usage: true, own: 1 };

  it('are left out for a model that does not stream, and that is said each time', async () => {
    for (const param of ['stream', 'stream, stream_options']) {
      const { once, again, bodies } = await askTwice({ ...least, stream_options }, refuses(param));
      assert.equal(textOf(again), 'Hi');
      assert.deepEqual(bodies, [
        { ...least, stream: false },
        { ...least, stream: false },
      ]);
      assert.deepEqual(noticesOf(once), ['streamDropped', 'parameterLeftOut']);
      assert.deepEqual(noticesOf(again), ['parameterLeftOut']);
    }
  });

  it('are left out where the person wants no stream, and that is said', async () => {
    const service = new FakeService(ok);
    const outcome = await stream(service.deps, { request: { ...least, stream: false, stream_options } });
    assert.deepEqual(service.bodies, [{ ...least, stream: false }]);
    assert.deepEqual(outcome.completion?.notices, [
      {
        code: 'parameterLeftOut',
        message: 'stream_options was not sent because this answer is not streamed.',
      },
    ]);
  });

  it('stay where they are null, which says nothing', async () => {
    const service = new FakeService(ok);
    const outcome = await stream(service.deps, { request: { ...least, stream: false, stream_options: null } });
    assert.deepEqual(service.bodies, [{ ...least, stream: false, stream_options: null }]);
    assert.deepEqual(noticesOf(outcome), []);
  });

  it('are not given up by a refusal of them beside something of ours', async () => {
    const service = new FakeService(refuses('stream_options, tools'));
    const request = { ...least, stream_options, tools };
    const { error } = await stream(service.deps, { request, options: { toolsAreOptional: true } });
    assert.equal(error?.kind, 'unsupported');
    assert.equal(service.sent.length, 1);
  });
});
