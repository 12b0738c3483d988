import assert from 'node:assert/strict';
import type { ToolCall } from '../../../../src/core/base/toolCall.ts';
import type { Completion } from '../../../../src/core/completions/completion.ts';
import { MAX_TOOLS } from '../../../../src/core/completions/request.ts';
import { DEEP } from '../../runs.ts';
import { type Answer, arrived, assertSound, bytes, type Outcome, play, stream } from './playAnswer.ts';
import { type Expected, type QuirkRow, quirkTable, type Said } from './quirkTable.ts';

const bodyOf = ({ body }: QuirkRow) => (typeof body === 'string' ? bytes(body) : body);

function answerOf(row: QuirkRow, packets: readonly Uint8Array[], ending: Answer['ending'] = 'end'): Answer {
  const { status, type } = row;
  return { packets, ending, ...(status === undefined ? {} : { status }), ...(type === undefined ? {} : { type }) };
}

/** The choices as the table writes them. */
function saidIn(completion: Completion | undefined, sent: string): Said[] {
  return (completion?.choices ?? []).map((choice) => ({
    ...(choice.index === 0 ? {} : { index: choice.index }),
    ...(choice.text === '' ? {} : { text: choice.text }),
    ...(choice.reasoning === '' ? {} : { reasoning: choice.reasoning }),
    ...(choice.toolCalls.length === 0 ? {} : { calls: choice.toolCalls.map((call) => callIn(call, sent)) }),
    ...(choice.finishReason === undefined ? {} : { finish: choice.finishReason }),
    ...(choice.stopReason === undefined ? {} : { stop: choice.stopReason }),
  }));
}

function callIn({ id, name, arguments: json, problem }: ToolCall, sent: string): string {
  return `${idIn(id, sent)} ${name} ${json}${problem === undefined ? '' : ' (not run)'}`;
}

function idIn(id: string, sent: string): string {
  if (sent.includes(`"${id}"`)) return id;
  assert.match(id, /^[A-Za-z0-9]{9}$/, 'an id that the service did not send is nine letters and digits');
  return '*';
}

function assertExpected(
  outcome: Outcome,
  { choices = [], usage, head, notices = [], incomplete, error }: Expected,
  sent: string,
) {
  assert.equal(outcome.asked, 1, 'a completion costs money: nothing here is a reason to ask twice');
  const whole = arrived(outcome);
  assert.deepEqual(saidIn(whole, sent), choices);
  assert.deepEqual(whole?.usage, usage);
  if (head) {
    const { id, object, created, model, fingerprint } = whole ?? {};
    assert.deepEqual({ id, object, created, model, fingerprint }, head);
  }
  assert.deepEqual(
    (whole?.notices ?? []).map(({ code }) => code),
    notices,
  );
  if (error) {
    assert.equal(outcome.error?.kind, error.kind, outcome.error?.message);
    assert.match(outcome.error?.message ?? '', error.says);
    return;
  }
  assert.equal(outcome.error, undefined);
  assert.equal(whole?.complete, incomplete === undefined, whole?.incompleteReason);
  if (incomplete) assert.match(whole?.incompleteReason ?? '', incomplete);
}

/** Whether so much of a body may count as a finished answer: told from the text, not by the code under test. */
function mayBeComplete(text: string, n: number): boolean {
  if (text.includes('[DONE]')) return true;
  if (/^[\s\uFEFF]*\{/.test(text)) return text.trimEnd().endsWith('}');
  return (text.match(/"finish_reason":"\w+"/g) ?? []).length >= n;
}

/** A stream that only ends too early is no error; a connection that breaks is one as long as nothing had come. */
function assertNoError(outcome: Outcome, where: string) {
  if (outcome.error?.kind !== 'offline') assert.equal(outcome.error, undefined, where);
  else assert.equal(arrived(outcome), undefined, `what had come is an answer that was cut ${where}`);
}

/** A part of an answer is a beginning of it, and says that it is not whole unless it may be. */
function assertBeginning(outcome: Outcome, full: Completion | undefined, mayBeWhole: boolean, where: string) {
  const part = arrived(outcome);
  assert.ok(outcome.error || part, 'there is an answer or an error');
  if (!mayBeWhole) assert.ok(outcome.error || part?.complete === false, `complete ${where}`);
  for (const choice of part?.choices ?? []) {
    const other = full?.choices.find(({ index }) => index === choice.index);
    assert.ok(other, `no choice that was not there ${where}`);
    assert.ok(other.text.startsWith(choice.text), `the beginning of the text ${where}`);
    assert.ok(other.reasoning.startsWith(choice.reasoning), `the beginning of the reasoning ${where}`);
    assert.ok(choice.toolCalls.length <= other.toolCalls.length, `no call that was not made ${where}`);
  }
}

/**
 * Where a body may end: behind every byte, of words only behind the first one, because inside of a word nothing new begins.
 * On demand behind every byte.
 */
function endsOf(body: Uint8Array): number[] {
  const isLetter = (byte = 0) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
  const isInside = (at: number) => isLetter(body[at - 2]) && isLetter(body[at - 1]) && isLetter(body[at]);
  return Array.from(body.keys()).filter((at) => DEEP > 1 || !isInside(at));
}

/** Packets that between them cut a body behind every byte; few and far apart in each, where one cut cannot hide another. */
function* cutsOf(body: Uint8Array): Generator<{ readonly packets: Uint8Array[]; readonly cuts: readonly number[] }> {
  const apart = DEEP > 1 ? body.length : Math.ceil(body.length / 5);
  for (let first = 1; first <= apart; first++) {
    const cuts = Array.from({ length: 5 }, (_, number) => first + number * apart).filter((at) => at < body.length);
    yield { packets: [0, ...cuts].map((at, number) => body.subarray(at, cuts[number])), cuts };
  }
}

describe('quirks of servers', () => {
  for (const row of quirkTable) {
    const { quirk, request, expected } = row;
    const body = bodyOf(row);
    const sent = new TextDecoder().decode(body);
    const streamed = request?.stream !== false;

    describe(quirk, () => {
      it('is understood in one packet, and byte by byte', async () => {
        for (const packets of [[body], Array.from(body, (byte) => Uint8Array.of(byte))]) {
          const outcome = await play(answerOf(row, packets), request);
          assertSound(outcome, streamed);
          assertExpected(outcome, expected, sent);
        }
      });

      it('gives the same however packets cut it', async () => {
        for (const { packets, cuts } of cutsOf(body)) {
          const outcome = await play(answerOf(row, packets), request);
          assertSound(outcome, streamed);
          try {
            assertExpected(outcome, expected, sent);
          } catch (error) {
            throw new Error(`cut after bytes ${cuts} of ${body.length}`, { cause: error });
          }
        }
      });

      it('says that it is not whole when it ends or breaks too early', async () => {
        const full = arrived(await play(answerOf(row, [body]), request));
        for (const [number, at] of endsOf(body).entries()) {
          const start = body.subarray(0, at);
          // Alternating covers both ends at half the cost; what differs between them is not a matter of single bytes.
          const outcome = await play(answerOf(row, [start], number % 2 === 0 ? 'end' : 'break'), request);
          assertSound(outcome, streamed);
          if (!expected.error && row.type === undefined) assertNoError(outcome, `after byte ${at} of ${body.length}`);
          const given = new TextDecoder().decode(start);
          assertBeginning(outcome, full, mayBeComplete(given, request?.n ?? 1), `after byte ${at} of ${body.length}`);
        }
      });
    });
  }

  it('names the service and the time when it falls silent in mid-answer, and keeps what came', async () => {
    const body = stream('{"choices":[{"index":0,"delta":{"content":"Hello"}}]}');
    const outcome = await play({ packets: [bytes(body)], ending: 'silence' }, {}, { deadlines: { idleMs: 20 } });
    assertExpected(
      outcome,
      {
        choices: [{ text: 'Hello' }],
        error: { kind: 'timeout', says: /^The answer stopped: https:\/\/inference\.example sent nothing for 1 second/ },
      },
      body,
    );
  });

  it('refuses more than 128 tools before it sends anything, saying why', async () => {
    const tools = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ type: 'function' as const, function: { name: `tool_${at}` } }));
    const body = [bytes(stream('{"choices":[{"delta":{"content":"A"},"finish_reason":"stop"}]}', '[DONE]'))];
    assert.equal(MAX_TOOLS, 128);
    assert.equal((await play({ packets: body }, { tools: tools(128) })).completion?.complete, true);
    const refused = await play({ packets: body }, { tools: tools(129) });
    assert.equal(refused.asked, 0);
    assert.equal(refused.error?.kind, 'invalidRequest');
    assert.match(refused.error?.message ?? '', /at most 128 tools, but 129 are enabled/);
  });
});
