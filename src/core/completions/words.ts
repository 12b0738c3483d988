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
