import type { TokenEntry } from './choice.ts';

/** A stretch of finished text with the tokens it was made of. */
export interface Stretch {
  readonly text: string;
  readonly entries: readonly TokenEntry[];
  /** The stop string that ended the text; it is not part of `text`. */
  readonly stop?: string;
}

/**
 * Looks for stop strings in text that arrives token by token. Text that may be the beginning of a stop string is held
 * back, together with its token, until that is decided.
 */
export class StopScanner {
  readonly #stops: readonly string[];
  #held: { text: string; entry: TokenEntry }[] = [];

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Takes one more token; gives what is now certain, possibly nothing. */
  push(text: string, entry: TokenEntry): Stretch {
    this.#held.push({ text, entry });
    const waiting = this.#held.map((held) => held.text).join('');
    const found = this.#stops
      .map((stop) => ({ stop, at: waiting.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (found) return { ...this.#cut(found.at), stop: found.stop };
    return this.#release(waiting.length - this.#undecided(waiting));
  }

  /** Gives what is still held: the text ends here, so it cannot become a stop string any more. */
  flush(): Stretch {
    return this.#release(Number.POSITIVE_INFINITY);
  }

  /** How many characters at the end of `text` begin a stop string. */
  #undecided(text: string): number {
    let longest = 0;
    for (const stop of this.#stops)
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length--)
        if (text.endsWith(stop.slice(0, length))) longest = length;
    return longest;
  }

  /** The tokens that lie wholly before `end`. */
  #release(end: number): Stretch {
    let position = 0;
    let count = 0;
    for (const { text } of this.#held) {
      if (position + text.length > end) break;
      position += text.length;
      count++;
    }
    const released = this.#held.splice(0, count);
    return { text: released.map(({ text }) => text).join(''), entries: released.map(({ entry }) => entry) };
  }

  /** The text up to `end`, with every token that begins before it: the last one may reach into the stop string. */
  #cut(end: number): Stretch {
    let text = '';
    const entries: TokenEntry[] = [];
    for (const held of this.#held) {
      if (text.length >= end) break;
      text += held.text;
      entries.push(held.entry);
    }
    this.#held = [];
    return { text: text.slice(0, end), entries };
  }
}
