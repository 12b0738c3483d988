import assert from 'node:assert/strict';
import { estimateMessage, estimateRequest, estimateText } from '../../../../src/core/completions/history.ts';
import { ModelObservations } from '../../../../src/core/completions/modelObservations.ts';

const service = 'https://a.example/v1/chat/completions';

describe('completions: estimating tokens', () => {
  it('by length, other alphabets finer', () => {
    assert.equal(estimateText(''), 0);
    assert.equal(estimateText('x'.repeat(400)), 100);
    assert.ok(estimateText('日本語'.repeat(100)) >= 200);
    assert.ok(estimateText('привет'.repeat(10)) > estimateText('hello!'.repeat(10)));
  });

  it('of calls, images and tools too', () => {
    const plain = estimateMessage({ role: 'assistant', content: null });
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: 'x'.repeat(400) } } as const;
    assert.ok(estimateMessage({ role: 'assistant', content: null, tool_calls: [call] }) >= plain + 100);
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1e6)}` } } as const;
    const size = estimateMessage({ role: 'user', content: [{ type: 'text', text: 'x' }, image] });
    assert.ok(size > 500 && size < 2_000, String(size));
    const messages = [{ role: 'user', content: 'x' }];
    const tools = [{ type: 'function', function: { name: 'f', description: 'x'.repeat(400) } }] as const;
    assert.ok(estimateRequest({ messages, tools }) >= estimateRequest({ messages }) + 100);
  });
});

describe('completions: what is remembered of a model', () => {
  it('starts with the plain estimate and learns the real measure from usage', () => {
    const memory = new ModelObservations();
    assert.equal(memory.correctEstimate(service, 'm', 100), 100);
    assert.equal(memory.isCalibrated(service, 'm'), false);
    memory.calibrate(service, 'm', 100, 150);
    assert.equal(memory.isCalibrated(service, 'm'), true);
    assert.equal(memory.correctEstimate(service, 'm', 100), 150);
    memory.calibrate(service, 'm', 100, 110);
    assert.equal(memory.correctEstimate(service, 'm', 100), 130);
  });

  it('is not led astray by what cannot be', () => {
    const memory = new ModelObservations();
    memory.calibrate(service, 'm', 100, 0);
    memory.calibrate(service, 'm', 0, 100);
    assert.equal(memory.isCalibrated(service, 'm'), false);
    memory.calibrate(service, 'm', 1, 100_000);
    assert.equal(memory.correctEstimate(service, 'm', 100), 400);
    memory.calibrate(service, 'n', 100_000, 1);
    assert.equal(memory.correctEstimate(service, 'n', 100), 25);
  });

  it('is of that model of that service', () => {
    const memory = new ModelObservations();
    memory.calibrate(service, 'm', 100, 200);
    memory.addRefusedFields(service, 'm', ['tools']);
    memory.setContextLimit(service, 'm', 4096);
    for (const [where, model] of [
      [service, 'M'],
      ['https://b.example/v1/chat/completions', 'm'],
    ] as const) {
      assert.equal(memory.correctEstimate(where, model, 100), 100);
      assert.deepEqual(memory.refusedFields(where, model), []);
      assert.equal(memory.contextLimit(where, model), undefined);
    }
    memory.addRefusedFields(service, 'm', ['tools', 'stream_options']);
    assert.deepEqual(memory.refusedFields(service, 'm'), ['tools', 'stream_options']);
    assert.equal(memory.contextLimit(service, 'm'), 4096);
  });

  it('is bounded: the models that were not used for longest are forgotten', () => {
    const memory = new ModelObservations();
    for (let at = 0; at < 201; at++) {
      memory.calibrate(service, `m${at}`, 100, 200);
      memory.calibrate(service, 'm0', 100, 200);
    }
    assert.equal(memory.isCalibrated(service, 'm0'), true);
    assert.equal(memory.isCalibrated(service, 'm1'), false);
    assert.equal(memory.isCalibrated(service, 'm200'), true);
  });
});
