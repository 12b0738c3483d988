import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nextProbabilities, trainEngine, trainLanguageModel } from '../../../src/sandbox/inference/languageModel.ts';
import {
  applyPenalties,
  applyTemperature,
  type SamplingParameters,
  sampleToken,
  seededRandom,
  topPCandidates,
  topTokens,
} from '../../../src/sandbox/inference/sampler.ts';
import { Script } from '../../../src/sandbox/inference/script.ts';

const engine = trainEngine();
const { tokenizer, model } = engine;
const neutral: SamplingParameters = {
  temperature: 1,
  topP: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logitBias: new Map(),
};
const nothing: ReadonlyMap<number, number> = new Map();
const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

/** A distribution over a few tokens, none of them impossible. */
const distribution = fc
  .array(fc.integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 40 })
  .map((weights) => Float64Array.from(weights, (weight) => weight / weights.reduce((a, b) => a + b, 0)));
/** Any Unicode characters; fast-check's own unit for that takes a second to prepare. */
const character = fc.oneof(
  fc.integer({ min: 0, max: 0x10f7ff }).map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800)),
  fc.constantFrom(' ', '\n', '\t', 'a', 'the', ' role', 'é', '\u2028', '\ufeff', '\0', '👩‍🚀'),
);
const anyText = fc.array(character, { maxLength: 40 }).map((characters) => characters.join(''));
const history = fc.oneof(
  fc.array(fc.nat(tokenizer.size - 1), { maxLength: 8 }),
  fc.constantFrom('A role is a', 'The group', 'of the model', 'When').map((text) => tokenizer.encode(text)),
);

describe('sandbox inference: tokenizer', () => {
  it('gives back any Unicode text', () => {
    fc.assert(fc.property(anyText, (text) => assert.equal(tokenizer.decode(tokenizer.encode(text)), text)));
  });

  it('gives back text of words, white space and emoji', () => {
    const text = '  The role  of\ta group,\r\n\n— naïve 漢字 👩‍👩‍👧‍👦!  12345 \u2028end ';
    assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  });

  it('writes a lone surrogate as U+FFFD', () => {
    assert.equal(tokenizer.decode(tokenizer.encode('a\ud800b')), 'a\ufffdb');
  });

  it('has one token for a word of its training text with the space before it', () => {
    assert.equal(tokenizer.encode(' organization').length, 1);
  });

  it('spreads a character it has never seen over its UTF-8 bytes', () => {
    assert.deepEqual(tokenizer.encode('漢'), [...Buffer.from('漢')]);
  });

  it('has distinct bytes for every token, the end of the text excepted', () => {
    const seen = new Set<string>();
    for (let id = 0; id < tokenizer.size; id++) seen.add(Buffer.from(tokenizer.bytes(id)).toString('hex'));
    assert.equal(seen.size, tokenizer.size);
    assert.equal(tokenizer.bytes(tokenizer.endOfText).length, 0);
    assert.equal(tokenizer.bytes(tokenizer.size).length, 0);
  });
});

describe('sandbox inference: language model', () => {
  it('gives probabilities above zero that sum to one after any history', () => {
    fc.assert(
      fc.property(history, (ids) => {
        const { probabilities } = model.next(ids);
        near(total(probabilities), 1);
        assert.ok(probabilities.every((probability) => probability > 0));
      }),
    );
  });

  it('matches hand-computed interpolated Kneser-Ney values', () => {
    // Two texts, "0 1" and "0 2", with 3 as the end: tokens 0…3.
    const small = trainLanguageModel(
      [
        [0, 1],
        [0, 2],
      ],
      4,
      3,
    );
    // Shortest order: in how many contexts each token was new: 0 once, 1 once, 2 once, 3 twice (after 1 and after 2).
    const unigram = [0, 1, 2, 3].map((id) => ((id === 3 ? 2 : 1) - 0.75) / 5 + ((0.75 * 4) / 5) * (1 / 4));
    small.next([]).probabilities.forEach((value, id) => void near(value, unigram[id] ?? 0));
    // After 0 the tokens 1 and 2 each continue one context.
    const bigram = unigram.map((value, id) => (id === 1 || id === 2 ? 0.25 / 2 : 0) + 0.75 * value);
    small.next([0]).probabilities.forEach((value, id) => void near(value, bigram[id] ?? 0));
    assert.equal(small.next([0]).matched, 1);
    assert.equal(small.next([3, 3, 0]).matched, 3);
    assert.equal(small.next([2, 2, 2]).matched, 1);
  });

  it('finds a word of its training text more probable in its place than elsewhere', () => {
    const [group] = tokenizer.encode(' group') as [number];
    const at = (text: string): number => model.next(tokenizer.encode(text)).probabilities[group] ?? 0;
    assert.ok(at('A person who joins the') > 20 * at('The most probable'));
  });

  it('has a fingerprint that is the same for the same training text', () => {
    assert.match(engine.fingerprint, /^fp_[0-9a-f]{12}$/);
    assert.equal(trainEngine().fingerprint, engine.fingerprint);
  });
});

describe('sandbox inference: script', () => {
  it('is mixed with the language model into probabilities that sum to one', () => {
    fc.assert(
      fc.property(history, fc.string({ minLength: 1 }), (ids, text) =>
        near(total(nextProbabilities(model, ids, new Script([text], tokenizer))), 1),
      ),
    );
  });

  it('gives wordings equal probability until they part', () => {
    const script = new Script([['the same group', 'the same role', 'another']], tokenizer);
    const [the] = tokenizer.encode('the') as [number];
    near(script.next()?.get(the) ?? 0, 2 / 3);
    script.advance(the);
    const [same] = tokenizer.encode(' same') as [number];
    near(script.next()?.get(same) ?? 0, 1);
    script.advance(same);
    assert.equal(script.next()?.size, 2);
  });

  it('takes a token off the script for the planned one and goes on', () => {
    const script = new Script(['a role'], tokenizer);
    script.advance(0);
    const [role] = tokenizer.encode(' role') as [number];
    assert.deepEqual([...(script.next() ?? [])], [[role, 1]]);
    script.advance(role);
    assert.deepEqual([...(script.next() ?? [])], [[tokenizer.endOfText, 1]]);
    script.advance(65);
    assert.equal(script.next(), undefined);
  });

  it('refuses wordings of which one begins another', () => {
    assert.throws(() => new Script([['a role', 'a role of']], tokenizer), /begins another/);
  });
});

describe('sandbox inference: sampler', () => {
  const bias = (id: number, value: number): SamplingParameters => ({ ...neutral, logitBias: new Map([[id, value]]) });

  it('keeps a distribution whole under bias and penalties', () => {
    fc.assert(
      fc.property(
        distribution,
        fc.array(fc.tuple(fc.nat(1), fc.nat(9)), { maxLength: 2 }),
        fc.integer({ min: -100, max: 100 }),
        fc.double({ min: -2, max: 2, noNaN: true }),
        (probabilities, occurrences, biasValue, penalty) => {
          const parameters = { ...bias(0, biasValue), frequencyPenalty: penalty, presencePenalty: -penalty };
          const adjusted = applyPenalties(probabilities, new Map(occurrences), parameters);
          near(total(adjusted), 1);
        },
      ),
    );
  });

  it('leaves the distribution as it is when nothing is asked for', () => {
    fc.assert(
      fc.property(distribution, (probabilities) => {
        applyPenalties(probabilities, nothing, neutral).forEach(
          (value, id) => void near(value, probabilities[id] ?? 0),
        );
      }),
    );
  });

  it('temperature 0 takes the most probable token whatever chance says', () => {
    fc.assert(
      fc.property(
        distribution,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (probabilities, random) => {
          const chosen = sampleToken(probabilities, { temperature: 0, topP: 1 }, () => random);
          assert.equal(chosen, probabilities.indexOf(Math.max(...probabilities)));
        },
      ),
    );
  });

  it('temperature 1 and top_p 1 draw each token as often as it is probable', () => {
    const probabilities = Float64Array.of(0.5, 0.3, 0.2);
    const draws = 3000;
    const counts = [0, 0, 0];
    for (let draw = 0; draw < draws; draw++) {
      const id = sampleToken(probabilities, neutral, () => (draw + 0.5) / draws);
      counts[id] = (counts[id] ?? 0) + 1;
    }
    assert.deepEqual(counts, [1500, 900, 600]);
  });

  it('temperature sharpens below 1 and flattens above', () => {
    fc.assert(
      fc.property(distribution, fc.double({ min: 0.1, max: 2, noNaN: true }), (probabilities, temperature) => {
        const heated = applyTemperature(probabilities, temperature);
        near(total(heated), 1);
        const [best, before] = [Math.max(...heated), Math.max(...probabilities)];
        assert.ok(temperature < 1 ? best >= before - 1e-9 : best <= before + 1e-9);
      }),
    );
  });

  it('top_p keeps the smallest set of most probable tokens with that share', () => {
    fc.assert(
      fc.property(distribution, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (probabilities, topP) => {
        const kept = topPCandidates(probabilities, topP);
        const mass = (ids: number[]): number => ids.reduce((sum, id) => sum + (probabilities[id] ?? 0), 0);
        assert.ok(mass(kept) >= topP - 1e-9);
        assert.ok(mass(kept.slice(0, -1)) < topP);
        const left = [...probabilities.keys()].filter((id) => !kept.includes(id));
        const least = Math.min(...kept.map((id) => probabilities[id] ?? 0));
        assert.ok(left.every((id) => (probabilities[id] ?? 0) <= least));
      }),
    );
  });

  it('top_p never lets a token outside the nucleus be chosen', () => {
    fc.assert(
      fc.property(
        distribution,
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (probabilities, topP, random) => {
          const chosen = sampleToken(probabilities, { temperature: 1, topP }, () => random);
          assert.ok(topPCandidates(applyTemperature(probabilities, 1), topP).includes(chosen));
        },
      ),
    );
  });

  it('logit_bias -100 bans and 100 forces any token', () => {
    const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(distribution, fc.nat(1), randoms, (probabilities, id, random) => {
        assert.notEqual(
          sampleToken(applyPenalties(probabilities, nothing, bias(id, -100)), neutral, () => random),
          id,
        );
        assert.equal(
          sampleToken(applyPenalties(probabilities, nothing, bias(id, 100)), neutral, () => random),
          id,
        );
      }),
    );
  });

  it('both penalties lower a repeated token, the frequency penalty once for every time', () => {
    fc.assert(
      fc.property(
        distribution,
        fc.double({ min: 0.01, max: 2, noNaN: true }),
        fc.integer({ min: 1, max: 9 }),
        (p, penalty, times) => {
          const odds = (parameters: Partial<SamplingParameters>): number => {
            const [first = 0, second = 0] = applyPenalties(p, new Map([[0, times]]), { ...neutral, ...parameters });
            return Math.log(first) - Math.log(second);
          };
          near(odds({}) - odds({ presencePenalty: penalty }), penalty);
          near(odds({}) - odds({ frequencyPenalty: penalty }), penalty * times);
        },
      ),
    );
  });

  it('lists the most probable tokens in order', () => {
    fc.assert(
      fc.property(distribution, fc.nat(20), (probabilities, count) => {
        const sorted = [...probabilities.keys()].sort(
          (a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0) || a - b,
        );
        assert.deepEqual(topTokens(probabilities, count), sorted.slice(0, count));
      }),
    );
  });

  it('the same key gives the same numbers, another key others', () => {
    const numbers = (key: string): number[] => {
      const random = seededRandom(key);
      return Array.from({ length: 50 }, random);
    };
    assert.deepEqual(numbers('7'), numbers('7'));
    assert.notDeepEqual(numbers('7'), numbers('8'));
    assert.ok(numbers('7').every((number) => number >= 0 && number < 1));
    const many = Array.from({ length: 10_000 }, seededRandom('mean'));
    assert.ok(Math.abs(many.reduce((a, b) => a + b) / many.length - 0.5) < 0.02);
  });
});
