import type { AttemptResult } from './runResults.ts';

/** What came of asking the same again. */
export interface Reproduction {
  readonly isSameRequest: boolean;
  /** Texts and tool calls of all choices. */
  readonly isSameAnswer: boolean;
  /** Whether the service is the same as before; `unknown` where it sends no fingerprint. */
  readonly fingerprint: 'same' | 'changed' | 'unknown';
  readonly fingerprints: readonly [before: string | undefined, after: string | undefined];
  /** Each choice whose answer differs. */
  readonly differences: readonly { readonly choice: number; readonly before: string; readonly after: string }[];
  /** False where a request failed, so that nothing can be said about the answers. */
  readonly isMeasured: boolean;
}

/** Compares two attempts with the same request and seed. */
export function compareAttempts(before: AttemptResult, after: AttemptResult): Reproduction {
  const prints = [before.completion?.fingerprint, after.completion?.fingerprint] as const;
  const isMeasured = !before.error && !after.error;
  const [one, other] = [answersOf(before), answersOf(after)];
  const differences = Array.from({ length: Math.max(one.length, other.length) }, (_, choice) => ({
    choice,
    before: one[choice] ?? '',
    after: other[choice] ?? '',
  })).filter((each) => each.before !== each.after);
  return {
    isSameRequest: before.body !== undefined && before.body === after.body,
    isSameAnswer: isMeasured && one.length === other.length && differences.length === 0,
    fingerprint: prints.includes(undefined) ? 'unknown' : prints[0] === prints[1] ? 'same' : 'changed',
    fingerprints: prints,
    differences,
    isMeasured,
  };
}

/** Without the IDs of calls, which are made anew each time. */
function answersOf({ completion }: AttemptResult): string[] {
  return (completion?.choices ?? []).map(({ text, toolCalls }) =>
    [text, ...toolCalls.map((call) => `${call.name}(${call.arguments})`)].join('\n'),
  );
}
