/** Text of a server on one line: control characters, line ends and turned writing directions become visible marks. */
export function oneLine(text: string): string {
  if (PRINTABLE.test(text)) return text;
  return text.replace(CONTROL, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Covers nearly every name, and is quick to test. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Cc, Cf (bidirectional marks among them), and the two line separators; the joiners of emoji are Cf and stay. */
const CONTROL = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu;
