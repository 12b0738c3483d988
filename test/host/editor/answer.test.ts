import assert from 'node:assert/strict';
import { StreamedAnswer } from '../../../src/host/editor/answer.ts';
import { type AnswerPiece, markdownOf, type PageContent } from '../../../src/host/pages.ts';
import { until } from '../support/wait.ts';

const piecesOf = (content: PageContent<never>) => ('pieces' in content ? content.pieces : []);

describe('an answer as Markdown', () => {
  function written(...parts: Parameters<StreamedAnswer['write']>[0][]): { shown: string[]; text: () => string } {
    const shown: string[] = [];
    const answer = new StreamedAnswer({
      show: (content) => shown.push(markdownOf(piecesOf(content))),
      closed: new AbortController().signal,
    });
    for (const part of parts) answer.write(part);
    return {
      shown,
      text: () => {
        answer.end();
        return shown.at(-1) ?? '';
      },
    };
  }

  const rows: readonly (readonly [string, Parameters<StreamedAnswer['write']>[0][], string])[] = [
    [
      'words as they are',
      [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: '**b**' },
      ],
      'a**b**',
    ],
    [
      'reasoning as a quotation of its own',
      [
        { kind: 'reasoning', text: 'x\ny' },
        { kind: 'reasoning', text: 'z' },
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
      ],
      '\n\n> x\n> yz\n\nab',
    ],
    [
      'its own lines in italics',
      [
        { kind: 'text', text: 'a' },
        { kind: 'line', text: 'Used f.' },
        { kind: 'text', text: 'b' },
      ],
      'a\n\n*Used f.*\n\nb',
    ],
    [
      'its own lines with nothing in them as markup',
      [{ kind: 'line', text: 'Used a_b_c: ![x](https://x.example/y) <img src=y>' }],
      '\n\n*Used a\\_b\\_c: \\!\\[x\\]\\(https://x.example/y\\) \\<img src=y\\>*\n\n',
    ],
    [
      'a line behind a quotation apart from it',
      [
        { kind: 'reasoning', text: 'x' },
        { kind: 'line', text: 'Used f.' },
        { kind: 'reasoning', text: 'y' },
      ],
      '\n\n> x\n\n*Used f.*\n\n\n\n> y',
    ],
    [
      'a line and a footer behind a block of code that was left open, and a quotation too',
      [
        { kind: 'text', text: '```js\nx' },
        { kind: 'line', text: 'Used f.' },
        { kind: 'text', text: '~~~~\ny' },
        { kind: 'reasoning', text: 'z' },
        { kind: 'text', text: '```\nw' },
        { kind: 'footer', text: 'Cut off.' },
      ],
      '```js\nx\n```\n\n*Used f.*\n\n~~~~\ny\n~~~~\n\n> z\n\n```\nw\n```\n\n*Cut off.*\n\n',
    ],
    [
      'a footer behind a block of code that is closed as it is',
      [
        { kind: 'text', text: '```\nx\n```' },
        { kind: 'footer', text: 'Done.' },
      ],
      '```\nx\n```\n\n*Done.*\n\n',
    ],
  ];
  for (const [title, parts, text] of rows) {
    it(`shows ${title}`, () => {
      assert.equal(written(...parts).text(), text);
    });
  }

  it('has lines of Rolecall’s own apart from a model’s words, which may look the same', () => {
    let pieces: readonly AnswerPiece[] = [];
    const answer = new StreamedAnswer({
      show: (content) => {
        pieces = piecesOf(content);
      },
      closed: new AbortController().signal,
    });
    answer.write({ kind: 'text', text: 'Done.\n\n*Used f.*\n\n```\nx' });
    answer.write({ kind: 'line', text: 'Used\nf.' });
    answer.write({ kind: 'text', text: '*Used f.*' });
    answer.end();
    assert.deepEqual(pieces, [
      { markdown: 'Done.\n\n*Used f.*\n\n```\nx' },
      { own: 'Used\nf.' },
      { markdown: '*Used f.*' },
    ]);
  });

  it('is laid out anew at most every 80 ms, whatever the number of its pieces', async () => {
    const { shown } = written(...Array.from({ length: 200 }, () => ({ kind: 'text', text: 'x' }) as const));
    assert.deepEqual(shown, []);
    await until('the first look', () => shown.length > 0);
    assert.deepEqual(shown, ['x'.repeat(200)]);
  });
});
