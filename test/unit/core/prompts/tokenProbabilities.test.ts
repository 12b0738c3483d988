import assert from 'node:assert/strict';
import type { ChosenToken } from '../../../../src/core/completions/completion.ts';
import {
  leastCertain,
  locateTokens,
  perplexity,
  TokenLocator,
} from '../../../../src/core/prompts/tokenProbabilities.ts';

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
    assert.equal(perplexity([]), undefined);
    assert.equal(perplexity([token('a', 1)]), 1);
    assert.ok(Math.abs((perplexity([token('a', 0.25), token('b', 0.25)]) ?? 0) - 4) < 1e-9);
    assert.ok((perplexity([{ ...token('a'), logprob: -9999 }]) ?? 0) > 1e100, 'what servers send for never');
  });

  it('are least certain in order', () => {
    const places = locateTokens('abcd', [token('a', 0.4), token('b', 0.1), token('c', 0.9), token('d', 0.4)]);
    assert.deepEqual(
      leastCertain(places, 2).map(({ start }) => start),
      [1, 0],
    );
    assert.equal(leastCertain(places, 10).length, 3);
  });
});
