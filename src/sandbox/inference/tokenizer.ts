/**
 * A reversible tokenizer: decoding the token ids of a text gives the same text.
 *
 * The ids 0 to 255 are single bytes, and 256 is the end of a text. The other ids are pieces of the training text: words
 * with their leading space, punctuation, white space and, for words that are not in the training text, frequent parts
 * of words. Characters that no piece covers are encoded as UTF-8 bytes, so one character may take several tokens.
 */
export interface Tokenizer {
  /** The number of token ids. Valid ids are 0 to `size - 1`. */
  readonly size: number;
  readonly endOfText: number;
  /** Lone surrogates are replaced with U+FFFD because they have no UTF-8 form. */
  encode(text: string): number[];
  /** The UTF-8 bytes of a token. Empty for the end of a text and for an invalid id. */
  bytes(id: number): Uint8Array;
  decode(ids: Iterable<number>): string;
}

const endOfTextId = 256;

const firstPieceId = 257;
const minPartCount = 12;

/** A word or up to three digits or a run of other characters, each with at most one space before it; white space. */
const preToken = / ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

function splitText(text: string): string[] {
  return text.match(preToken) ?? [];
}

export function buildTokenizer(trainingTexts: readonly string[]): Tokenizer {
  const pieces = collectPieces(trainingTexts);
  const ids = new Map(pieces.map((piece, index) => [piece, firstPieceId + index]));
  const maxPieceLength = pieces.reduce((length, piece) => Math.max(length, piece.length), 1);
  const tokenBytes: Uint8Array[] = [];
  for (let byte = 0; byte < 256; byte++) tokenBytes.push(Uint8Array.of(byte));
  tokenBytes.push(new Uint8Array());
  for (const piece of pieces) tokenBytes.push(Buffer.from(piece, 'utf8'));
  const noBytes = new Uint8Array();

  const pieceAt = (text: string, start: number): { id: number; length: number } | undefined => {
    for (let length = Math.min(maxPieceLength, text.length - start); length > 0; length--) {
      const id = ids.get(text.slice(start, start + length));
      if (id !== undefined) return { id, length };
    }
    return undefined;
  };

  const encodePart = (part: string, output: number[]): void => {
    let position = 0;
    while (position < part.length) {
      const piece = pieceAt(part, position);
      if (piece) {
        output.push(piece.id);
        position += piece.length;
        continue;
      }
      const character = String.fromCodePoint(part.codePointAt(position) ?? 0);
      output.push(...Buffer.from(character, 'utf8'));
      position += character.length;
    }
  };

  return {
    size: tokenBytes.length,
    endOfText: endOfTextId,
    encode(text) {
      const encoded: number[] = [];
      for (const part of splitText(Buffer.from(text, 'utf8').toString('utf8'))) encodePart(part, encoded);
      return encoded;
    },
    bytes: (id) => tokenBytes[id] ?? noBytes,
    decode: (tokenIds) => Buffer.concat([...tokenIds].map((id) => tokenBytes[id] ?? noBytes)).toString('utf8'),
  };
}

/** All words and signs of the training texts, then the parts that many words share; each by descending frequency. */
function collectPieces(trainingTexts: readonly string[]): string[] {
  const words = new Map<string, number>();
  // Single ASCII characters already have a token: their byte.
  const isByte = (word: string): boolean => word.length === 1 && word <= '\x7f';
  for (const text of trainingTexts) for (const word of splitText(text)) if (!isByte(word)) increase(words, word);
  const parts = new Map<string, number>();
  for (const word of words.keys()) for (const part of partsOf(word)) if (!words.has(part)) increase(parts, part);
  for (const [part, count] of parts) if (count < minPartCount) parts.delete(part);
  return [...byFrequency(words), ...byFrequency(parts)];
}

/** The substrings of two to five characters. A leading space belongs to the parts at the start of the word. */
function partsOf(word: string): Set<string> {
  const parts = new Set<string>();
  if (!/^ ?\p{L}+$/u.test(word)) return parts;
  for (let start = 0; start < word.length; start++)
    for (let length = 2; length <= 5 && start + length <= word.length; length++)
      parts.add(word.slice(start, start + length));
  return parts;
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function byFrequency(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1)).map(([piece]) => piece);
}
