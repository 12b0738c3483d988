/** A text with some of its escapes resolved. */
export interface DecodedView {
  readonly text: string;
  /** The offset of each character in the original, followed by the length of the original. */
  readonly from: Uint32Array;
}

/** The most levels that are resolved. Each round resolves one level of each kind of escape. */
const MAX_ROUNDS = 5;

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The escapes of addresses and forms, of JSON and source text, and of pages. Bytes beyond ASCII stay separate. */
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

/** The unchanged text, and the text after each level of escapes that is resolved. */
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
function decodedText(text: string): string {
  let last = text;
  for (const view of decodedViews(text)) last = view.text;
  return last;
}

/** A range of the original text; `end` is exclusive. */
export type Span = readonly [begin: number, end: number];

/** Shorter values are not searched for: that would hide ordinary words. */
export const SHORTEST_SECRET = 8;
/** How many of its first and last characters a secret is found by. */
const ANCHOR = 8;
/** The shortest piece of a secret that is hidden, unless half of the secret is shorter. */
const TELLING_PIECE = 12;

/** Characters that encodings, quotes and line breaks add, remove or replace. They are ignored. */
const NOT_COMPARED = '+-/_=\\"\'%';
/** What a character is compared as; 0 for ignored ones. Case is ignored too: host names lose it, and hexadecimal has either. */
const COMPARED = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (code <= 0x20 || code === 0x7f || NOT_COMPARED.includes(character)) return 0;
  return character.toLowerCase().charCodeAt(0);
});

/**
 * Finds secrets in a text, in whatever encoding. A {@link DecodedView} has its escapes resolved, and only characters that no
 * encoding changes are compared. Base64 is different: what it makes of a value depends on the value's offset modulo three, so
 * all three forms are searched for.
 */
export class KnownSecrets {
  readonly #limit: number;
  /** The newest last. */
  readonly #forms = new Map<string, Forms>();
  #index: Index | undefined;

  /** @param limit of secrets: the oldest are forgotten. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(secret: string): void {
    if (secret.length < SHORTEST_SECRET) return;
    const forms = this.#forms.get(secret) ?? formsOf(secret);
    this.#forms.delete(secret); // Moves it to the newest.
    this.#forms.set(secret, forms);
    const [oldest] = this.#forms.keys();
    if (this.#forms.size > this.#limit && oldest !== undefined) this.#forms.delete(oldest);
    this.#index = undefined;
  }

  *find(view: DecodedView): Generator<Span, void, undefined> {
    if (this.#forms.size === 0) return;
    this.#index ??= new Index([...this.#forms.values()]);
    yield* this.#index.find(view);
  }
}

interface Form {
  /** Only the characters that are compared. */
  readonly text: string;
  /** How many ignored characters the secret has before and behind them. */
  readonly edges: readonly [before: number, behind: number];
}

/** The forms in which a secret may be in a text. */
interface Forms {
  readonly compared: readonly Form[];
  /** Forms with too few comparable characters: searched for as they are. */
  readonly literal: readonly string[];
}

function formsOf(secret: string): Forms {
  const compared: Form[] = [];
  const literal: string[] = [];
  const bytes = Buffer.from(secret);
  // Escapes in the secret itself are resolved like those of the text, and are no escapes where its case was changed.
  for (const whole of new Set([
    secret,
    decodedText(secret),
    bytes.toString('hex'),
    bytes.join(),
    ...base64Of(secret),
  ])) {
    const { text, at } = comparable(whole);
    if (text.length < ANCHOR) literal.push(whole);
    else compared.push({ text, edges: [at[0] ?? 0, whole.length - 1 - (at[text.length - 1] ?? 0)] });
  }
  return { compared, literal };
}

function base64Of(secret: string): readonly string[] {
  // A client secret is url-encoded before it becomes part of Basic credentials (RFC 6749 section 2.3.1).
  const written = [secret, encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)];
  return [...new Set([...written, JSON.stringify(secret).slice(1, -1)])].flatMap((text) => {
    const bytes = Buffer.from(text);
    return [0, 1, 2].map((before) => {
      const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
      // The characters at either end also encode bits of the bytes beside the value.
      const first = Math.ceil((before * 8) / 6);
      const last = Math.floor(((before + bytes.length) * 8) / 6);
      return encoded.slice(first, last);
    });
  });
}

class Index {
  readonly #heads = new Map<string, Form[]>();
  readonly #tails = new Map<string, Form[]>();
  readonly #literal: readonly string[];
  /** A bloom filter of the first characters of all forms, which rules out nearly every position at once. */
  readonly #begins = new Uint8Array(1 << 16);

  constructor(secrets: readonly Forms[]) {
    this.#literal = secrets.flatMap(({ literal }) => literal);
    for (const form of secrets.flatMap(({ compared }) => compared)) {
      for (const [map, at] of [[this.#heads, 0] as const, [this.#tails, form.text.length - ANCHOR] as const]) {
        const anchor = form.text.slice(at, at + ANCHOR);
        map.set(anchor, [...(map.get(anchor) ?? []), form]);
        this.#begins[beginning(anchor, 0)] = 1;
      }
    }
  }

  *find({ text: whole, from }: DecodedView): Generator<Span, void, undefined> {
    for (const literal of this.#literal) {
      for (let at = whole.indexOf(literal); at >= 0; at = whole.indexOf(literal, at + literal.length)) {
        yield [from[at] ?? 0, from[at + literal.length] ?? 0];
      }
    }
    const { text, at } = comparable(whole);
    /** Includes ignored characters at either end, at most as many as the secret has there. */
    const span = (begin: number, end: number, [before, behind]: Form['edges'] = [0, 0]): Span => {
      const first = Math.max((at[begin] ?? 0) - before, begin === 0 ? 0 : (at[begin - 1] ?? 0) + 1);
      const last = Math.min((at[end - 1] ?? 0) + behind, (end === text.length ? whole.length : (at[end] ?? 0)) - 1);
      return [from[first] ?? 0, from[last + 1] ?? 0];
    };
    let hidden = 0;
    for (let here = 0; here + ANCHOR <= text.length; here += 1) {
      if (!this.#begins[beginning(text, here)]) continue;
      const piece = text.slice(here, here + ANCHOR);
      const end = here + ANCHOR;
      const back = longest(this.#tails.get(piece), (form) => sameBefore(text, end, form));
      if (back && end > hidden) yield span(end - back.length, end, back.edges);
      const ahead = longest(this.#heads.get(piece), (form) => sameAfter(text, here, form));
      if (!ahead) continue;
      yield span(here, here + ahead.length, ahead.edges);
      hidden = here + ahead.length;
      here = Math.max(here, hidden - ANCHOR); // A secret that begins inside this one is found by its end.
    }
  }
}

/** A hash of four characters, of 16 bits. */
function beginning(text: string, at: number): number {
  const pair = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 3);
  return (pair ^ (text.charCodeAt(at + 2) << 6) ^ (text.charCodeAt(at + 3) << 9)) & 0xffff;
}

interface Found {
  readonly length: number;
  readonly edges: Form['edges'] | undefined;
}

/** The longest match with one of the forms, if it is long enough to be hidden. */
function longest(forms: readonly Form[] | undefined, same: (form: string) => number): Found | undefined {
  let most: Found | undefined;
  for (const { text, edges } of forms ?? []) {
    const length = same(text);
    if (length <= (most?.length ?? 0) || (length < TELLING_PIECE && length * 2 < text.length)) continue;
    most = { length, edges: length === text.length ? edges : undefined };
  }
  return most;
}

function sameAfter(text: string, at: number, form: string): number {
  let length = ANCHOR;
  while (length < form.length && text.charCodeAt(at + length) === form.charCodeAt(length)) length += 1;
  return length;
}

function sameBefore(text: string, end: number, form: string): number {
  let length = ANCHOR;
  while (length < form.length && text.charCodeAt(end - length - 1) === form.charCodeAt(form.length - length - 1)) {
    length += 1;
  }
  return length;
}

/** The characters of a text that are compared, and the position of each. */
function comparable(text: string): { readonly text: string; readonly at: Uint32Array } {
  const kept = Buffer.allocUnsafe(text.length);
  const at = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const compared = COMPARED[code];
    if (!compared) continue;
    kept[length] = compared;
    at[length] = index;
    length += 1;
  }
  return { text: kept.toString('latin1', 0, length), at };
}
