/** The beginning of `text`, at most `length` UTF-16 units, without the first half of a character at its end. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff; // A high surrogate, whose low one is left out.
  return text.slice(0, isHalf ? length - 1 : length);
}

/** `text`, or as much of it as fits into `length` UTF-16 units with `…` behind it. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${cutText(text, length - 1)}…` : text;
}

/** `ms` as a person says it, rounded up to whole seconds. */
export function seconds(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}

/** A number of tokens with separators. */
export function count(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

/** `a, b and c`. */
export function list(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
