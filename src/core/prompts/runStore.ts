import * as z from 'zod/mini';
import { createSerialQueue } from '../base/abort.ts';
import { parseJson } from '../base/json.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import type { CaseResult, PromptRun } from './runResults.ts';
import { reasonText } from './runText.ts';

const verdictSchema = z.enum(['passed', 'failed', 'skipped', 'error']);

const resultSchema = z.object({
  /** The ID of the case. */
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
  /** Only some cases of the file were run: it says nothing about the others. */
  isPartial: z.optional(z.boolean()),
  results: z.array(resultSchema),
});

/** The stored part of a run: enough to compare it with another. */
export type StoredRun = z.infer<typeof storedRunSchema>;
export type StoredResult = z.infer<typeof resultSchema>;

const LONGEST_ANSWER = 4000;
const LONGEST_REASON = 500;

/** Summarizes a run for the store, of all cases of its file or of some. */
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

function summarizeResult({ case: promptCase, model, verdict, agreement, attempts }: CaseResult): StoredResult {
  const sum = (values: readonly (number | undefined)[]) => {
    const numbers = values.filter((value) => value !== undefined);
    return numbers.length > 0 ? numbers.reduce((total, value) => total + value, 0) : undefined;
  };
  const tokens = sum(attempts.map(({ completion }) => completion?.usage?.totalTokens));
  const totalMs = sum(attempts.map(({ timings }) => timings?.totalMs));
  const fingerprint = attempts.find(({ completion }) => completion?.fingerprint)?.completion?.fingerprint;
  return {
    id: promptCase.id,
    label: promptCase.label,
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

/** A run that was stored before, on this or another machine; `undefined` for anything else. */
export function readStoredRun(text: string): StoredRun | undefined {
  const read = z.safeParse(storedRunSchema, parseJson(text));
  return read.success ? read.data : undefined;
}

/** Files by name, in a folder that the host chooses. */
export interface RunStorage {
  list(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  write(name: string, text: string): Promise<void>;
  delete(name: string): Promise<void>;
}

/** The most runs that are stored of one prompt file, without its baseline. */
export const MAX_RUNS = 20;
/** The most runs that are stored of all files: the oldest are deleted first, baselines last. */
const MAX_TOTAL = 200;
const BASELINE = 'baseline.';

/** Stores the last runs of each prompt file, and the baseline. Calls are carried out in their order. */
export class RunStore {
  readonly #storage: RunStorage;
  /** Pruning counts the runs of all files, and a reader also gets a run that is being added. */
  readonly #inTurn = createSerialQueue();

  constructor(storage: RunStorage) {
    this.#storage = storage;
  }

  /** @param fileKey a short name for the prompt file that is valid in a file name, such as a hash of its address. */
  async add(fileKey: string, run: StoredRun): Promise<void> {
    await this.#inTurn(() => this.#add(fileKey, run));
  }

  async #add(fileKey: string, run: StoredRun): Promise<void> {
    const names = await this.#storage.list();
    const time = run.startedAt.replace(/[^\dTZ]/g, '');
    const isFree = (candidate: string) => !names.includes(candidate);
    let key = `${fileKey}.${time}.json`;
    for (let count = 2; !isFree(key); count++) key = `${fileKey}.${time}-${count}.json`;
    await this.#storage.write(key, JSON.stringify(run));
    await this.#prune(fileKey);
  }

  /** The newest first; runs that cannot be read are left out. */
  async runs(fileKey: string): Promise<StoredRun[]> {
    const read = await this.#inTurn(async () => {
      const names = (await this.#storage.list()).filter((name) => isOf(name, fileKey));
      return Promise.all(names.map((name) => this.#read(name)));
    });
    return read.filter((run) => run !== undefined).sort((one, other) => other.startedAt.localeCompare(one.startedAt));
  }

  async baseline(fileKey: string): Promise<StoredRun | undefined> {
    const name = `${BASELINE}${fileKey}.json`;
    return this.#inTurn(async () => ((await this.#storage.list()).includes(name) ? this.#read(name) : undefined));
  }

  /** `undefined` removes the baseline. */
  async setBaseline(fileKey: string, run: StoredRun | undefined): Promise<void> {
    const name = `${BASELINE}${fileKey}.json`;
    await this.#inTurn(async () => {
      if (run) await this.#storage.write(name, JSON.stringify(run));
      else if ((await this.#storage.list()).includes(name)) await this.#storage.delete(name);
    });
  }

  /** Deletes all runs, with their baselines. */
  async clear(): Promise<void> {
    await this.#inTurn(async () => {
      for (const name of await this.#storage.list()) await this.#storage.delete(name);
    });
  }

  async #read(name: string): Promise<StoredRun | undefined> {
    return readStoredRun(await this.#storage.read(name).catch(() => ''));
  }

  /** Names contain the time, and so sort by it. */
  async #prune(fileKey: string): Promise<void> {
    const names = (await this.#storage.list()).filter((name) => !name.startsWith(BASELINE));
    const time = (name: string) => name.slice(name.indexOf('.') + 1);
    const oldest = (list: readonly string[]) => list.toSorted((one, other) => time(one).localeCompare(time(other)));
    const ofFile = oldest(names.filter((name) => isOf(name, fileKey)));
    const surplus = ofFile.slice(0, Math.max(0, ofFile.length - MAX_RUNS));
    const rest = oldest(names.filter((name) => !surplus.includes(name)));
    surplus.push(...rest.slice(0, Math.max(0, rest.length - MAX_TOTAL)));
    for (const name of surplus) await this.#storage.delete(name);
  }
}

function isOf(name: string, fileKey: string): boolean {
  return name.startsWith(`${fileKey}.`);
}
