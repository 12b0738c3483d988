import { createHash } from 'node:crypto';

/**
 * From probabilities to a chosen token.
 *
 * Order of work: logit bias and penalties change the distribution, which is then normalised again. That distribution is
 * what `logprobs` report: temperature and top_p only say how the choice is made from it and leave the report as it is,
 * so a temperature of 0 still shows how sure the model was.
 */
export interface SamplingParameters {
  /** 0 takes the most probable token (of equals the lowest id); 1 samples the distribution as it is. */
  readonly temperature: number;
  /** Sampling keeps the smallest set of most probable tokens that has at least this share of the probability. */
  readonly topP: number;
  /** Subtracted from a token's log-probability once per earlier occurrence in this answer. */
  readonly frequencyPenalty: number;
  /** Subtracted once from a token that occurred in this answer. */
  readonly presencePenalty: number;
  /** Added to the log-probability, by token id; -100 bans a token, 100 leaves only tokens that have it. */
  readonly logitBias: ReadonlyMap<number, number>;
}

/** The floor of every reported log-probability (what servers of this family write for minus infinity). */
export const lowestLogprob = -9999;

/** The ends of the scale are meant absolutely: so far apart that the probability is exactly 0, yet not infinite. */
const absolute: ReadonlyMap<number, number> = new Map([
  [-100, -1e6],
  [100, 1e6],
]);

/** Normalised log-probabilities after bias and penalties; `occurrences` counts the tokens of the answer so far. */
export function applyPenalties(
  probabilities: Float64Array,
  occurrences: ReadonlyMap<number, number>,
  parameters: SamplingParameters,
): Float64Array {
  const scores = probabilities.map(Math.log);
  for (const [id, bias] of parameters.logitBias) scores[id] = (scores[id] ?? 0) + (absolute.get(bias) ?? bias);
  for (const [id, count] of occurrences)
    scores[id] = (scores[id] ?? 0) - parameters.presencePenalty - parameters.frequencyPenalty * count;
  const best = highest(scores);
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - best);
  const normaliser = best + Math.log(sum);
  for (let id = 0; id < scores.length; id++) scores[id] = (scores[id] ?? 0) - normaliser;
  return scores;
}

function highest(values: Float64Array): number {
  let best = Number.NEGATIVE_INFINITY;
  for (const value of values) if (value > best) best = value;
  return best;
}

/** Chooses a token id; `random` gives a number in [0, 1). */
export function sampleToken(
  logProbabilities: Float64Array,
  parameters: Pick<SamplingParameters, 'temperature' | 'topP'>,
  random: () => number,
): number {
  if (parameters.temperature === 0) return topTokens(logProbabilities, 1)[0] ?? 0;
  const heated = applyTemperature(logProbabilities, parameters.temperature);
  const candidates = parameters.topP < 1 ? topPCandidates(heated, parameters.topP) : [...heated.keys()];
  let mass = 0;
  for (const id of candidates) mass += heated[id] ?? 0;
  let target = random() * mass;
  let last = candidates[0] ?? 0;
  for (const id of candidates) {
    const probability = heated[id] ?? 0;
    if (probability === 0) continue;
    last = id;
    target -= probability;
    if (target < 0) break;
  }
  return last;
}

/** The distribution sharpened (below 1) or flattened (above 1) by a temperature above 0; sums to one. */
export function applyTemperature(logProbabilities: Float64Array, temperature: number): Float64Array {
  const best = highest(logProbabilities);
  const heated = new Float64Array(logProbabilities.length);
  let sum = 0;
  for (let id = 0; id < heated.length; id++) {
    const value = Math.exp(((logProbabilities[id] ?? best) - best) / temperature);
    heated[id] = value;
    sum += value;
  }
  for (let id = 0; id < heated.length; id++) heated[id] = (heated[id] ?? 0) / sum;
  return heated;
}

/** The smallest set of most probable ids whose probabilities add up to at least `topP`, most probable first. */
export function topPCandidates(probabilities: Float64Array, topP: number): number[] {
  // Ids below this bound have less than 1 - topP together, so none of them can be in the set: no need to sort them.
  const bound = (1 - topP) / probabilities.length;
  const candidates: number[] = [];
  for (let id = 0; id < probabilities.length; id++) if ((probabilities[id] ?? 0) >= bound) candidates.push(id);
  candidates.sort((a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0) || a - b);
  let sum = 0;
  let size = 0;
  while (size < candidates.length && sum < topP) sum += probabilities[candidates[size++] ?? 0] ?? 0;
  return candidates.slice(0, Math.max(size, 1));
}

/** The `count` most probable ids, most probable first; of equals the lowest id first. */
export function topTokens(logProbabilities: Float64Array, count: number): number[] {
  const best: number[] = [];
  const value = (id: number | undefined): number => logProbabilities[id ?? -1] ?? Number.NEGATIVE_INFINITY;
  for (let id = 0; id < logProbabilities.length; id++) {
    if (count <= 0 || (best.length === count && value(id) <= value(best[count - 1]))) continue;
    let place = best.length;
    while (place > 0 && value(id) > value(best[place - 1])) place--;
    best.splice(place, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}

/** A source of numbers in [0, 1); the same key always gives the same numbers, on every machine (sfc32, public domain). */
export function seededRandom(key: string): () => number {
  const digest = createHash('sha256').update(key).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
}
