import { createHash } from 'node:crypto';
import { corpus } from './corpus.ts';
import { type LanguageModel, trainLanguageModel } from './ngram.ts';
import type { Script } from './script.ts';
import { buildTokenizer, type Tokenizer } from './tokenizer.ts';
import { textsOfGuide } from './topics.ts';

/** The trained model with its tokenizer. */
export interface Engine {
  readonly tokenizer: Tokenizer;
  readonly model: LanguageModel;
  /** Changes when the model, and so the answer to the same seed, may change (`system_fingerprint`). */
  readonly fingerprint: string;
}

/** To be raised when the code that writes answers changes what the same seed gives. */
const generation = 2;

/** Trains on the shipped text and on what the guide itself says. */
export function trainEngine(): Engine {
  const texts = [...corpus, ...textsOfGuide];
  const tokenizer = buildTokenizer(texts);
  const model = trainLanguageModel(
    texts.map((text) => tokenizer.encode(text)),
    tokenizer.size,
    tokenizer.endOfText,
  );
  const digest = createHash('sha256')
    .update(`${generation}\n${texts.join('\n')}`)
    .digest('hex');
  return { tokenizer, model, fingerprint: `fp_${digest.slice(0, 12)}` };
}

const leastListening = 0.01;
const moreListening = 0.02;

/**
 * The distribution a model writes from. Without a script it is the n-gram model's. With one it is a mixture: the
 * script's own, and a share of 1 to 7 % of the n-gram model's, more the more context that model knows.
 */
export function nextProbabilities(model: LanguageModel, history: readonly number[], script?: Script): Float64Array {
  const { probabilities, matched } = model.next(history);
  const planned = script?.next();
  if (!planned) return probabilities;
  const share = leastListening + moreListening * matched;
  const mixed = probabilities.map((probability) => probability * share);
  for (const [id, weight] of planned) mixed[id] = (mixed[id] ?? 0) + (1 - share) * weight;
  return mixed;
}
