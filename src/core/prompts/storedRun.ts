import * as z from 'zod/mini';
import { parseJson } from '../base/json.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import type { CaseResult, PromptRun } from './runResults.ts';
import { reasonText } from './runText.ts';

const verdictSchema = z.enum(['passed', 'failed', 'skipped', 'error']);

const resultSchema = z.object({
  /** Of the case. */
  id: z.string(),
  label: z.string(),
  model: z.string(),
  verdict: verdictSchema,
  passed: z.number(),
  of: z.number(),
  /** The text of each answer, shortened; or why there is none. */
  answers: z.array(
    z.object({
      text: z.string(),
      verdict: verdictSchema,
      reasons: z.array(z.string()),
      calls: z.optional(z.array(z.string())),
    }),
  ),
  tokens: z.optional(z.number()),
  totalMs: z.optional(z.number()),
  fingerprint: z.optional(z.string()),
});

export const storedRunSchema = z.object({
  version: z.literal(1),
  file: z.string(),
  name: z.optional(z.string()),
  startedAt: z.string(),
  durationMs: z.number(),
  models: z.array(z.string()),
  stopped: z.boolean(),
  planned: z.number(),
  /** Some cases of the file only: it says nothing about the others. */
  isPartial: z.optional(z.boolean()),
  results: z.array(resultSchema),
});

/** What is kept of a run: enough to compare it with another. */
export type StoredRun = z.infer<typeof storedRunSchema>;
export type StoredResult = z.infer<typeof resultSchema>;

const LONGEST_ANSWER = 4000;
const LONGEST_REASON = 500;

/** What is kept of a run, of all cases of its file or of some. */
export function summarizeRun(run: PromptRun, isPartial: boolean): StoredRun {
  return {
    version: 1,
    file: run.file,
    ...(run.name !== undefined && { name: run.name }),
    startedAt: run.startedAt.toISOString(),
    durationMs: run.durationMs,
    models: [...run.models],
    stopped: run.stopped,
    planned: run.planned,
    ...(isPartial && { isPartial }),
    results: run.results.map(summarizeResult),
  };
}

function summarizeResult({ case: one, model, verdict, agreement, attempts }: CaseResult): StoredResult {
  const sum = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length > 0 ? known.reduce((total, value) => total + value, 0) : undefined;
  };
  const tokens = sum(attempts.map(({ completion }) => completion?.usage?.totalTokens));
  const totalMs = sum(attempts.map(({ timings }) => timings?.totalMs));
  const fingerprint = attempts.find(({ completion }) => completion?.fingerprint)?.completion?.fingerprint;
  return {
    id: one.id,
    label: one.label,
    model,
    verdict,
    passed: agreement.passed,
    of: agreement.of,
    answers: attempts.flatMap(({ error, answers, completion }): StoredResult['answers'] => {
      if (error)
        return [{ text: '', verdict: 'error', reasons: [truncateWithEllipsis(error.message, LONGEST_REASON)] }];
      return answers.map((answer) => {
        const calls = completion?.choices.find(({ index }) => index === answer.choice)?.toolCalls ?? [];
        return {
          text: truncateWithEllipsis(answer.text, LONGEST_ANSWER),
          verdict: answer.verdict,
          reasons: answer.evaluations
            .filter((each) => each.verdict !== 'passed' && each.reason !== undefined)
            .map((each) => truncateWithEllipsis(reasonText(each), LONGEST_REASON)),
          ...(calls.length > 0 && {
            calls: calls.map((call) => truncateWithEllipsis(`${call.name}(${call.arguments})`, LONGEST_REASON)),
          }),
        };
      });
    }),
    ...(tokens !== undefined && { tokens }),
    ...(totalMs !== undefined && { totalMs }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

/** A run that was stored before, of this or another machine; `undefined` for anything else. */
export function readStoredRun(text: string): StoredRun | undefined {
  const read = z.safeParse(storedRunSchema, parseJson(text));
  return read.success ? read.data : undefined;
}
