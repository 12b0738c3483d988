import { createHash } from 'node:crypto';

/**
 * How a token is chosen by its probability.
 *
 * First, logit bias and penalties change the distribution, which is then normalized. `logprobs` reports this
 * distribution. Temperature and `top_p` only affect the choice, so that even at temperature 0, `logprobs` shows how
 * certain the model was.
 */
export interface SamplingParameters {
  /** 0 chooses the most probable token (the lowest id if several are equal), 1 samples the unchanged distribution. */
  readonly temperature: number;
  /** Only samples the smallest set of most probable tokens whose probabilities add up to at least this value. */
  readonly topP: number;
  /** Subtracted from the log-probability of a token for each of its occurrences in this answer. */
  readonly frequencyPenalty: number;
  /** Subtracted once from the log-probability of a token that has occurred in this answer. */
  readonly presencePenalty: number;
  /** Added to log-probabilities, by token id. -100 bans a token, 100 bans all tokens that do not have it. */
  readonly logitBias: ReadonlyMap<number, number>;
}

/** The minimum of reported log-probabilities, which comparable services report instead of minus infinity. */
export const lowestLogprob = -9999;

/** The limits of the bias are absolute: finite, but so far apart that the lower probability is exactly 0. */
const absoluteBiases: ReadonlyMap<number, number> = new Map([
  [-100, -1e6],
  [100, 1e6],
]);

/** Applies bias and penalties. @param occurrences how often each token occurs in the answer so far. */
export function applyPenalties(
  probabilities: Float64Array,
  occurrences: ReadonlyMap<number, number>,
  { logitBias, presencePenalty, frequencyPenalty }: SamplingParameters,
): Float64Array {
  /** Values to add to log-probabilities. Only a few tokens have one, and only their logarithms are computed. */
  const changes = new Map<number, number>();
  for (const [id, bias] of logitBias) changes.set(id, absoluteBiases.get(bias) ?? bias);
  if (presencePenalty !== 0 || frequencyPenalty !== 0)
    for (const [id, count] of occurrences)
      changes.set(id, (changes.get(id) ?? 0) - presencePenalty - frequencyPenalty * count);
  if (changes.size === 0) return probabilities;

  const adjusted = probabilities.slice();
  const scores = [...changes].map(([id, change]) => ({ id, score: Math.log(probabilities[id] ?? 0) + change }));
  for (const { id } of scores) adjusted[id] = 0;
  // Divide by the highest value, so that nothing overflows and not all values become 0.
  const best = Math.max(Math.log(highest(adjusted)), ...scores.map(({ score }) => score));
  scale(adjusted, Math.exp(-best));
  for (const { id, score } of scores) adjusted[id] = Math.exp(score - best);
  scale(adjusted, 1 / sumOf(adjusted));
  return adjusted;
}

function highest(values: Float64Array): number {
  let best = 0;
  for (const value of values) if (value > best) best = value;
  return best;
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

function scale(values: Float64Array, factor: number): void {
  for (let index = 0; index < values.length; index++) values[index] = (values[index] ?? 0) * factor;
}

/** Chooses a token id. @param random returns a number in [0, 1). */
export function sampleToken(
  probabilities: Float64Array,
  { temperature, topP }: Pick<SamplingParameters, 'temperature' | 'topP'>,
  random: () => number,
): number {
  if (temperature === 0) return topTokens(probabilities, 1)[0] ?? 0;
  const distribution = applyTemperature(probabilities, temperature);
  const candidates = topP < 1 ? topPCandidates(distribution, topP) : undefined;
  const count = candidates?.length ?? distribution.length;
  const idAt = (index: number): number => (candidates ? (candidates[index] ?? 0) : index);
  let mass = 0;
  for (let index = 0; index < count; index++) mass += distribution[idAt(index)] ?? 0;
  let target = random() * mass;
  let last = idAt(0);
  for (let index = 0; index < count; index++) {
    const probability = distribution[idAt(index)] ?? 0;
    if (probability === 0) continue;
    last = idAt(index);
    target -= probability;
    if (target < 0) break;
  }
  return last;
}

/** Sharpens (below 1) or flattens (above 1) the distribution by a temperature above 0. The result adds up to one. */
export function applyTemperature(probabilities: Float64Array, temperature: number): Float64Array {
  if (temperature === 1) return probabilities;
  const best = highest(probabilities);
  const distribution = probabilities.slice();
  let [previous, power] = [0, 0];
  for (let id = 0; id < distribution.length; id++) {
    const probability = distribution[id] ?? 0;
    // Computing a power is slow, and most tokens have the same low probability.
    if (probability !== previous) [previous, power] = [probability, (probability / best) ** (1 / temperature)];
    distribution[id] = power;
  }
  scale(distribution, 1 / sumOf(distribution));
  return distribution;
}

/** The smallest set of most probable ids whose probabilities add up to at least `topP`, most probable first. */
export function topPCandidates(probabilities: Float64Array, topP: number): number[] {
  // The ids below this bound have less than 1 - topP together, so none is in the set and they need not be sorted.
  const bound = (1 - topP) / probabilities.length;
  const candidates: number[] = [];
  for (let id = 0; id < probabilities.length; id++) if ((probabilities[id] ?? 0) >= bound) candidates.push(id);
  candidates.sort((a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0) || a - b);
  let sum = 0;
  let size = 0;
  while (size < candidates.length && sum < topP) sum += probabilities[candidates[size++] ?? 0] ?? 0;
  return candidates.slice(0, Math.max(size, 1));
}

/** The `count` most probable ids, most probable first. Ids of equal probability are in ascending order. */
export function topTokens(probabilities: Float64Array, count: number): number[] {
  const best: number[] = [];
  if (count <= 0) return best;
  const value = (id: number | undefined): number => probabilities[id ?? -1] ?? Number.NEGATIVE_INFINITY;
  for (let id = 0; id < probabilities.length; id++) {
    if (best.length === count && value(id) <= value(best[count - 1])) continue;
    let index = best.length;
    while (index > 0 && value(id) > value(best[index - 1])) index--;
    best.splice(index, 0, id);
    if (best.length > count) best.pop();
  }
  return best;
}

/** A generator of numbers in [0, 1), which are always the same for the same key (sfc32, public domain). */
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
