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
