import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { type Answer, assertSound, bytes, play } from '../unit/core/completions/playAnswer.ts';
import { quirkTable } from '../unit/core/completions/quirkTable.ts';
import { DEEP } from '../unit/runs.ts';

const STREAMS = 4_000 * DEEP;
const SEED = 20_251;
/** One answer that takes longer hangs: its body ends by itself, so nothing has to be waited for. */
const HANGS_MS = 5_000;

const rows = quirkTable.map(({ body, ...row }) => ({ ...row, body: typeof body === 'string' ? bytes(body) : body }));

/** What real damage brings in: pieces of other syntax, broken bytes, odd values. */
const fragments = [
  ...['\n', '\r', '\r\n\r\n', '\n\n', 'data:', 'data: ', ': ', 'event: error\n', 'data: [DONE]\n\n', 'data: {}\n\n'],
  ...['"', '\\', '{', '}', '[', ']', ',', 'null', '[]', '{}', '""', '-1', '1e999', '0', 'true', '"index":9', '\u2028'],
  ...['"error":{"message":"x"},', '"error":null,', '"choices":', '"tool_calls":', '"arguments":"{}"', '"__proto__":1,'],
  ...['"finish_reason":"stop"', '<html>', '\uFEFF', '😀', '\u0000'],
].map(bytes);
const brokenBytes = [0x80, 0xc0, 0xe2, 0xf0, 0xff].map((byte) => Uint8Array.of(byte));

/** A change of a body; `at`, `to` and `by` are shares of its length, 0 to 1. */
interface Mutation {
  readonly kind: 'insert' | 'replace' | 'delete' | 'repeat' | 'move' | 'cut' | 'flip' | 'swap' | 'value';
  readonly at: number;
  readonly by: number;
  readonly to: number;
  readonly piece: Uint8Array;
}

function mutate(body: Uint8Array, { kind, at, by, to, piece }: Mutation, other: Uint8Array): Uint8Array {
  const from = Math.floor(at * body.length);
  // Small spans are where the syntax breaks; cubing favours them.
  const until = Math.min(body.length, from + 1 + Math.floor(by ** 3 * body.length));
  const [before, span, after] = [body.subarray(0, from), body.subarray(from, until), body.subarray(until)];
  const target = Math.floor(to * body.length);
  switch (kind) {
    case 'insert':
      return join(before, piece, body.subarray(from));
    case 'replace':
      return join(before, piece, after);
    case 'delete':
      return join(before, after);
    case 'repeat':
      return join(before, span, span, after);
    case 'move': {
      const rest = join(before, after);
      return join(rest.subarray(0, target), span, rest.subarray(target));
    }
    case 'cut':
      return before;
    case 'flip':
      return join(before, Uint8Array.of((span[0] ?? 0) ^ (1 << Math.floor(to * 7.99))), body.subarray(from + 1));
    case 'swap':
      return join(before, other.subarray(Math.floor(to * other.length)));
    case 'value':
      return changeValue(body, at, by, to);
  }
}

const oddValues = [null, true, 0, -1.5, 1e300, '', 'x', '{}', [], {}, [null], [[]], [0], [{}], { a: null }, [{ a: 1 }]];

/** Puts a value of another type somewhere into the JSON of one line, so that what is broken is not the syntax. */
function changeValue(body: Uint8Array, at: number, by: number, to: number): Uint8Array {
  const lines = new TextDecoder().decode(body).split('\n');
  const whole = lines.flatMap((line, number) => (/^(?:data: ?)?\{.*\}$/.test(line) ? [number] : []));
  const number = whole[Math.floor(at * whole.length * 0.999)];
  if (number === undefined) return body;
  const [, prefix = '', json = ''] = /^(data: ?)?(.*)$/.exec(lines[number] ?? '') ?? [];
  let places = 0;
  const odd = oddValues[Math.floor(to * (oddValues.length - 0.01))];
  try {
    JSON.parse(json, () => void places++);
    const chosen = Math.floor(by * (places - 0.01));
    lines[number] = `${prefix}${JSON.stringify(JSON.parse(json, (_, value) => (chosen === --places ? odd : value)))}`;
  } catch {
    return body; // An earlier change broke this line.
  }
  return bytes(lines.join('\n'));
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function cutInto(body: Uint8Array, shares: readonly number[]): Uint8Array[] {
  const cuts = shares.map((share) => Math.floor(share * body.length)).sort((one, other) => one - other);
  return [...cuts, body.length].map((to, at) => body.subarray(cuts[at - 1] ?? 0, to));
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('value', 'value', 'insert', 'replace', 'delete', 'repeat', 'move', 'cut', 'flip', 'swap'),
  at: share,
  by: share,
  to: share,
  piece: fc.constantFrom(...fragments, ...brokenBytes),
});
const damaged = fc.record({
  row: fc.constantFrom(...rows),
  other: fc.constantFrom(...rows),
  mutations: fc.array(mutation, { minLength: 1, maxLength: 5 }),
  cuts: fc.array(share, { maxLength: 6 }),
  ending: fc.constantFrom<NonNullable<Answer['ending']>>('end', 'break'),
});

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no outcome within ${HANGS_MS} ms`)), HANGS_MS);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

describe('streams that were damaged on the way', () => {
  it(`end in a completion or in an error that says something, ${STREAMS} times`, async function () {
    this.timeout(STREAMS * 30);
    const unhandled: unknown[] = [];
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => unhandled.push(reason));
    const seen = { complete: 0, incomplete: 0, error: 0 };
    try {
      await fc.assert(
        fc.asyncProperty(damaged, async ({ row, other, mutations, cuts, ending }) => {
          const body = mutations.reduce((damage, change) => mutate(damage, change, other.body), row.body);
          const { status, type, request } = row;
          const answer = {
            packets: cutInto(body, cuts),
            ending,
            ...(status && { status }),
            ...(type !== undefined && { type }),
          };
          const outcome = await inTime(play(answer, request));
          assertSound(outcome, request?.stream !== false);
          seen[outcome.error ? 'error' : outcome.completion?.complete ? 'complete' : 'incomplete']++;
        }),
        { numRuns: STREAMS, seed: SEED, endOnFailure: false },
      );
      await turn();
      await turn();
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
    assert.equal(unhandled.length, 0, `nobody caught ${unhandled.length}: ${unhandled[0]}`);
    // The damage is of every grade: a test of nothing but wreckage would not look far into the reader.
    for (const [outcome, count] of Object.entries(seen)) assert.ok(count > STREAMS / 20, `${outcome}: ${count}`);
    console.log(`      ${JSON.stringify(seen)}`);
  });
});
