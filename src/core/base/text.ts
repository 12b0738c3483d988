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
