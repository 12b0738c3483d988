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

/** The distribution after bias and penalties; `occurrences` counts the tokens of the answer so far. */
export function applyPenalties(
  probabilities: Float64Array,
  occurrences: ReadonlyMap<number, number>,
  { logitBias, presencePenalty, frequencyPenalty }: SamplingParameters,
): Float64Array {
  /** Added to log-probabilities: of a few tokens among many, so that only theirs are calculated. */
  const changes = new Map<number, number>();
  for (const [id, bias] of logitBias) changes.set(id, absolute.get(bias) ?? bias);
  if (presencePenalty !== 0 || frequencyPenalty !== 0)
    for (const [id, count] of occurrences)
      changes.set(id, (changes.get(id) ?? 0) - presencePenalty - frequencyPenalty * count);
  if (changes.size === 0) return probabilities;

  const adjusted = probabilities.slice();
  const scores = [...changes].map(([id, change]) => ({ id, score: Math.log(probabilities[id] ?? 0) + change }));
  for (const { id } of scores) adjusted[id] = 0;
  // Divided by the highest, nothing overflows, and not everything becomes 0.
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
  for (let at = 0; at < values.length; at++) values[at] = (values[at] ?? 0) * factor;
}

/** Chooses a token id; `random` gives a number in [0, 1). */
export function sampleToken(
  probabilities: Float64Array,
  { temperature, topP }: Pick<SamplingParameters, 'temperature' | 'topP'>,
  random: () => number,
): number {
  if (temperature === 0) return topTokens(probabilities, 1)[0] ?? 0;
  const heated = applyTemperature(probabilities, temperature);
  const candidates = topP < 1 ? topPCandidates(heated, topP) : undefined;
  const count = candidates?.length ?? heated.length;
  const idAt = (place: number): number => (candidates ? (candidates[place] ?? 0) : place);
  let mass = 0;
  for (let place = 0; place < count; place++) mass += heated[idAt(place)] ?? 0;
  let target = random() * mass;
  let last = idAt(0);
  for (let place = 0; place < count; place++) {
    const probability = heated[idAt(place)] ?? 0;
    if (probability === 0) continue;
    last = idAt(place);
    target -= probability;
    if (target < 0) break;
  }
  return last;
}

/** The distribution sharpened (below 1) or flattened (above 1) by a temperature above 0; sums to one. */
export function applyTemperature(probabilities: Float64Array, temperature: number): Float64Array {
  if (temperature === 1) return probabilities;
  const best = highest(probabilities);
  const heated = probabilities.slice();
  let [before, power] = [0, 0];
  for (let id = 0; id < heated.length; id++) {
    const probability = heated[id] ?? 0;
    // Most tokens are equally improbable, and a power takes long.
    if (probability !== before) [before, power] = [probability, (probability / best) ** (1 / temperature)];
    heated[id] = power;
  }
  scale(heated, 1 / sumOf(heated));
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
export function topTokens(probabilities: Float64Array, count: number): number[] {
  const best: number[] = [];
  if (count <= 0) return best;
  const value = (id: number | undefined): number => probabilities[id ?? -1] ?? Number.NEGATIVE_INFINITY;
  for (let id = 0; id < probabilities.length; id++) {
    if (best.length === count && value(id) <= value(best[count - 1])) continue;
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
