// What it costs to read a prompt file while somebody types in it, and to colour the tokens of an answer while it arrives.
import { parseDocument } from 'yaml';
import type { ChosenToken } from '../../src/core/completions/completion.ts';
import { readPromptFile } from '../../src/core/prompts/promptFile.ts';
import { TokenLocator, TokenMarks, type TokenPlace } from '../../src/core/prompts/tokenProbabilities.ts';
import { type Figure, median, withinLimit } from './figure.ts';

const CASES = 1000;
const TOKENS = 5000;
const ROUNDS = 9;
/** A part of the 8 ms that an update of the editor can take. */
const UPDATE_MS = 1;

export async function bench(): Promise<Figure[]> {
  const text = promptFile(CASES);
  const ours: number[] = [];
  const parsing: number[] = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    const [read, parsed] = [milliseconds(() => readPromptFile(text)), milliseconds(() => parseDocument(text))];
    if (round < 2) continue; // The first rounds warm up.
    ours.push(read);
    parsing.push(parsed);
  }
  const value = median(ours);
  return [
    {
      name: `reading and checking a prompt file of ${CASES} cases`,
      value,
      unit: 'ms',
      against: 'parsing the YAML alone',
      ratio: value / median(parsing),
      aim: 1.5,
      higherIsBetter: false,
    },
    ...locating(),
    ...marking(),
  ];
}

/** Of each update, in which a piece of the stream is placed, the median of all rounds: the machine's moods fall on some. */
function locating(): Figure[] {
  const tokens = Array.from({ length: TOKENS }, (_, at) => token(at));
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    const locator = new TokenLocator();
    const updates: number[] = [];
    for (let at = 0; at < TOKENS; at += 5) updates.push(milliseconds(() => locator.add(tokens.slice(at, at + 5))));
    if (round >= 2) rounds.push(updates);
  }
  const updates = (rounds[0] ?? []).map((_, at) => median(rounds.map((round) => round[at] ?? 0)));
  const whole = updates.reduce((sum, each) => sum + each, 0);
  return [
    withinLimit(`the longest update while ${TOKENS} tokens are placed`, Math.max(...updates), 'ms', UPDATE_MS),
    withinLimit(`placing ${TOKENS} tokens as they arrive`, whole, 'ms', 100),
  ];
}

/** Each update marks what has arrived. The rival computes all marks of the answer again, as VS Code takes them for one decoration type. */
function marking(): Figure[] {
  const tokens = Array.from({ length: TOKENS }, (_, at) => token(at));
  const locator = new TokenLocator();
  locator.add(tokens);
  const all = locator.places;
  const text = new TextDecoder().decode(Uint8Array.from(tokens.flatMap(({ bytes }) => bytes ?? [])));
  const ours: number[][] = [];
  const drawn: number[] = [];
  const anew: number[] = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    const arrived: TokenPlace[] = [];
    const marks = new TokenMarks(arrived);
    const updates: number[] = [];
    let whole = 0;
    drawn.length = 0;
    for (let at = 0; at < all.length; at += 5) {
      arrived.push(...all.slice(at, at + 5));
      const length = arrived.at(-1)?.end;
      updates.push(milliseconds(() => marks.update(text, length)));
      drawn.push(marks.blocks.at(-1)?.flat().length ?? 0);
      whole += milliseconds(() => new TokenMarks(arrived).update(text, length));
    }
    if (round < 2) continue; // The first rounds warm up.
    ours.push(updates);
    anew.push(whole);
  }
  const value = median(ours.map((updates) => updates.reduce((sum, each) => sum + each, 0)));
  const longest = Math.max(...(ours[0] ?? []).map((_, at) => median(ours.map((updates) => updates[at] ?? 0))));
  return [
    {
      name: `marking ${TOKENS} tokens as they arrive`,
      value,
      unit: 'ms',
      against: 'marking all again at each update',
      ratio: value / median(anew),
      aim: 0.1,
      higherIsBetter: false,
    },
    withinLimit(`the longest update while ${TOKENS} tokens are marked`, longest, 'ms', UPDATE_MS),
    withinLimit(`the most marks that an update draws, of ${TOKENS} tokens`, Math.max(...drawn), 'marks', 100),
  ];
}

function milliseconds(work: () => unknown): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

/** As people write them, with variables, evaluators and a text of several lines in every case. */
function promptFile(cases: number): string {
  const head = `name: Triage
model: openai/gpt-4o
modelParameters: {maxTokens: 100, temperature: 0}
messages:
  - role: system
    content: Answer with one word.
  - role: user
    content: |
      Ticket of {{customer}}: {{input}}
evaluators:
  - name: category
    string: {equals: '{{expected}}'}
testData:
`;
  const each = (at: number) => `  - name: case ${at}
    customer: "Kunde ${at} – größer"
    input: |
      The machine ${at} does not start.
      It says {error ${at * 7}} and nothing else.
    expected: hardware
`;
  return head + Array.from({ length: cases }, (_, at) => each(at)).join('');
}

/** Every seventh character is spread over two tokens. */
function token(at: number): ChosenToken {
  const bytes = at % 7 === 0 ? [0xc3] : at % 7 === 1 ? [0xa9] : [...Buffer.from(' word')];
  const logprob = -(at % 5) / 3;
  const topLogprobs = Array.from({ length: 5 }, () => ({ token: 'x', logprob: -2 }));
  return { token: ' word', logprob, bytes, topLogprobs };
}
