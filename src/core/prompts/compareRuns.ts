import type { AttemptResult, Verdict } from './runResults.ts';
import type { StoredResult, StoredRun } from './runStore.ts';

/**
 * How a case changed from one run, or model, to another.
 *
 * - `better`, `worse`: another verdict, or more or fewer of its answers pass.
 * - `different`: the verdict is the same, the answers are not.
 * - `unmeasured`: one of the two could not be measured, so they cannot be compared.
 * - `added`, `removed`: only one of the two has it.
 */
export type Change = 'better' | 'worse' | 'different' | 'unchanged' | 'unmeasured' | 'added' | 'removed';

export interface ComparedCase {
  readonly id: string;
  readonly label: string;
  /** The model of the later run, or of both; absent where models are compared. */
  readonly model?: string;
  readonly change: Change;
  readonly before?: StoredResult;
  readonly after?: StoredResult;
}

/**
 * Compares two runs case by case, in the order of the later one; cases that it lacks come last. A run of some cases
 * says nothing about the others.
 */
export function compareRuns(before: StoredRun, after: StoredRun): ComparedCase[] {
  // With one model each, the runs compare their models.
  const isModelFree = before.models.length === 1 && after.models.length === 1;
  const key = ({ id, model }: StoredResult) => (isModelFree ? id : JSON.stringify([id, model]));
  const isReported = ({ change }: ComparedCase) =>
    !(change === 'added' && before.isPartial) && !(change === 'removed' && after.isPartial);
  return compare(before.results, after.results, key).filter(isReported);
}

/**
 * The runs that a run can be compared with: the baseline, then the newest first, each with at least one of its cases.
 */
export function comparableRuns(
  [latest, ...earlier]: readonly StoredRun[],
  baseline: StoredRun | undefined,
): { readonly run: StoredRun; readonly isBaseline: boolean }[] {
  if (!latest) return [];
  const isBaseline = ({ startedAt }: StoredRun) => startedAt === baseline?.startedAt;
  const kept = baseline && !isBaseline(latest) ? [baseline, ...earlier.filter((run) => !isBaseline(run))] : earlier;
  const ids = new Set(latest.results.map(({ id }) => id));
  return kept
    .filter(({ results }) => results.some(({ id }) => ids.has(id)))
    .map((run) => ({ run, isBaseline: isBaseline(run) }));
}

/** The run that becomes the baseline: the newest of the whole file, else the newest. */
export function runForBaseline(runs: readonly StoredRun[]): StoredRun | undefined {
  return runs.find(({ isPartial }) => !isPartial) ?? runs[0];
}

/** Two models of one run. */
export function compareModels({ results }: StoredRun, before: string, after: string): ComparedCase[] {
  const of = (wanted: string) => results.filter(({ model }) => model === wanted);
  return compare(of(before), of(after), ({ id }) => id).map(({ model: _, ...rest }) => rest);
}

/** The cases that did better in the baseline: they passed there, and now fail or pass less often. */
export function regressions(baseline: StoredRun, after: StoredRun): ComparedCase[] {
  return compareRuns(baseline, after).filter(({ change }) => change === 'worse');
}

function compare(
  before: readonly StoredResult[],
  after: readonly StoredResult[],
  key: (result: StoredResult) => string,
): ComparedCase[] {
  const earlier = new Map(before.map((result) => [key(result), result]));
  const later = new Set(after.map(key));
  const compared = after.map((result): ComparedCase => {
    const { id, label, model } = result;
    const earlierResult = earlier.get(key(result));
    if (!earlierResult) return { id, label, model, change: 'added', after: result };
    return { id, label, model, change: changeOf(earlierResult, result), before: earlierResult, after: result };
  });
  const removed = before
    .filter((result) => !later.has(key(result)))
    .map(({ id, label, model }, index, list): ComparedCase => {
      return { id, label, model, change: 'removed', before: list[index] as StoredResult };
    });
  return [...compared, ...removed];
}

function changeOf(before: StoredResult, after: StoredResult): Change {
  const ranks = [rank(before.verdict), rank(after.verdict)] as const;
  const [earlier, later] = ranks;
  if (earlier === undefined || later === undefined) {
    // Where nothing is checked, the answers themselves can still be compared.
    const isUnchecked = before.verdict === 'skipped' && after.verdict === 'skipped';
    return isUnchecked ? sameness(before, after) : 'unmeasured';
  }
  const shares = [before.passed / Math.max(1, before.of), after.passed / Math.max(1, after.of)] as const;
  const gain = later - earlier || shares[1] - shares[0];
  if (gain !== 0) return gain > 0 ? 'better' : 'worse';
  return sameness(before, after);
}

function rank(verdict: Verdict): number | undefined {
  return verdict === 'passed' ? 1 : verdict === 'failed' ? 0 : undefined;
}

/** Whether the same answers came, however often each. */
function sameness(before: StoredResult, after: StoredResult): Change {
  const answersKey = ({ answers }: StoredResult) =>
    [...new Set(answers.map(({ text, calls = [] }) => JSON.stringify([text, calls])))].sort().join();
  return answersKey(before) === answersKey(after) ? 'unchanged' : 'different';
}

/** The result of asking the same again. */
export interface Reproduction {
  readonly isSameRequest: boolean;
  /** Texts and tool calls of all choices. */
  readonly isSameAnswer: boolean;
  /** Whether the service is the same as before; `unknown` where it sends no fingerprint. */
  readonly fingerprint: 'same' | 'changed' | 'unknown';
  /** Each choice whose answer differs. */
  readonly differences: readonly { readonly choice: number; readonly before: string; readonly after: string }[];
  /** False if a request failed, so that the answers cannot be compared. */
  readonly isMeasured: boolean;
}

/** Compares two attempts with the same request and seed. */
export function compareAttempts(before: AttemptResult, after: AttemptResult): Reproduction {
  const prints = [before.completion?.fingerprint, after.completion?.fingerprint] as const;
  const isMeasured = !before.error && !after.error;
  const [answersBefore, answersAfter] = [answersOf(before), answersOf(after)];
  const differences = Array.from({ length: Math.max(answersBefore.length, answersAfter.length) }, (_, choice) => ({
    choice,
    before: answersBefore[choice] ?? '',
    after: answersAfter[choice] ?? '',
  })).filter((each) => each.before !== each.after);
  return {
    isSameRequest: before.body !== undefined && before.body === after.body,
    isSameAnswer: isMeasured && answersBefore.length === answersAfter.length && differences.length === 0,
    fingerprint: prints.includes(undefined) ? 'unknown' : prints[0] === prints[1] ? 'same' : 'changed',
    differences,
    isMeasured,
  };
}

/** The answers without the IDs of calls, which differ each time. */
function answersOf({ completion }: AttemptResult): string[] {
  return (completion?.choices ?? []).map(({ text, toolCalls }) =>
    [text, ...toolCalls.map((call) => `${call.name}(${call.arguments})`)].join('\n'),
  );
}
