import assert from 'node:assert/strict';
import {
  comparableRuns,
  compareAttempts,
  compareModels,
  compareRuns,
  regressions,
  runForBaseline,
} from '../../../../src/core/prompts/compareRuns.ts';
import { attemptJson, jsonReport, junitReport, markdownReport } from '../../../../src/core/prompts/reports.ts';
import type { AttemptResult } from '../../../../src/core/prompts/runResults.ts';
import {
  MAX_RUNS,
  type RunStorage,
  RunStore,
  readStoredRun,
  type StoredRun,
  summarizeRun,
} from '../../../../src/core/prompts/runStore.ts';
import { play, refuses, says } from './harness.ts';

const YAML = (more = '') => `name: Test
messages: [{role: user, content: '{{input}}'}]
modelParameters: {stream: false}
testData: [{input: one, expected: a}, {input: two, expected: a}, {input: three, expected: a}]
evaluators: [{name: same, string: {equals: '{{expected}}'}}]
${more}`;

/** A run in which the model says these words, and `!` is a failure of the service. */
async function stored(words: readonly string[], models: readonly string[] = ['m'], more = ''): Promise<StoredRun> {
  const reply = (word = '') => (word === '!' ? refuses(500, 'down') : says(word));
  const { run } = await play(YAML(more), (_request, index) => reply(words[index]), {
    plan: { models },
    concurrency: 1,
  });
  return JSON.parse(JSON.stringify(summarizeRun(run, false))) as StoredRun;
}

const changes = (before: StoredRun, after: StoredRun) =>
  compareRuns(before, after).map(({ label, change }) => [label, change]);

describe('two runs', () => {
  it('say of each case what has changed', async () => {
    const before = await stored(['a', 'b', 'a']);
    assert.deepEqual(changes(before, await stored(['a', 'b', 'a'])), [
      ['one', 'unchanged'],
      ['two', 'unchanged'],
      ['three', 'unchanged'],
    ]);
    assert.deepEqual(changes(before, await stored(['b', 'a', '!'])), [
      ['one', 'worse'],
      ['two', 'better'],
      ['three', 'unmeasured'],
    ]);
    assert.deepEqual(changes(before, await stored(['a', 'c', 'a'])).at(1), ['two', 'different']);
  });

  it('are told apart by models only where there are several', async () => {
    const before = await stored(['a', 'a', 'a'], ['m']);
    const after = await stored(['b', 'a', 'a'], ['n']);
    assert.deepEqual(changes(before, after)[0], ['one', 'worse']);
    const both = await stored(['a', 'b', 'a', 'a', 'a', 'a'], ['m', 'n']);
    assert.deepEqual(
      compareRuns(before, both).map(({ change }) => change),
      ['unchanged', 'added', 'unchanged', 'added', 'unchanged', 'added'],
    );
    assert.deepEqual(
      compareModels(both, 'm', 'n').map(({ label, change }) => [label, change]),
      [
        ['one', 'worse'],
        ['two', 'unchanged'],
        ['three', 'unchanged'],
      ],
    );
  });

  it('count agreement: fewer passes are worse though the verdict is the same', async () => {
    const repeated = (words: readonly string[]) => stored(words, ['m'], 'rolecall: {repeats: 3, passes: 1}');
    const before = await repeated(['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a']);
    const after = await repeated(['a', 'b', 'a', 'a', 'a', 'a', 'a', 'a', 'a']);
    assert.deepEqual(
      regressions(before, after).map(({ label }) => label),
      ['one'],
    );
  });

  it('are the same where the same answers came more often', async () => {
    const repeated = (words: readonly string[], more: string) => stored(words, ['m'], more);
    const before = await repeated(['b', 'b', 'b'], '');
    const thrice = 'rolecall: {repeats: 3}';
    const same = await repeated(['b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'], thrice);
    assert.deepEqual(
      changes(before, same).map(([, change]) => change),
      ['unchanged', 'unchanged', 'unchanged'],
    );
    const other = await repeated(['b', 'c', 'b', 'b', 'b', 'b', 'c', 'c', 'c'], thrice);
    assert.deepEqual(
      changes(before, other).map(([, change]) => change),
      ['different', 'unchanged', 'different'],
    );
    assert.deepEqual(
      changes(other, await repeated(['c', 'b', 'b', 'b', 'b', 'b', 'c', 'c', 'c'], thrice)).map(([, change]) => change),
      ['unchanged', 'unchanged', 'unchanged'],
    );
  });

  it('name the model of each case, unless it is models that are compared', async () => {
    const both = await stored(['a', 'b', 'a', 'a', 'a', 'a'], ['m', 'n']);
    assert.deepEqual(
      compareRuns(both, both).map(({ label, model }) => [label, model]),
      ['one', 'two', 'three'].flatMap((label) => [
        [label, 'm'],
        [label, 'n'],
      ]),
    );
    assert.ok(compareModels(both, 'm', 'n').every((each) => !('model' in each)));
  });

  describe('of some cases', () => {
    const at = (run: StoredRun, minute: number): StoredRun => ({
      ...run,
      startedAt: `2026-01-01T10:0${minute}:00.000Z`,
    });
    const only = (run: StoredRun, label: string): StoredRun => ({
      ...run,
      isPartial: true,
      results: run.results.filter((each) => each.label === label),
    });

    it('say nothing about the others', async () => {
      const whole = await stored(['a', 'b', 'a']);
      const part = only(await stored(['a', 'a', 'a']), 'two');
      assert.deepEqual(changes(whole, part), [['two', 'better']]);
      assert.deepEqual(changes(part, whole), [['two', 'worse']]);
    });

    it('are compared with those that have one of them, and with the baseline once', async () => {
      const run = await stored(['a', 'b', 'a']);
      const [first, second, third, fourth] = [at(run, 1), only(at(run, 2), 'one'), only(at(run, 3), 'two'), at(run, 4)];
      const times = (runs: readonly StoredRun[], baseline?: StoredRun) =>
        comparableRuns(runs, baseline).map(
          ({ run: { startedAt }, isBaseline }) => startedAt.slice(15, 16) + (isBaseline ? ' baseline' : ''),
        );
      assert.deepEqual(times([third, second, first]), ['1']);
      assert.deepEqual(times([fourth, third, second, first]), ['3', '2', '1']);
      assert.deepEqual(times([fourth, third, second, first], first), ['1 baseline', '3', '2']);
      assert.deepEqual(times([fourth, third, second], first), ['1 baseline', '3', '2'], 'no longer kept');
      assert.deepEqual(times([fourth, third], fourth), ['3'], 'not with itself');
      assert.deepEqual(times([], first), []);
    });

    it('are the baseline only where there is no run of all', async () => {
      const whole = await stored(['a', 'b', 'a']);
      const part = only(whole, 'one');
      assert.deepEqual(
        [runForBaseline([part, whole]), runForBaseline([part]), runForBaseline([])],
        [whole, part, undefined],
      );
    });
  });

  it('keep what only one of them has', async () => {
    const before = await stored(['a', 'a', 'a']);
    const after = {
      ...before,
      results: before.results.slice(1).concat({ ...before.results[0]!, id: 'new', label: 'new' }),
    };
    assert.deepEqual(changes(before, after), [
      ['two', 'unchanged'],
      ['three', 'unchanged'],
      ['new', 'added'],
      ['one', 'removed'],
    ]);
    assert.deepEqual(regressions(before, after), []);
  });

  it('are read only as what they are', async () => {
    const run = await stored(['a', 'b', '!']);
    assert.deepEqual(readStoredRun(JSON.stringify(run)), run);
    for (const text of [
      '',
      '{}',
      '[]',
      JSON.stringify({ ...run, version: 2 }),
      JSON.stringify({ ...run, results: [{}] }),
    ]) {
      assert.equal(readStoredRun(text), undefined);
    }
  });
});

describe('kept runs', () => {
  class Memory implements RunStorage {
    readonly files = new Map<string, string>();
    list = async () => [...this.files.keys()];
    read = async (name: string) => this.files.get(name) ?? '';
    write = async (name: string, text: string) => void this.files.set(name, text);
    delete = async (name: string) => void this.files.delete(name);
  }

  it('are bounded for each file, the newest first; a baseline stays', async () => {
    const memory = new Memory();
    const store = new RunStore(memory);
    const run = await stored(['a', 'a', 'a']);
    const at = (day: number) => ({ ...run, startedAt: new Date(Date.UTC(2026, 0, day)).toISOString() });
    await store.setBaseline('a', at(1));
    for (let day = 1; day <= MAX_RUNS + 5; day++) await store.add('a', at(day));
    await store.add('b', at(1));
    await store.add('b', at(1));
    const kept = await store.runs('a');
    assert.equal(kept.length, MAX_RUNS);
    assert.equal(kept[0]?.startedAt, at(MAX_RUNS + 5).startedAt);
    assert.equal((await store.baseline('a'))?.startedAt, at(1).startedAt);
    assert.equal((await store.runs('b')).length, 2, 'of the same moment');
    await Promise.all([store.add('c', at(1)), store.add('c', at(1)), store.add('c', at(1))]);
    assert.equal((await store.runs('c')).length, 3, 'at once');
    void store.add('d', at(1));
    assert.equal((await store.runs('d')).length, 1, 'that is being added');
    memory.files.set('a.broken.json', '{');
    assert.equal((await store.runs('a')).length, MAX_RUNS);
    await store.clear();
    assert.equal(memory.files.size, 0);
  });
});

describe('the same request again', () => {
  const attempt = async (text: string, fingerprint?: string): Promise<AttemptResult> => {
    const { run } = await play(YAML(), () => says(text, {}, { system_fingerprint: fingerprint }));
    return run.results[0]?.attempts[0] as AttemptResult;
  };
  it('says whether the answer and the service are the same', async () => {
    const before = await attempt('a', 'f1');
    const same = compareAttempts(before, await attempt('a', 'f1'));
    assert.deepEqual([same.isSameRequest, same.isSameAnswer, same.fingerprint], [true, true, 'same']);
    const other = compareAttempts(before, await attempt('b', 'f2'));
    assert.deepEqual([other.isSameAnswer, other.fingerprint], [false, 'changed']);
    assert.deepEqual(other.differences, [{ choice: 0, before: 'a', after: 'b' }]);
    assert.equal(compareAttempts(before, await attempt('a')).fingerprint, 'unknown');
  });
  it('says nothing of an answer that is not there', async () => {
    const { run } = await play(YAML(), () => refuses(500, 'down'));
    const failed = run.results[0]?.attempts[0] as AttemptResult;
    const found = compareAttempts(await attempt('a', 'f1'), failed);
    assert.deepEqual([found.isMeasured, found.isSameAnswer, found.fingerprint], [false, false, 'unknown']);
  });
});

describe('reports', () => {
  it('of a run without results claim nothing', async () => {
    const { run } = await play(YAML(), () => says('a'), { plan: { cases: [] } });
    assert.equal(jsonReport(run).summary.passRate, 0);
    assert.match(junitReport([run]), /tests="0"/);
  });

  it('as JUnit XML hold every kind of verdict, and no character that XML does not know', async () => {
    const { run } = await play(
      `name: 'A "test" <&>'
messages: [{role: user, content: '{{input}}'}]
testData: [{input: one, expected: a}, {input: two, expected: a}, {input: three, expected: a}, {input: four}]
evaluators: [{name: same, string: {equals: '{{expected}}'}}]`,
      ({ text }) =>
        text === 'two' ? says('\u0000\uD800]]>\uFFFE😀') : text === 'three' ? refuses(500, 'down') : says('a'),
      { concurrency: 1 },
    );
    const xml = junitReport([run]);
    assert.match(
      xml,
      /<testsuite name="A &#34;test&#34; &#60;&#38;&#62;" tests="4" failures="1" errors="1" skipped="1" /,
    );
    assert.match(xml, /<system-out>\uFFFD\uFFFD\]\]&#62;\uFFFD😀<\/system-out>/);
    assert.match(xml, /<failure message="same: Expected &#34;a&#34;, got &#34;.*&#34;\.">/);
    assert.match(xml, /<error message="[^"]*down[^"]*">/);
    assert.match(xml, /<skipped message="same \(skipped\): The case has no value for: expected\."\/>/);
    assert.doesNotMatch(xml, /answers passed/); // Each case has one.
    assert.ok(xml.isWellFormed());
  });

  it('name a check that was skipped beside others, which has neither passed nor failed', async () => {
    const { run } = await play(
      `messages: [{role: user, content: x}]
testData: [{input: one}]
evaluators: [{name: same, string: {equals: a}}, {name: fluent, uses: github/fluency}, {name: down, uses: github/coherence}]
rolecall: {judge: away}`,
      ({ text }) => (text.includes('<input>') ? refuses(500, 'down') : says('a')),
      { deps: { judgeModel: () => undefined } },
    );
    const { testResults } = jsonReport(run) as unknown as {
      testResults: { evaluationResults: Record<string, unknown>[] }[];
    };
    assert.deepEqual(
      testResults[0]?.evaluationResults.map(({ evaluatorName, passed, score, verdict }) => [
        evaluatorName,
        passed,
        score,
        verdict,
      ]),
      [
        ['same', true, 1, 'passed'],
        ['fluent', null, null, 'skipped'],
        ['down', null, null, 'skipped'],
      ],
    );
    const xml = junitReport([run]);
    assert.match(xml, /tests="3" failures="0" errors="0" skipped="2"/);
    assert.match(
      xml,
      /<testcase name="one · fluent" classname="a\.prompt\.yml" time="0\.000">\n {6}<skipped message="fluent \(skipped\): There is no model to judge with\. Choose one\."\/>/,
    );
  });

  it('as Markdown keep the words of a model from being markup', async () => {
    const { run } = await play(YAML(), () =>
      says(
        '```\n# no heading\n````',
        {
          message: { role: 'assistant', content: '```\n# no heading\n````', reasoning_content: '</details><b>x</b>' },
          finish_reason: 'stop`|',
          stop_reason: 'END',
        },
        { system_fingerprint: 'fp|1' },
      ),
    );
    const text = markdownReport(run.results[0]?.attempts[0] as AttemptResult, 'A *title*\n# two');
    assert.match(text, /^# A \\\*title\\\* \\# two\n/);
    assert.match(text, /\n`````\n```\n# no heading\n````\n`````\n/);
    assert.match(text, /<summary>Reasoning<\/summary>\n\n```\n<\/details><b>x<\/b>\n```/);
    assert.match(text, /Stop reason: ` "END" `/);
    assert.match(text, /\| Fingerprint \| ` fp\\\|1 ` \|/);
    assert.match(text, /\| Input tokens \| ` 5 ` \|/);
    assert.match(text, /## Request\n\n```json\n/);
  });

  it('of one answer hold what was sent and what came, and the version', async () => {
    const { run } = await play(YAML(), () => says('a'), { plan: { withEvents: true } });
    const saved = JSON.parse(
      JSON.stringify(attemptJson(run.results[0]?.attempts[0] as AttemptResult, { version: '1.2.3' })),
    );
    assert.deepEqual([saved.format, saved.formatVersion, saved.rolecall], ['rolecall-answer', 1, '1.2.3']);
    assert.deepEqual(Object.keys(saved.request), ['model', 'messages', 'stream']);
    assert.equal(saved.completion.choices[0].text, 'a');
    assert.equal(saved.events.length, 1);
    assert.doesNotMatch(JSON.stringify(saved), /canary|[Aa]uthorization/);
  });
});
