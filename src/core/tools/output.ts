/**
 * Keeps the first and the last half of `limit` bytes: the subject is at the beginning, the error at the end. Memory is
 * bounded by `limit`.
 */
export class OutputBuffer {
  readonly #head: Uint8Array[] = [];
  #headRoom: number;
  readonly #tail: Buffer;
  #tailTotal = 0;
  #total = 0;

  constructor(limit: number) {
    this.#headRoom = Math.ceil(limit / 2);
    this.#tail = Buffer.alloc(Math.floor(limit / 2));
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const head = chunk.subarray(0, this.#headRoom);
    if (head.length > 0) this.#head.push(Uint8Array.from(head));
    this.#headRoom -= head.length;
    // Only the last bytes can survive; adding to `#tailTotal` keeps the ring's position true.
    const rest = chunk.subarray(head.length);
    const kept = rest.subarray(Math.max(0, rest.length - this.#tail.length));
    this.#tailTotal += rest.length - kept.length;
    if (kept.length === 0) return;
    const at = this.#tailTotal % this.#tail.length;
    const first = kept.subarray(0, this.#tail.length - at);
    this.#tail.set(first, at);
    this.#tail.set(kept.subarray(first.length), 0);
    this.#tailTotal += kept.length;
  }

  /** Valid text; where something was left out, a line of its own says how many bytes. */
  finish(): string {
    const size = this.#tail.length;
    const at = size === 0 ? 0 : this.#tailTotal % size;
    const tail =
      this.#tailTotal <= size
        ? this.#tail.subarray(0, this.#tailTotal)
        : Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
    const head = Buffer.concat(this.#head);
    if (this.#tailTotal <= size) return decode(Buffer.concat([head, tail]));
    const wholeHead = head.subarray(0, characterEnd(head));
    const wholeTail = tail.subarray(characterStart(tail));
    const leftOutBytes = this.#total - wholeHead.length - wholeTail.length;
    return `${decode(wholeHead)}\n[${leftOutBytes} bytes left out]\n${decode(wholeTail)}`;
  }
}

/** Bytes that are not UTF-8 become U+FFFD. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The length without a character of UTF-8 (RFC 3629) that is cut at the end. */
function characterEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole character begins: a character has at most three continuation bytes. */
function characterStart(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => !isContinuation(byte));
  return start === -1 ? 0 : start;
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

export interface ProcessResult {
  /** Null when a signal ended the program. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Both as text, with a line about what was left out in the middle. */
  readonly stdout: string;
  readonly stderr: string;
  /** The program was ended because `timeoutMs` passed; the output until then is here. */
  readonly timedOut: boolean;
}

/** The text about a finished program for the model. */
export function processResultText(
  result: ProcessResult,
  timeoutMs: number,
  more: { readonly remarks: readonly string[]; readonly isError: boolean } = { remarks: [], isError: false },
): { readonly content: string; readonly isError: boolean } {
  const isError = more.isError || result.timedOut || result.exitCode !== 0;
  const parts: string[] = [];
  if (result.timedOut) parts.push(`Timed out after ${timeoutMs / 1000} seconds.`);
  else if (result.signal !== null) parts.push(`The program was ended by signal ${result.signal}.`);
  else if (result.exitCode !== 0) parts.push(`The program ended with exit code ${result.exitCode}.`);
  if (result.stderr !== '' || isError) {
    parts.push(result.stdout === '' ? 'It wrote nothing to standard output.' : `Standard output:\n${result.stdout}`);
    parts.push(result.stderr === '' ? 'It wrote nothing to standard error.' : `Standard error:\n${result.stderr}`);
  } else {
    parts.push(result.stdout === '' ? 'The program succeeded and wrote nothing.' : result.stdout);
  }
  return { content: [...parts, ...(isError ? more.remarks : [])].join('\n'), isError };
}

/** The text about a command's value for the model: text unchanged, anything else as JSON; cuts are marked. */
export function valueResult(value: unknown, limit: number): string {
  if (value === undefined || value === null) return 'It succeeded and returned nothing.';
  const text = textOf(value);
  if (text === undefined) return 'It succeeded and returned a value that cannot be shown as text.';
  return headAndTail(text, limit);
}

/** The first and the last half of `limit` bytes of UTF-8. */
export function headAndTail(text: string, limit: number): string {
  const buffer = new OutputBuffer(limit);
  buffer.push(new TextEncoder().encode(text));
  return buffer.finish();
}

/** Undefined for functions, symbols, cycles and values that throw when they are read. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member), 2);
  } catch {
    return undefined;
  }
}
