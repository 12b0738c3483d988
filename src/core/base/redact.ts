import { type DecodedView, decodedViews, KnownSecrets, SHORTEST_SECRET, type Span } from './knownSecrets.ts';
import type { Log } from './log.ts';

/** Takes the place of a secret. */
export const HIDDEN = '‹hidden›';

/**
 * The ends of names whose values are secrets: `access_token`, `clientSecret`, `x-api-key`, `Set-Cookie`. Where one ends, a
 * value may follow: in a query, a form, JSON, a header or prose.
 */
const NAME =
  /(token|secret|password|passwd|passphrase|pwd|verifier|assertion|(?:api|access|private|subscription)[-_]?key|credentials?|authorization|cookie|session[-_]?id|signature|auth(?:orization)?[-_]?code|(?<![a-z\d_-])(?:code|state|nonce))(?:[_-]?\d{1,2})?(?![a-z\d_-])/gi;
/** Names that are ordinary words too: `code: invalid_grant` and `state: offline` are what a log is read for. */
const AMBIGUOUS = /^(?:code|state|nonce|signature)/i;
/** Headers whose value is the rest of the line, blanks and commas included. */
const WHOLE_LINE = /^(?:authorization|cookie)/i;
/** After a name, before its value. `**Label:** value` of the diagnosis is no separator. */
const SEPARATOR = /["']?[ \t]{0,8}[=:]>?(?!\*\*)[ \t]{0,8}/y;
const UNQUOTED = /[^\s"'&}]+/y;
const NEXT_LINE = /\r?\n[ \t]*([^\s"'&}:=]+)[ \t]*(?=\r?\n|$)/y;
const RUN = /(?<![\w+/=~-])[\w+/=~-]{20,}/g;
/** The most characters between the name of a secret and its value. */
const NEAR = 40;
const SHORTEST_VALUE = 6;
/** The rest of a broken value may look like a word by chance; ordinary words at that place are mostly shorter. */
const SHORTEST_REST = 8;
/** Words of one spelling, like error codes and states; random values mix cases and digits. */
const WORD = /^(?:[A-Z]+(?:_[A-Z\d]+)*|[A-Z]?[a-z]+(?:[_-][a-z]+|[A-Z][a-z]+)*)[.,;:!?)]*$/;

/** Patterns of secrets that need no name before them. The secret is the first group, or the whole match. */
const TELLING: readonly (readonly [RegExp, (value: string) => boolean])[] = [
  [/\b(?:Bearer|Basic|DPoP|Negotiate)\s{1,8}([\w.~+/%=-]{6,})/dgi, (value) => !isWord(value)],
  [/:\/\/[^\s/?#@:]*:([^\s/?#]*)@/dg, () => true],
  // A token in place of a user's name, as addresses of repositories have it.
  [/:\/\/([\w.~+%=-]{20,})@/dg, isOpaque],
  [/-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----([^-]*)/dg, () => true],
  // Names and passwords in arguments: `-u ada:pass`, `--password pass`.
  [/(?<!\S)-{1,2}u(?:ser)?[ =]["']?[^\s:"']{1,64}:([^\s"']+)/dg, () => true],
  [/(?<!\S)--?(?:[a-z]+-){0,3}(?:password|passwd|token|secret|key)[ \t]+["']?([^\s"'-][^\s"']{5,})/dgi, () => true],
  // Tokens that begin with the name of their service: GitHub, GitLab, Slack, npm and others; AWS.
  [/\b(?:gh[a-z]|github_pat|glpat|xox[a-z]|npm|pypi|sk|rk)[_-][\w-]{16,}/dg, (value) => /\d/.test(value)],
  [/\b(?:AKIA|ASIA)[A-Z\d]{16}\b/dg, () => true],
  // The private members of a JWK (RFC 7518, section 6).
  [/"(?:d|p|q|dp|dq|qi|k)"\s*:\s*"([\w-]{20,})"/dg, () => true],
  // The beginning of every JWS and JWE that has a header of JSON, however short.
  [/\beyJ[\w-]{8,}\.[\w.-]+/dg, () => true],
  [/(?<![\w+%=.-])[\w+%=.-]{64,}/dg, isTokenLike],
];

/**
 * Hides what looks like a secret. Only the second protection: secrets are not passed to the log at all, and known
 * values are hidden by {@link Redactor}.
 */
export function redact(text: string): string {
  return hide(text, suspicious);
}

/** Hides these values, in every encoding they could be written in. For an answer that may repeat what was sent. */
export function redactValues(text: string, values: readonly (string | undefined)[]): string {
  const secrets = new KnownSecrets(values.length);
  for (const value of values) secrets.add(value ?? '');
  return hide(text, (view) => secrets.find(view));
}

/** Knows the live secrets and hides them in every encoding they could be written in. */
export class Redactor {
  /**
   * Refreshes create secrets all day, so only the newest 64 are known by value. Older ones are still recognized by
   * their form.
   */
  readonly #secrets = new KnownSecrets(64);

  /** Remembers `secret`; short values are not remembered because hiding them would blot out ordinary words. */
  addSecret(secret: string | undefined): void {
    this.#secrets.add(secret ?? '');
  }

  redact(text: string): string {
    return hide(text, (view) => [...this.#secrets.find(view), ...suspicious(view)]);
  }
}

/** A log that passes on only what the redactor lets through. */
export function redactingLog(inner: Log, redactor: Redactor): Log {
  return {
    trace: (message) => inner.trace(redactor.redact(message)),
    debug: (message) => inner.debug(redactor.redact(message)),
    info: (message) => inner.info(redactor.redact(message)),
    warn: (message) => inner.warn(redactor.redact(message)),
    error: (message) => inner.error(redactor.redact(message)),
  };
}

/** Hides the ranges of the original that `find` returns at any level of escapes. */
function hide(text: string, find: (view: DecodedView) => Iterable<Span>): string {
  const spans: Span[] = [];
  for (const view of decodedViews(text)) for (const span of find(view)) spans.push(span);
  if (spans.length === 0) return text;
  spans.sort(([one], [other]) => one - other);
  let result = '';
  let at = 0;
  for (const [begin, end] of spans) {
    if (end <= at) continue;
    if (begin > at || at === 0) result += text.slice(at, begin) + HIDDEN;
    at = end;
  }
  return result + text.slice(at);
}

function* suspicious({ text, from }: DecodedView): Generator<Span, void, undefined> {
  const span = (begin: number, end: number): Span => [from[begin] ?? 0, from[end] ?? 0];
  const names: number[] = [];
  NAME.lastIndex = 0;
  for (let name = NAME.exec(text); name; name = NAME.exec(text)) {
    if (!AMBIGUOUS.test(name[0])) names.push(name.index, NAME.lastIndex);
    const value = valueAt(text, NAME.lastIndex, name);
    if (!value) continue;
    yield span(...value);
    [, NAME.lastIndex] = value;
  }
  for (const [begin, end] of opaqueNear(text, names)) yield span(begin, end);
  for (const [pattern, isSecret] of TELLING) {
    for (const { 0: all, 1: value = all, indices } of text.matchAll(pattern)) {
      const [begin, end] = indices?.[1] ?? indices?.[0] ?? [0, 0];
      if (isSecret(value)) yield span(begin, end);
    }
  }
}

/** The value after the name of a secret that ends at `at`, if there is one. */
function valueAt(text: string, at: number, { 0: name, index }: RegExpExecArray): Span | undefined {
  SEPARATOR.lastIndex = at;
  if (!SEPARATOR.test(text)) return undefined;
  const [begin, end] = extentOf(text, SEPARATOR.lastIndex, WHOLE_LINE.test(name));
  if (end - begin < SHORTEST_VALUE) return undefined;
  // In an address any value counts: addresses contain no prose.
  const isProse = AMBIGUOUS.test(name) && !'?&#'.includes(text[index - 1] ?? ' ');
  return isProse && text.slice(begin, end).split(/\s+/, 9).every(isWord) ? undefined : [begin, end];
}

/** The range of a value: its quotes, the list it is in, the line for a header, else the next blank. */
function extentOf(text: string, at: number, isWholeLine: boolean): Span {
  const first = text[at] ?? '';
  if (first === '"' || first === "'") return [at + 1, endOfQuoted(text, at)];
  if (first === '[') return [at, endAt(text, ']', at)];
  if (isWholeLine) return [at, endAt(text, '\n', at)];
  UNQUOTED.lastIndex = at;
  const run = UNQUOTED.exec(text)?.[0].replace(/[.,;:!?)\]]+$/, '') ?? '';
  let end = at + run.length;
  // A line break in the middle of a value: if the next line is one run of characters and no short word, it belongs to
  // it.
  for (;;) {
    NEXT_LINE.lastIndex = end;
    const next = NEXT_LINE.exec(text)?.[1];
    if (run === '' || next === undefined || (isWord(next) && (isWord(run) || next.length < SHORTEST_REST))) {
      return [at, end];
    }
    end = NEXT_LINE.lastIndex;
  }
}

function endOfQuoted(text: string, at: number): number {
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === text[at]) return index;
  }
  return text.length;
}

function endAt(text: string, what: string, at: number): number {
  const position = text.indexOf(what, at);
  return position < 0 ? text.length : position;
}

/** Runs of at least 20 characters that were drawn at random, close to one of the names (begin, end, begin, …). */
function* opaqueNear(text: string, names: readonly number[]): Generator<Span, void, undefined> {
  let next = 0;
  for (const { 0: run, index } of names.length === 0 ? [] : text.matchAll(RUN)) {
    const end = index + run.length;
    while (next < names.length && (names[next + 1] ?? 0) + NEAR < index) next += 2;
    if ((names[next] ?? Number.POSITIVE_INFINITY) - NEAR <= end && isOpaque(run)) yield [index, end];
  }
}

/** No word, and no path: those have more slashes than base64 has, and seldom letters of both cases and digits. */
function isOpaque(run: string): boolean {
  if (isWord(run)) return false;
  const slashes = run.split('/').length - 1;
  return slashes === 0 || (slashes <= 1 + run.length / 16 && /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run));
}

/** Compact JWS/JWE, which have up to five parts, or anything that is too long to be a word, an id or a path segment. */
function isTokenLike(run: string): boolean {
  const parts = run.split('.').map(({ length }) => length);
  return parts.some((_, at) => parts.slice(at, at + 5).reduce((sum, length) => sum + length, 0) >= 60);
}

function isWord(value: string): boolean {
  return value.length <= 40 && WORD.test(value);
}

/** Hides `secrets` in the body of a response. The rest is the same. */
export function redactResponse(response: Response, secrets: readonly string[]): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(ReadableStream.from(redactStream(response.body, secrets)), { status, statusText, headers });
}

/**
 * Passes the bytes on without the secrets, which a server may repeat. Only bytes that may be the beginning of a secret
 * are held back, so a stream arrives as it is sent. Values that are too short to be secrets are ignored.
 */
export function redactStream(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  secrets: readonly string[],
): AsyncIterable<Uint8Array> {
  const all = secrets.filter(({ length }) => length >= SHORTEST_SECRET).map((secret) => Buffer.from(secret));
  return all.reduce(hideOne, passOn(body));
}

async function* passOn(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}

async function* hideOne(body: AsyncIterable<Uint8Array>, secret: Buffer): AsyncGenerator<Uint8Array> {
  let kept: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    let bytes = Buffer.concat([kept, chunk]);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + HIDDEN_BYTES.length)) {
      bytes = Buffer.concat([bytes.subarray(0, at), HIDDEN_BYTES, bytes.subarray(at + secret.length)]);
    }
    const begins = beginningAt(bytes, secret);
    kept = bytes.subarray(begins);
    if (begins > 0) yield bytes.subarray(0, begins);
  }
  if (kept.length > 0) yield kept;
}

const HIDDEN_BYTES = Buffer.from('[hidden]');

/**
 * The position of the longest end of `bytes` that is a beginning of `secret`; the length of `bytes` if there is none.
 */
function beginningAt(bytes: Buffer, secret: Buffer): number {
  for (let at = Math.max(0, bytes.length - secret.length + 1); at < bytes.length; at += 1) {
    if (bytes.subarray(at).equals(secret.subarray(0, bytes.length - at))) return at;
  }
  return bytes.length;
}
