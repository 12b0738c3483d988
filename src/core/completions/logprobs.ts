import { isJsonObject } from '../base/json.ts';

/** One token and how likely it was. Specification of the inference service, "Token entry". */
export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm of the probability; servers of this kind send -9999 for "practically never". */
  readonly logprob: number;
  /** UTF-8 bytes of the token; absent when the service sent null. */
  readonly bytes?: readonly number[];
}

/** A token that was chosen, with the alternatives the service considered. */
export interface ChosenToken extends TokenLogprob {
  readonly topLogprobs: readonly TokenLogprob[];
}

/** The tokens of an answer, in order. */
export type Logprobs = readonly ChosenToken[];

/** Neighbouring tokens that together spell whole characters. */
export interface TokenGroup {
  readonly text: string;
  readonly tokens: Logprobs;
}

/** `logprobs` of a choice or a delta, of its text and of a refusal; `undefined` when there is no usable token in it. */
export function readLogprobs(value: unknown): ChosenToken[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const tokens = [value.content, value.refusal]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap(readChosenToken);
  return tokens.length > 0 ? tokens : undefined;
}

/**
 * The text of each run of tokens. A character may be spread over several tokens, whose `token` strings are then
 * replacement characters: the bytes are joined before they are decoded.
 */
export function groupTokens(logprobs: Logprobs): TokenGroup[] {
  const groups: TokenGroup[] = [];
  let open: ChosenToken[] = [];
  let bytes: number[] = [];
  const close = () => {
    if (open.length > 0) groups.push({ text: decoder.decode(Uint8Array.from(bytes)), tokens: open });
    open = [];
    bytes = [];
  };
  for (const token of logprobs) {
    // A byte that starts a character ends whatever was left unfinished before it.
    if (!token.bytes || !isContinuation(token.bytes[0])) close();
    if (!token.bytes) {
      groups.push({ text: token.token, tokens: [token] });
      continue;
    }
    open.push(token);
    for (const byte of token.bytes) bytes.push(byte);
    if (endsWhole(bytes)) close();
  }
  close();
  return groups;
}

/** The text that the tokens spell. */
export function tokensToText(logprobs: Logprobs): string {
  return groupTokens(logprobs)
    .map((group) => group.text)
    .join('');
}

/** The probability of a token, 0 to 1. */
export function probability(token: TokenLogprob): number {
  return Math.min(1, Math.exp(token.logprob));
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** True when the last character of `bytes` has all the bytes that its first byte announces (RFC 3629). */
function endsWhole(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return back >= length;
  }
  return true;
}

function readChosenToken(value: unknown): ChosenToken[] {
  const token = readToken(value);
  if (!token || !isJsonObject(value)) return [];
  const top = value.top_logprobs;
  const topLogprobs = Array.isArray(top) ? top.map(readToken).filter((entry) => entry !== undefined) : [];
  return [{ ...token, topLogprobs }];
}

function readToken(value: unknown): TokenLogprob | undefined {
  if (!isJsonObject(value)) return undefined;
  const { token, logprob, bytes } = value;
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  return Array.isArray(bytes) && bytes.every(isByte) ? { token, logprob, bytes } : { token, logprob };
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
