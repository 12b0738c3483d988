import assert from 'node:assert/strict';
import { groupTokens, type Logprobs, probability, readLogprobs } from '../../../../src/core/completions/completion.ts';
import { bytes, play, stream } from './playAnswer.ts';

/** Tokens of these bytes; the text of an incomplete one is what services send for it. */
function tokens(...parts: readonly (readonly number[])[]): Logprobs {
  return parts.map((part) => ({
    token: new TextDecoder().decode(Uint8Array.from(part)),
    logprob: -1,
    bytes: part,
    topLogprobs: [],
  }));
}

const tokensToText = (logprobs: Logprobs) =>
  groupTokens(logprobs)
    .map(({ text }) => text)
    .join('');
const groups = (logprobs: Logprobs) => groupTokens(logprobs).map(({ text, tokens }) => [text, tokens.length]);

describe('logprobs', () => {
  it('joins the bytes of a character that is spread over tokens, at every cut', () => {
    for (const character of ['é', '€', '😀']) {
      const all = [...bytes(`a${character}b`)];
      for (let from = 1; from < all.length; from++) {
        for (let to = from; to < all.length; to++) {
          const parts = [all.slice(0, from), all.slice(from, to), all.slice(to)].filter((part) => part.length > 0);
          const logprobs = tokens(...parts);
          assert.equal(tokensToText(logprobs), `a${character}b`, `${character} cut at ${from} and ${to}`);
          assert.deepEqual(
            groupTokens(logprobs).flatMap((group) => group.tokens),
            logprobs,
            'no token is lost',
          );
        }
      }
    }
  });

  it('are read of the text and of a refusal', () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: null, top_logprobs: [] });
    const read = readLogprobs({ content: [entry('a')], refusal: [entry('b')] });
    assert.deepEqual(
      read?.map(({ token }) => token),
      ['a', 'b'],
    );
    assert.equal(readLogprobs({ content: null, refusal: [entry('b')] })?.length, 1);
    assert.equal(readLogprobs({ content: null, refusal: null }), undefined);
  });

  it('groups only the tokens of one character', () => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes('😀');
    assert.deepEqual(groups(tokens([0x48], [0x69], [a, b], [c], [d], [0x21])), [
      ['H', 1],
      ['i', 1],
      ['😀', 3],
      ['!', 1],
    ]);
  });

  it('does not let a broken character swallow what follows', () => {
    const [a = 0, b = 0] = bytes('😀');
    assert.deepEqual(groups(tokens([a, b], [0x41], [0x42])), [
      ['\uFFFD', 1],
      ['A', 1],
      ['B', 1],
    ]);
    assert.deepEqual(groups(tokens([0x80], [0x41])), [
      ['\uFFFD', 1],
      ['A', 1],
    ]);
    assert.deepEqual(groups(tokens([a])), [['\uFFFD', 1]]);
    assert.deepEqual(groups(tokens([], [0x41])), [
      ['', 1],
      ['A', 1],
    ]);
  });

  it('takes the text of a token without bytes, and keeps a byte order mark that is a token', () => {
    const [cut] = tokens([0xf0]);
    const plain = { token: 'x', logprob: -1, topLogprobs: [] };
    assert.deepEqual(groups([...(cut ? [cut] : []), plain]), [
      ['\uFFFD', 1],
      ['x', 1],
    ]);
    assert.equal(tokensToText(tokens([0xef, 0xbb, 0xbf], [0x41])), '\uFEFFA');
  });

  it('reads several entries with their alternatives, and leaves out what is none', () => {
    const entry = { token: 'a', logprob: -0.5, bytes: [97] };
    const other = { token: 'b', logprob: -9999, bytes: null };
    assert.deepEqual(
      readLogprobs({ content: [{ ...entry, top_logprobs: [entry, other, null, { token: 'c' }] }, other] }),
      [
        { ...entry, topLogprobs: [entry, { token: 'b', logprob: -9999 }] },
        { token: 'b', logprob: -9999, topLogprobs: [] },
      ],
    );
    for (const bad of [[256], [-1], [1.5], ['a'], 'a']) {
      assert.deepEqual(readLogprobs({ content: [{ ...entry, bytes: bad }] }), [
        { token: 'a', logprob: -0.5, topLogprobs: [] },
      ]);
    }
    for (const none of [null, {}, [], { content: null }, { content: [] }, { content: [{ token: 'a' }, null] }]) {
      assert.equal(readLogprobs(none), undefined);
    }
  });

  it('says how likely a token was, 0 to 1', () => {
    const at = (logprob: number) => probability({ token: 'a', logprob });
    assert.equal(at(0), 1);
    assert.equal(at(-9999), 0);
    assert.ok(Math.abs(at(Math.log(0.25)) - 0.25) < 1e-12);
    assert.equal(at(1e-7), 1);
  });

  it('collects them over the chunks of a stream, a character over two chunks included', async () => {
    const body = stream(
      '{"choices":[{"index":0,"delta":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":0,"bytes":[65],"top_logprobs":[]},{"token":"\uFFFD","logprob":-0.1,"bytes":[226,130],"top_logprobs":[]}]}}]}',
      '{"choices":[{"index":0,"delta":{"content":"€"},"logprobs":{"content":[{"token":"\uFFFD","logprob":-0.2,"bytes":[172],"top_logprobs":[]}]},"finish_reason":"stop"}]}',
      '[DONE]',
    );
    const { completion, events } = await play({ packets: [bytes(body)] }, { logprobs: true });
    const logprobs = completion?.choices[0]?.logprobs ?? [];
    assert.equal(tokensToText(logprobs), 'A€');
    assert.deepEqual(
      logprobs.map(({ logprob }) => logprob),
      [0, -0.1, -0.2],
    );
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'logprobs' ? event.logprobs : [])),
      logprobs,
    );
  });
});
