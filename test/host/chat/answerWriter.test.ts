import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import type { AnswerPart } from '../../../src/host/answerText.ts';
import { AnswerWriter } from '../../../src/host/chat/answerWriter.ts';
import { FakeStream } from '../support/chat.ts';

const write = (stream: FakeStream, ...parts: AnswerPart[]): FakeStream => {
  const writer = new AnswerWriter(stream as unknown as vscode.ChatResponseStream);
  for (const part of parts) writer.write(part);
  return stream;
};
const text = (value: string): AnswerPart => ({ kind: 'text', text: value });
const reasoning = (value: string): AnswerPart => ({ kind: 'reasoning', text: value });
const line = (value: string): AnswerPart => ({ kind: 'line', text: value });

describe('an answer written into the chat', () => {
  it('passes words on as they are, as Markdown that nobody trusts', () => {
    const stream = write(new FakeStream(), text('A [link](command:x) $(zap) '), text('**b**'));
    assert.equal(stream.text, 'A [link](command:x) $(zap) **b**');
    // A plain string: VS Code gives it no trust, no HTML and no icons.
    assert.ok(stream.markdowns.every((value) => typeof value === 'string'));
  });

  it('shows that the model reasons, and then for how long, without mixing it into the answer', () => {
    const stream = new FakeStream();
    const times = [1000, 2500];
    const writer = new AnswerWriter(stream as unknown as vscode.ChatResponseStream, () => times.shift() ?? 0);
    for (const part of [reasoning('First.\nSec'), reasoning('ond.'), text('Answer.'), text(' End.')])
      writer.write(part);
    const [own, ...words] = stream.markdowns;
    assert.deepEqual([stream.progresses, words.join('')], [['Thinking…'], 'Answer. End.']);
    // Else what VS Code folds away as steps would be nothing.
    assert.match(typeof own === 'string' ? '' : (own?.value ?? ''), /\$\(info\) Thought for 1\.5 s/);
    assert.equal(write(new FakeStream(), reasoning('a'), text('b'), reasoning('c')).progresses.length, 2);
  });

  it('folds reasoning away where the editor can', () => {
    const stream = new FakeStream();
    const thoughts: unknown[] = [];
    Object.assign(stream, { thinkingProgress: (thought: unknown) => thoughts.push(thought) });
    write(stream, reasoning('First.'), text('Answer.'));
    assert.deepEqual(thoughts, [{ text: 'First.' }]);
    assert.equal(stream.text, 'Answer.');
  });

  it('asks once whether the editor can', () => {
    const stream = new FakeStream();
    let asked = 0;
    Object.assign(stream, {
      thinkingProgress: () => {
        asked += 1;
        throw new Error('CANNOT use API proposal');
      },
    });
    write(stream, reasoning('a'), reasoning('b'));
    assert.equal(asked, 1);
    assert.equal(stream.progresses.length, 1);
  });

  it('tells its own lines apart from the model’s words and lets nothing in them be markup', () => {
    const stream = write(new FakeStream(), text('Before.'), line('Used **x** <b> $(zap).'), text('After.'));
    const [, own] = stream.markdowns;
    assert.ok(own && typeof own !== 'string');
    assert.equal(own.supportThemeIcons, true);
    assert.ok(!own.isTrusted && !own.supportHtml);
    assert.match(own.value, /^\n\n\$\(info\) Used/);
    assert.doesNotMatch(own.value.slice('\n\n$(info) '.length), /(?<!\\)[*()]/);
    assert.match(own.value, /\n\n$/);
  });

  it('ends with a quiet line in which nothing is markup', () => {
    const stream = write(new FakeStream(), text('Answer.'), { kind: 'footer', text: 'a*b · 1 s' });
    assert.equal(stream.text, 'Answer.\n\n*a\\*b · 1 s*\n\n');
    // VS Code folds away what stands before the last text of an answer that called tools: so it is part of that text.
    assert.ok(stream.markdowns.every((value) => typeof value === 'string'));
  });

  it('keeps that line out of a code block that the model left open', () => {
    const footer: AnswerPart = { kind: 'footer', text: 'end' };
    assert.equal(
      write(new FakeStream(), text('```js\n'), text('x'), footer, footer).text,
      '```js\nx\n```\n\n*end*\n\n\n\n*end*\n\n',
    );
    assert.equal(write(new FakeStream(), text('```\na\n```'), footer).text, '```\na\n```\n\n*end*\n\n');
    const after = write(new FakeStream(), text('```js\nx'), line('Used y.'), text('Done.'), footer);
    assert.match(after.text, /Done\.\n\n\*end\*\n\n$/);
  });

  it('shows what is under way without leaving a trace', () => {
    const stream = write(new FakeStream(), { kind: 'progress', text: 'Calling x…' });
    assert.deepEqual([stream.text, stream.progresses], ['', ['Calling x…']]);
  });
});
