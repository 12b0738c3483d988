/**
 * A small but real language model: interpolated Kneser-Ney over token ids, up to four tokens long (three of context).
 *
 * p(w | h) = max(count(h w) - D, 0) / total(h) + D · types(h) / total(h) · p(w | h without its first token)
 *
 * The longest order counts occurrences, the shorter ones count in how many different contexts a token was seen (Kneser
 * and Ney 1995; Chen and Goodman 1998); under the shortest lies the uniform distribution, so every token always has a
 * probability above zero and the whole sums to one.
 */
export interface LanguageModel {
  /** Probabilities of every token id after `history`; `matched` is how many tokens of context were known (0…3). */
  next(history: readonly number[]): { probabilities: Float64Array; matched: number };
}

interface Context {
  total: number;
  readonly counts: Map<number, number>;
}

type Contexts = Map<number, Context>;

const order = 4;
const discount = 0.75;

/** `texts` are token ids without an end; `size` is the number of token ids and `endOfText` one of them. */
export function trainLanguageModel(texts: Iterable<readonly number[]>, size: number, endOfText: number): LanguageModel {
  const key = (context: readonly number[]): number => context.reduce((sum, id) => sum * size + id, 0);
  const tables: Contexts[] = Array.from({ length: order }, () => new Map());
  const add = (length: number, context: readonly number[], token: number): boolean => {
    const table = tables[length] as Contexts;
    const contextKey = key(context);
    let entry = table.get(contextKey);
    if (!entry) {
      entry = { total: 0, counts: new Map() };
      table.set(contextKey, entry);
    }
    const seen = entry.counts.get(token) ?? 0;
    entry.counts.set(token, seen + 1);
    entry.total++;
    return seen === 0;
  };
  // A shorter order learns of a token only when the order above it sees something new: that is its continuation count.
  const learn = (context: readonly number[], token: number): void => {
    for (let length = order - 1; length >= 0; length--)
      if (!add(length, context.slice(context.length - length), token)) return;
  };
  for (const text of texts) {
    const padded = [...Array<number>(order - 1).fill(endOfText), ...text, endOfText];
    for (let index = order - 1; index < padded.length; index++)
      learn(padded.slice(index - order + 1, index), padded[index] as number);
  }

  return {
    next(history) {
      const probabilities = new Float64Array(size).fill(1 / size);
      let matched = 0;
      for (let length = 0; length < order && length <= history.length; length++) {
        const context = tables[length]?.get(key(history.slice(history.length - length)));
        if (!context) break;
        const share = (discount * context.counts.size) / context.total;
        for (let id = 0; id < size; id++) probabilities[id] = (probabilities[id] ?? 0) * share;
        for (const [id, count] of context.counts)
          probabilities[id] = (probabilities[id] ?? 0) + (count - discount) / context.total;
        matched = length;
      }
      return { probabilities, matched };
    },
  };
}
