import assert from 'node:assert/strict';
import type { ChosenToken } from '../../../../src/core/completions/completion.ts';
import { locateTokens, TokenLocator, TokenMarks } from '../../../../src/core/prompts/tokenProbabilities.ts';

const encoder = new TextEncoder();

function token(bytes: Uint8Array | string, chance = 0.5): ChosenToken {
  const list = typeof bytes === 'string' ? encoder.encode(bytes) : bytes;
  return { token: new TextDecoder().decode(list), logprob: Math.log(chance), bytes: [...list], topLogprobs: [] };
}

const pieces = (text: string, logprobs: readonly ChosenToken[]) =>
  locateTokens(text, logprobs).map(({ start, end }) => text.slice(start, end));

describe('the tokens of an answer', () => {
  it('stand where their text stands, in UTF-16 units', () => {
    const text = 'é😀 größer 한국';
    const tokens = ['é', '😀', ' grö', 'ßer', ' 한', '국'].map((each) => token(each));
    assert.deepEqual(pieces(text, tokens), ['é', '😀', ' grö', 'ßer', ' 한', '국']);
  });

  it('stand together where they spell one character, cut at every byte', () => {
    for (const character of ['é', '한', '😀']) {
      const bytes = encoder.encode(character);
      for (let cut = 1; cut < bytes.length; cut++) {
        const tokens = [token('a'), token(bytes.slice(0, cut), 0.5), token(bytes.slice(cut), 0.25), token('b')];
        const text = `a${character}b`;
        assert.deepEqual(pieces(text, tokens), ['a', character, 'b']);
        const place = locateTokens(text, tokens)[1];
        assert.equal(place?.tokens.length, 2);
        assert.ok(Math.abs((place?.probability ?? 0) - 0.125) < 1e-9, 'the product of its tokens');
      }
    }
  });

  it('are found as they arrive, each once, however they are cut', () => {
    const text = 'a😀bé';
    const tokens = [...encoder.encode(text)].map((byte) => token(Uint8Array.of(byte)));
    for (const size of [1, 2, 3, tokens.length]) {
      const locator = new TokenLocator();
      const found: string[] = [];
      for (let at = 0; at < tokens.length; at += size) {
        for (const { start, end } of locator.add(tokens.slice(at, at + size))) found.push(text.slice(start, end));
      }
      for (const { start, end } of locator.end()) found.push(text.slice(start, end));
      assert.deepEqual(found, ['a', '😀', 'b', 'é'], String(size));
      assert.equal(locator.places.length, 4);
      assert.ok(Math.abs((locator.perplexity ?? 0) - 2) < 1e-9);
    }
  });

  it('without bytes stand by their text', () => {
    const { bytes: _, ...bare } = token('ab');
    assert.deepEqual(pieces('abc', [bare, token('c')]), ['ab', 'c']);
  });

  it('have no place where they do not spell the answer', () => {
    assert.deepEqual(pieces('Hello', [token('Good'), token('bye')]), []);
    assert.deepEqual(pieces('Hi', [token('Hi'), token('END')]), ['Hi'], 'a stop text is cut off');
    assert.deepEqual(pieces('Hi', [token(''), token('Hi')]), ['Hi'], 'a token without text');
    assert.deepEqual(pieces('', []), []);
  });

  it('have a perplexity', () => {
    const perplexity = (tokens: readonly ChosenToken[]) => {
      const locator = new TokenLocator();
      locator.add(tokens);
      return locator.perplexity;
    };
    assert.equal(perplexity([]), undefined);
    assert.equal(perplexity([token('a', 1)]), 1);
    assert.ok(Math.abs((perplexity([token('a', 0.25), token('b', 0.25)]) ?? 0) - 4) < 1e-9);
    assert.ok((perplexity([{ ...token('a'), logprob: -9999 }]) ?? 0) > 1e100, 'what servers send for never');
  });
});

describe('the marks of an answer', () => {
  const rows: readonly [what: string, tokens: readonly (readonly [string, number])[], wanted: readonly string[]][] = [
    ['certain ones stay as they are', [['Paris', 0.95]], []],
    [
      'each by how likely it is',
      [
        ['a', 0.6],
        ['b', 0.4],
        ['c', 0.1],
      ],
      ['0 0:0-0:1', '1 0:1-0:2', '2 0:2-0:3'],
    ],
    [
      'without the blanks around them',
      [
        [' city', 0.1],
        ['\n\n', 0.1],
      ],
      ['2 0:1-0:5'],
    ],
    [
      'behind line breaks of every kind',
      [
        ['a\r\nb\nc\r', 0.99],
        ['🙂d', 0.3],
      ],
      ['1 3:0-3:3'],
    ],
  ];
  for (const [what, tokens, wanted] of rows) {
    it(`are: ${what}`, () => {
      const locator = new TokenLocator();
      const marks = new TokenMarks(locator.places);
      let text = '';
      for (const [piece, likely] of tokens) {
        text += piece;
        locator.add([token(piece, likely)]);
        marks.update(text);
      }
      const found = marks.blocks.flatMap((block) =>
        block.flatMap((level, index) =>
          level.map(({ start, end }) => `${index} ${start.line}:${start.column}-${end.line}:${end.column}`),
        ),
      );
      assert.deepEqual(found, wanted);
    });
  }

  it('wait until their text is shown, and change only in the last block', () => {
    const locator = new TokenLocator();
    const marks = new TokenMarks(locator.places);
    locator.add(Array.from({ length: 1000 }, () => token('ab ', 0.1)));
    const text = 'ab '.repeat(1000);
    marks.update(text, 10);
    assert.equal(marks.blocks.flat(2).length, 3);
    marks.update(text, 2000);
    const before = marks.blocks.map((block) => block.map((level) => [...level]));
    marks.update(text);
    assert.deepEqual(marks.blocks.slice(0, before.length - 1), before.slice(0, -1));
    assert.ok(before.length > 2 && marks.blocks.every((block) => block.flat().length <= 100));
    assert.equal(marks.blocks.flat(2).length, 1000);
  });
});
