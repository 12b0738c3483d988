import * as l10n from '@vscode/l10n';

/** The beginning of `text`, at most `length` UTF-16 units, without the first half of a character at its end. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff; // A high surrogate, whose low one is left out.
  return text.slice(0, isHalf ? length - 1 : length);
}

/** `text`, or as much of it as fits into `length` UTF-16 units with `…` behind it. */
export function truncateWithEllipsis(text: string, length: number): string {
  return text.length > length ? `${truncate(text, length - 1)}…` : text;
}

/** `ms` in words, rounded up to whole seconds. */
export function formatSeconds(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  return whole === 1 ? l10n.t('1 second') : l10n.t('{0} seconds', whole);
}

/** A number of tokens with separators. */
export function formatCount(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

/** `a, b and c`. */
export function formatList(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : l10n.t('{0} and {1}', items.slice(0, -1).join(', '), last);
}

/** The one among `candidates` that was probably meant; `undefined` if none is similar, or if it is the same. */
export function nearest<T extends string>(typed: string, candidates: Iterable<T>): T | undefined {
  const wanted = typed.toLowerCase();
  const limit = Math.min(3, Math.max(1, Math.floor(typed.length / 3)));
  let best: T | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    if (candidate === typed || Math.abs(candidate.length - typed.length) >= least) continue;
    const far = distance(wanted, candidate.toLowerCase(), least);
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/** A sentence about an unknown name, followed by what was probably meant. */
export function didYouMean(sentence: string, suggestion: string | undefined): string {
  return suggestion === undefined ? sentence : `${sentence} ${l10n.t('Did you mean "{0}"?', suggestion)}`;
}

/** Optimal string alignment distance; `limit` if it is that or more. */
function distance(one: string, other: string, limit: number): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  let before = row;
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change, swapped));
    }
    // A swap reaches over one row.
    if (Math.min(...next, ...row) >= limit) return limit;
    [before, row] = [row, next];
  }
  return row[other.length] ?? limit;
}

/** Orders texts by code units: the same on every machine, whatever its language. */
export function compareText(one: string, other: string): number {
  if (one < other) return -1;
  return one === other ? 0 : 1;
}

/** Text of a server on one line: control characters, line ends and turned writing directions become visible marks. */
export function oneLine(text: string): string {
  if (PRINTABLE.test(text)) return text;
  return text.replace(CONTROL, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Matches nearly every name, and is quick to test. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Cc, Cf (bidirectional marks among them), and the two line separators; the joiners of emoji are Cf and stay. */
const CONTROL = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Sentences one after another. The words of a server may end without a period. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences.map((sentence) => (/[.!?…]$/.test(sentence) ? sentence : `${sentence}.`)).join(' ');
}
