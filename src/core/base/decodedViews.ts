/** A text with some of its escapes resolved. */
export interface DecodedView {
  readonly text: string;
  /** The offset of each character in the original, followed by the length of the original. */
  readonly from: Uint32Array;
}

/** Deeper nesting is not resolved. Each round resolves one level of each kind of escape. */
const MAX_ROUNDS = 5;

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** One level of each kind: in addresses and forms, in JSON and source text, in pages. Bytes beyond ASCII stay apart. */
const ESCAPES: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/%([\da-f]{2})/gi, ([, byte = '']) => String.fromCharCode(Number.parseInt(byte, 16))],
  [
    /\\(?:u([\da-f]{4})|u\{0*([\da-f]{1,4})\}|x([\da-f]{2})|([\s\S]))/gi,
    ([, unit, braced, byte, other = '']) =>
      other ? (CONTROLS[other] ?? other) : String.fromCharCode(Number.parseInt(unit ?? braced ?? byte ?? '', 16)),
  ],
  [
    /&(?:#0*(\d{1,3})|#x0*([\da-f]{1,2})|(amp|lt|gt|quot|apos));/gi,
    ([, decimal, hex, name]) =>
      name
        ? (ENTITIES[name.toLowerCase()] ?? '')
        : String.fromCharCode(decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16)),
  ],
];

/** The text as it stands, and after each level of escapes that is resolved. */
export function* decodedViews(text: string): Generator<DecodedView, void, undefined> {
  const from = new Uint32Array(text.length + 1);
  for (let at = 0; at < from.length; at += 1) from[at] = at;
  let view: DecodedView = { text, from };
  yield view;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = view;
    for (const [pattern, decode] of ESCAPES) {
      const next = decoded(view, pattern, decode);
      if (next === view) continue;
      view = next;
      yield view;
    }
    if (view === before) return;
  }
}

function decoded(view: DecodedView, pattern: RegExp, decode: (match: RegExpExecArray) => string): DecodedView {
  const { text, from } = view;
  const pieces: string[] = [];
  const starts = new Uint32Array(from.length);
  let length = 0;
  let at = 0;
  const keep = (piece: string, begin: number, end: number) => {
    starts.set(from.subarray(begin, end), length);
    pieces.push(piece);
    length += end - begin;
  };
  for (const match of text.matchAll(pattern)) {
    keep(text.slice(at, match.index), at, match.index);
    keep(decode(match), match.index, match.index + 1); // Every escape stands for one character.
    at = match.index + match[0].length;
  }
  if (at === 0) return view;
  keep(text.slice(at), at, from.length); // Its last entry is the end of the original.
  return { text: pieces.join(''), from: starts.subarray(0, length) };
}

/** The text with its escapes resolved. */
export function decodedText(text: string): string {
  let last = text;
  for (const view of decodedViews(text)) last = view.text;
  return last;
}
