import assert from 'node:assert/strict';
import { type CompletionEvent, readFinishReason } from '../../src/core/completions/completion.ts';
import type { AgentLoopEvent, AgentLoopResult, ModelTurn } from '../../src/core/tools/agentLoop.ts';
import { AnswerStats, answerPart, closingLine, lowConfidenceLine } from '../../src/host/answerText.ts';

type Event = AgentLoopEvent<CompletionEvent>;

const checked = { id: 'c', name: 'find', arguments: {} };
const raw = { id: 'c', name: 'find', arguments: '{}' };
const model = (event: CompletionEvent): Event => ({ type: 'model', event });

describe('an answer as a person reads it', () => {
  const rows: readonly (readonly [string, Event, ReturnType<typeof answerPart>])[] = [
    ['words', model({ kind: 'text', choice: 0, text: 'Hi' }), { kind: 'text', text: 'Hi' }],
    ['reasoning', model({ kind: 'reasoning', choice: 0, text: 'Hm' }), { kind: 'reasoning', text: 'Hm' }],
    ['words of another choice', model({ kind: 'text', choice: 1, text: 'Ho' }), undefined],
    ['reasoning of another choice', model({ kind: 'reasoning', choice: 1, text: 'Ho' }), undefined],
    ['a notice', model({ kind: 'notice', code: 'waiting', message: 'Wait.' }), { kind: 'line', text: 'Wait.' }],
    ['token counts', model({ kind: 'usage', usage: {} }), undefined],
    ['the end', model({ kind: 'finish', choice: 0, reason: 'stop' }), undefined],
    ['the first round', { type: 'round', round: 1 }, undefined],
    [
      'a later round',
      { type: 'round', round: 2 },
      { kind: 'progress', text: 'Round 2: sending the results to the model…' },
    ],
    ['a call that begins', { type: 'toolStarted', call: checked }, { kind: 'progress', text: 'Calling find…' }],
    [
      'a call that worked',
      { type: 'toolFinished', call: checked, result: { content: 'x', isError: false }, cancelled: false },
      { kind: 'line', text: 'Used find.' },
    ],
    [
      'a call with arguments',
      {
        type: 'toolFinished',
        call: { ...checked, arguments: { query: 'x'.repeat(200) } },
        result: { content: 'x', isError: false },
        cancelled: false,
      },
      { kind: 'line', text: `Used find ({"query":"${'x'.repeat(109)}…).` },
    ],
    [
      'a call that failed',
      { type: 'toolFinished', call: checked, result: { content: 'x', isError: true }, cancelled: false },
      { kind: 'line', text: 'find failed.' },
    ],
    [
      'a call that was stopped',
      { type: 'toolFinished', call: checked, result: { content: 'x', isError: true }, cancelled: true },
      { kind: 'line', text: 'find was stopped.' },
    ],
    [
      'a call that the user refused',
      { type: 'toolRefused', call: raw, reason: 'user', content: 'x' },
      { kind: 'line', text: 'You did not allow find.' },
    ],
    [
      'a call of no tool',
      { type: 'toolRefused', call: raw, reason: 'unknownTool', content: 'There is no tool "find".' },
      { kind: 'line', text: 'The model called find, which is not an available tool.' },
    ],
    [
      'a call of an access tool where none was offered',
      { type: 'toolRefused', call: { ...raw, name: 'who_has_role' }, reason: 'unknownTool', content: 'x' },
      {
        kind: 'line',
        text: 'The model called who_has_role, which is available only with /access. Ask again with /access.',
      },
    ],
    [
      'a call that cannot be read',
      { type: 'toolRefused', call: raw, reason: 'invalidJson', content: 'x, so nothing was run: {' },
      { kind: 'line', text: 'find was not run: its arguments are not valid JSON.' },
    ],
    [
      'a call that does not fit',
      { type: 'toolRefused', call: raw, reason: 'invalidArguments', content: 'x, so nothing was run.' },
      { kind: 'line', text: 'find was not run: its arguments are invalid. The model has received the reason.' },
    ],
  ];
  for (const [title, event, part] of rows) {
    it(`${part ? `shows ${title} as ${part.kind}` : `does not show ${title}`}`, () => {
      assert.deepEqual(answerPart(event), part);
    });
  }
});

describe('what is told below an answer', () => {
  it('is told of an answer of any length', () => {
    const stats = new AnswerStats();
    const logprobs = Array.from({ length: 300_000 }, () => ({ token: 'a', logprob: -1, topLogprobs: [] }));
    stats.accept(model({ kind: 'logprobs', choice: 0, logprobs }));
    assert.equal(stats.logprobs.length, logprobs.length);
  });
});

describe('the last line of an answer', () => {
  const turn = ({ finishReason = 'stop', ...more }: Partial<ModelTurn> = {}): ModelTurn => ({
    text: 'An answer.',
    reasoning: '',
    toolCalls: [],
    finishReason,
    ending: readFinishReason(finishReason),
    complete: true,
    ...more,
  });
  const rows: readonly (readonly [string, AgentLoopResult['reason'], ModelTurn | undefined, RegExp | undefined])[] = [
    ['is not needed when it simply ended', 'answered', turn(), undefined],
    ['is not needed when the service did not say why it ended', 'answered', turn({ ending: 'unknown' }), undefined],
    ['is not needed when the user stopped it', 'cancelled', undefined, undefined],
    ['is not needed when an error is shown', 'failed', undefined, undefined],
    ['says that the length limit was reached', 'answered', turn({ finishReason: 'length' }), /length limit/],
    ['says so too when that cut a call', 'cut', turn({ finishReason: 'length', text: '' }), /length limit/],
    [
      'says that a filter ended it',
      'answered',
      turn({ finishReason: 'content_filter' }),
      /ended the answer early \(content_filter\)/,
    ],
    [
      'says that the service broke it off',
      'cut',
      turn({ finishReason: 'insufficient_system_resource' }),
      /ended the answer early \(insufficient_system_resource\)/,
    ],
    [
      'says so too when nothing was left',
      'answered',
      turn({ finishReason: 'content_filter', text: '' }),
      /content_filter/,
    ],
    ['says so too when that cut a call', 'cut', turn({ finishReason: 'content_filter' }), /content_filter/],
    ['says that the connection was lost', 'incomplete', turn({ complete: false }), /connection was lost.*incomplete/],
    ['says that the calls did not end', 'roundLimit', turn(), /after 10 rounds/],
    ['says that there was nothing', 'answered', turn({ text: ' \n' }), /returned an empty answer/],
    [
      'says that there was only reasoning',
      'answered',
      turn({ text: '', reasoning: 'Hm.' }),
      /reasoned but did not answer/,
    ],
  ];
  for (const [title, reason, last, line] of rows) {
    it(title, () => {
      const said = closingLine({ reason, history: [], rounds: 10, turn: last, error: undefined });
      if (line) assert.match(said ?? '', line);
      else assert.equal(said, undefined);
    });
  }
});

describe('the words a model was least sure of', () => {
  const token = (text: string, sure: number, bytes?: number[]) => ({
    token: text,
    logprob: Math.log(sure),
    topLogprobs: [],
    ...(bytes && { bytes }),
  });

  it('are named with how sure it was, characters that are spread over tokens as one', () => {
    const logprobs = [
      token('It', 1),
      token(' is', 0.5),
      token('?', 0.5, [0xc3]),
      token('?', 0.2, [0xa9]),
      token(' ', 0.1),
    ];
    assert.equal(lowConfidenceLine(logprobs), 'Lowest confidence: "é" (10%), "is" (50%)');
  });

  it('are three at most, and none where it was sure', () => {
    const many = ['a', 'b', 'c', 'd'].map((text, at) => token(text, 0.1 * (at + 1)));
    assert.equal(lowConfidenceLine(many), 'Lowest confidence: "a" (10%), "b" (20%), "c" (30%)');
    assert.equal(lowConfidenceLine([token('It', 0.999)]), undefined);
    assert.equal(lowConfidenceLine([]), undefined);
  });
});
