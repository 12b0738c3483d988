import assert from 'node:assert/strict';
import { documentMarkdown } from '../../../src/core/access/pageDocument.ts';
import { type ParameterLayer, resolveParameters } from '../../../src/core/completions/parameters.ts';
import { requestFields } from '../../../src/core/completions/request.ts';
import { type Effective, effectiveParametersDocument } from '../../../src/host/chat/effectiveParameters.ts';

type Source = Effective['resolved']['entries'][number]['sources'][number];

const model = { id: 'm/1', label: 'One', contextLength: 9, maxOutput: 9, isLengthKnown: true, vision: false };

function text(layers: readonly ParameterLayer<Source>[], more: Partial<Effective> = {}): string {
  const document = effectiveParametersDocument({
    service: 'https://i.example',
    model,
    tools: [],
    refused: [],
    resolved: resolveParameters(layers),
    ...more,
  });
  return documentMarkdown(document);
}

/** The cells of one field's row. */
function row(shown: string, field: string): string[] {
  const line = shown.split('\n').find((each) => each.startsWith(`| ${field} `)) ?? assert.fail(`no row for ${field}`);
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim());
}

describe('effective parameters', () => {
  it('name the model, the service and every field of the specification, once', () => {
    const shown = text([]);
    assert.match(shown, /Model: m\/1 · Service: https\\:\/\/i\.example/);
    for (const field of requestFields.filter((each) => each !== 'model' && each !== 'messages')) {
      assert.equal(shown.split(`\n| ${field} `).length, 2, field);
    }
    assert.deepEqual(row(shown, 'temperature'), ['temperature', '—', 'the service’s default']);
  });

  it('tell Rolecall’s own fields from what somebody set', () => {
    const shown = text(
      [
        { source: 'user', value: { temperature: 0.5, logit_bias: { 1: 2 } } },
        { source: 'workspace', value: { seed: 7, logit_bias: { 3: 4 } } },
      ],
      { tools: ['a', 'b'] },
    );
    assert.deepEqual(row(shown, 'temperature').slice(1), ['0.5', 'user settings']);
    assert.deepEqual(row(shown, 'seed').slice(1), ['7', 'workspace settings']);
    assert.deepEqual(row(shown, 'logit_bias').slice(1), ['{"1":2,"3":4}', 'user settings + workspace settings']);
    assert.deepEqual(row(shown, 'stream').slice(1), ['true', 'Rolecall']);
    assert.deepEqual(row(shown, 'stream_options').slice(1), ['{"include_usage":true}', 'Rolecall']);
    assert.deepEqual(row(shown, 'tools').slice(1), ['a, b', 'Rolecall: this workspace’s tools']);
    assert.deepEqual(row(shown, 'tool_choice').slice(1), ['"auto"', 'Rolecall']);
  });

  it('say what was chosen in the model picker, which takes precedence over every setting', () => {
    const shown = text([
      { source: 'user', value: { reasoning_effort: 'low' } },
      { source: 'folder', value: { reasoning_effort: 'medium', tool_choice: 'none' } },
      { source: 'picker', value: { reasoning_effort: 'high' } },
    ]);
    assert.deepEqual(row(shown, 'reasoning_effort').slice(1), ['"high"', 'model picker, as of your last message']);
  });

  it('say what is left out and why', () => {
    const layers = [
      { source: 'user' as const, value: { reasoning_effort: 'low', stream: false, tool_choice: 'none' } },
    ];
    const shown = text(layers, { model: { ...model, reasoning: false, tools: false }, tools: ['a'] });
    assert.match(row(shown, 'reasoning_effort')[2] ?? '', /does not support reasoning/);
    assert.deepEqual(row(shown, 'stream').slice(1), ['false', 'user settings']);
    assert.deepEqual(row(shown, 'stream_options').slice(1), ['—', 'Rolecall: nothing to send']);
    assert.match(row(shown, 'tools')[2] ?? '', /does not support tools/);
    assert.match(row(text([], { tools: ['a'], refused: ['tools'] }), 'tools')[2] ?? '', /the model rejected it/);
    assert.deepEqual(row(text(layers), 'tool_choice').slice(1), ['—', 'Rolecall: nothing to send']);
    const options = { stream_options: { include_usage: true } };
    const inOnePiece = text([{ source: 'user', value: { ...options, stream: false } }]);
    assert.deepEqual(row(inOnePiece, 'stream_options').slice(1), ['—', 'not sent: the answer is not streamed']);
    const unable = text([{ source: 'user', value: options }], { refused: ['stream'] });
    assert.deepEqual(row(unable, 'stream_options').slice(1), [
      '—',
      'not sent: it depends on stream, which the model rejected',
    ]);
    const nothing = text([{ source: 'user', value: { stream: false, stream_options: null } }]);
    assert.deepEqual(row(nothing, 'stream_options').slice(1), ['null', 'user settings']);
    const whole = text([], { refused: ['stream'] });
    assert.deepEqual(row(whole, 'stream').slice(1), ['false', 'Rolecall: the model does not support streaming']);
    assert.deepEqual(row(whole, 'stream_options').slice(1), [
      '—',
      'not sent: it depends on stream, which the model rejected',
    ]);
  });

  it('tell what a refusal of the model means for a choice between tools', () => {
    const tools = ['a'];
    const chosen = (tool_choice: string) => [{ source: 'user' as const, value: { tool_choice } }];
    const cells = (tool_choice: string | undefined, refused: Effective['refused']) => {
      const shown = text(tool_choice === undefined ? [] : chosen(tool_choice), { tools, refused });
      return [row(shown, 'tools').slice(1), row(shown, 'tool_choice').slice(1)];
    };
    const offered = ['a', 'Rolecall: this workspace’s tools'];
    const itself = ['—', 'not sent: the model rejected it'];
    const goesWith = (field: string) => ['—', `not sent: it depends on ${field}, which the model rejected`];
    assert.deepEqual(cells(undefined, ['tool_choice']), [offered, itself]);
    assert.deepEqual(cells('none', ['tool_choice']), [goesWith('tool_choice'), itself]);
    assert.deepEqual(cells('auto', ['tool_choice']), [offered, ['"auto"', 'user settings']]);
    assert.deepEqual(cells('none', ['tools']), [itself, goesWith('tools')]);
    assert.deepEqual(cells(undefined, ['tools']), [itself, goesWith('tools')]);
    assert.deepEqual(cells('none', []), [offered, ['"none"', 'user settings']]);
  });

  it('list what cannot be sent with its reason, and mark what the specification does not know', () => {
    const shown = text([{ source: 'user', value: { temperature: 'a|b', min_p: '1|2' } }]);
    assert.match(shown, /## Not sent\n\n- \*\*temperature\*\* \(user settings\): temperature must be a number\./);
    assert.deepEqual(row(shown, 'temperature')[1], '—');
    assert.deepEqual(row(shown, 'min_p').slice(1), ['"1\\|2"', 'user settings; not in the specification']);
    assert.doesNotMatch(text([]), /Not sent/);
  });

  it('say what of a workspace’s parameters is ignored', () => {
    const shown = text([
      { source: 'user', value: { min_p: 0.1 } },
      { source: 'workspace', value: { min_p: 0.9, prompt_suffix: 'x' }, isForeign: true },
    ]);
    assert.deepEqual(row(shown, 'min_p').slice(1), ['0.1', 'user settings; not in the specification']);
    assert.match(shown, /- \*\*min_p\*\* \(workspace settings\): The specification does not define this field/);
    assert.match(shown, /- \*\*prompt_suffix\*\* \(workspace settings\): The specification does not define this field/);
  });

  it('do without a model and a service', () => {
    assert.match(text([], { model: undefined, service: undefined }), /none yet[\s\S]*not configured/);
  });
});
