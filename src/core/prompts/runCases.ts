import * as l10n from '@vscode/l10n';
import { asRolecallError, cancelled, type ErrorKind, isCancelled, RolecallError } from '../base/errors.ts';
import type { CompletionChoice, CompletionEvent } from '../completions/completion.ts';
import type { CompletionRequest } from '../completions/request.ts';
import { evaluate, trimmedAnswer } from './evaluate.ts';
import type { PromptCase } from './promptCases.ts';
import { type Exchange, PromptClient, type PromptClientDeps, RequestQueue } from './promptClient.ts';
import type { PromptFile } from './promptFile.ts';
import { buildRequest, type PromptResources } from './promptRequest.ts';
import type { AskJudge } from './runResults.ts';
import {
  type AnswerResult,
  type AttemptError,
  type AttemptResult,
  agreementOf,
  type CaseResult,
  combineVerdicts,
  type Evaluation,
  type PromptRun,
  verdictOf,
} from './runResults.ts';

/** What is to be run. */
export interface RunPlan {
  readonly file: PromptFile;
  /** The name of the file in results. */
  readonly path: string;
  /** All cases of the file and its data files, or some of them. */
  readonly cases: readonly PromptCase[];
  /** By their IDs at the service. */
  readonly models: readonly string[];
  /** Replaces the number in the file. */
  readonly repeats?: number;
  /** Cases without evaluators are skipped: an answer that nothing checks costs as much and proves nothing. */
  readonly onlyChecked?: boolean;
  /** Keeps the events of the service with their times. */
  readonly withEvents?: boolean;
}

export interface RunDeps extends PromptClientDeps {
  readonly resources: PromptResources;
  /** Shared by all runs at the same time; a separate one unless given. */
  readonly queue?: RequestQueue;
  /** The service's model that judges, for a name in a file; `undefined` if the user has to choose one. */
  judgeModel(name: string): string | undefined;
  /**
   * Judges if the file names no available model. Without it, the first model of the run judges if the file names none.
   */
  readonly judge?: string | undefined;
  /** A sentence on how to choose a judge, for checks that are skipped. */
  readonly judgeAdvice: string;
  readonly date?: () => Date;
}

/** The request of a run that an event is about. */
export interface Attempt {
  readonly case: PromptCase;
  readonly model: string;
  /** From 0. */
  readonly attempt: number;
  /** The number of attempts of this case with this model. */
  readonly attempts: number;
  readonly seed?: number;
}

/** The events of a run. Requests of several cases interleave. */
export type RunEvent =
  /** The request is being built. */
  | ({ readonly kind: 'started' } & Attempt)
  /** The body, each time it is sent. */
  | ({ readonly kind: 'sent'; readonly body: string } & Attempt)
  | ({ readonly kind: 'event'; readonly event: CompletionEvent } & Attempt)
  | ({ readonly kind: 'evaluated'; readonly choice: number; readonly evaluation: Evaluation } & Attempt)
  | ({ readonly kind: 'attempted'; readonly result: AttemptResult } & Attempt)
  /** All attempts of a case with a model. */
  | { readonly kind: 'finished'; readonly result: CaseResult }
  /** The service asked to wait: nothing is sent for this long. */
  | { readonly kind: 'waiting'; readonly ms: number };

/** The number of failures of one kind in a row after which a model is not asked any more. */
const GIVE_UP_AFTER = 3;
/** Failures that another request cannot change. */
const lasting: readonly AttemptError['kind'][] = [
  'configuration',
  'signedOut',
  'sessionEnded',
  'forbidden',
  'notFound',
  'credit',
  'offline',
  'storage',
] satisfies ErrorKind[];

/**
 * Sends every case to every model, and checks the answers. A failed request is an error of its case and stops nothing
 * else, unless the next request would fail in the same way. Never throws: after Stop, the result has everything that
 * was finished by then.
 */
export async function runCases(
  plan: RunPlan,
  deps: RunDeps,
  onEvent: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<PromptRun> {
  const { file, cases, models } = plan;
  const date = deps.date ?? (() => new Date());
  const startedAt = date();
  const { queue = new RequestQueue() } = deps;
  const run = new Run(plan, deps, queue, onEvent);
  const wanted = cases.flatMap((one) => models.map((model) => new WantedCase(one, model, run.attemptsOf(one, model))));
  const finish = (each: WantedCase) => {
    const result = each.finished(file.extensions.passes);
    if (result) onEvent({ kind: 'finished', result });
  };
  const work = async (each: WantedCase, attempt: Attempt) => {
    if (signal.aborted) return;
    const result = await run.attempt(attempt, signal).catch((error: unknown) => {
      if (isCancelled(error)) return undefined;
      throw error;
    });
    if (!result) return;
    onEvent({ kind: 'attempted', result, ...attempt });
    each.results.set(attempt.attempt, result);
    finish(each);
  };
  await Promise.all(
    wanted.flatMap((each) => {
      if (each.attempts.length === 0) finish(each);
      return each.attempts.map((attempt) => queue.add(() => work(each, attempt)));
    }),
  );
  const results = wanted.flatMap((each) => each.finished(file.extensions.passes) ?? []);
  return {
    file: plan.path,
    ...(file.name !== undefined && { name: file.name }),
    ...(file.description !== undefined && { description: file.description }),
    ...(file.model && { model: file.model.value }),
    startedAt,
    durationMs: date().getTime() - startedAt.getTime(),
    models,
    planned: wanted.length,
    results,
    stopped: signal.aborted && results.length < wanted.length,
  };
}

/** A case for a model, with its results so far. */
class WantedCase {
  readonly attempts: readonly Attempt[];
  readonly results = new Map<number, AttemptResult>();
  readonly #case: PromptCase;
  readonly #model: string;

  constructor(promptCase: PromptCase, model: string, attempts: readonly Attempt[]) {
    this.#case = promptCase;
    this.#model = model;
    this.attempts = attempts;
  }

  /** The result, once all attempts are finished. */
  finished(passes: number | undefined): CaseResult | undefined {
    if (this.results.size < this.attempts.length) return undefined;
    const attempts = [...this.results].sort(([one], [other]) => one - other).map(([, result]) => result);
    const agreement = agreementOf(attempts);
    const verdict = attempts.length === 0 ? 'skipped' : verdictOf(agreement, passes);
    return { case: this.#case, model: this.#model, verdict, agreement, attempts };
  }
}

class Run {
  readonly #plan: RunPlan;
  readonly #deps: RunDeps;
  readonly #onEvent: (event: RunEvent) => void;
  readonly #client: PromptClient;
  /** The failures in a row, by model. */
  readonly #failures = new Map<string, { readonly error: AttemptError; readonly count: number }>();

  constructor(plan: RunPlan, deps: RunDeps, queue: RequestQueue, onEvent: (event: RunEvent) => void) {
    this.#plan = plan;
    this.#deps = deps;
    this.#onEvent = onEvent;
    this.#client = new PromptClient(deps, queue, (ms) => onEvent({ kind: 'waiting', ms }));
  }

  attemptsOf(promptCase: PromptCase, model: string): Attempt[] {
    const { file, repeats = file.extensions.repeats, onlyChecked = false } = this.#plan;
    if (onlyChecked && file.evaluators.length === 0) return [];
    const seeds: readonly (number | undefined)[] =
      file.extensions.seeds.length > 0 ? file.extensions.seeds : [undefined];
    const attempts = seeds.length * repeats;
    return Array.from({ length: attempts }, (_, attempt) => {
      const seed = seeds[attempt % seeds.length];
      return { case: promptCase, model, attempt, attempts, ...(seed !== undefined && { seed }) };
    });
  }

  /** @throws RolecallError `cancelled`, and nothing else. */
  async attempt(attempt: Attempt, signal: AbortSignal): Promise<AttemptResult> {
    const { file, withEvents = false } = this.#plan;
    const { seed, model } = attempt;
    this.#onEvent({ kind: 'started', ...attempt });
    const input = { file, values: attempt.case.values, model, seed, resources: this.#deps.resources };
    const seeded = seed === undefined ? {} : { seed };
    const request = await settle(buildRequest(input, signal), signal);
    if (request instanceof RolecallError) return { ...seeded, error: this.#fail(model, request, false), answers: [] };
    const earlierError = this.#givenUp(model);
    if (earlierError) return { ...seeded, request: { ...request }, error: earlierError, answers: [] };
    const onSend = (body: string) => this.#onEvent({ kind: 'sent', body, ...attempt });
    const onEvent = (event: CompletionEvent) => this.#onEvent({ kind: 'event', event, ...attempt });
    const exchange = await this.#client.send(request, { withEvents, onSend, onEvent }, signal);
    const error = this.#errorOf(model, exchange);
    return {
      ...seeded,
      request: (exchange.body === undefined ? request : JSON.parse(exchange.body)) as Record<string, unknown>,
      ...(exchange.body !== undefined && { body: exchange.body }),
      ...(exchange.completion && { completion: exchange.completion }),
      ...(exchange.timings && { timings: exchange.timings }),
      ...(exchange.events && { events: exchange.events }),
      ...(error && { error }),
      answers: error ? [] : await this.#evaluate(attempt, exchange, signal),
    };
  }

  async #evaluate(attempt: Attempt, exchange: Exchange, signal: AbortSignal): Promise<AnswerResult[]> {
    const { completion, timings } = exchange;
    if (!completion || !timings) return [];
    const results: AnswerResult[] = [];
    for (const choice of completion.choices) {
      const { judgeAdvice } = this.#deps;
      const answer = {
        choice,
        completion,
        timings,
        values: attempt.case.values,
        askJudge: this.#askJudge,
        judgeAdvice,
      };
      const evaluations: Evaluation[] = [];
      for (const definition of this.#plan.file.evaluators) {
        const evaluation = await evaluate(definition, answer, signal);
        evaluations.push(evaluation);
        this.#onEvent({ kind: 'evaluated', choice: choice.index, evaluation, ...attempt });
      }
      const verdict = combineVerdicts(evaluations.map((each) => each.verdict));
      results.push({ choice: choice.index, text: trimmedAnswer(choice), evaluations, verdict });
    }
    return results;
  }

  readonly #askJudge: AskJudge = async (request, signal) => {
    const model = this.#judgeFor(request.model);
    if (model === undefined) return undefined;
    const judgeRequest: CompletionRequest = { ...request.parameters, model, messages: request.messages };
    const { completion, error } = await this.#client.send(judgeRequest, {}, signal);
    if (error) throw error;
    const [choice] = completion?.choices ?? [];
    if (!completion?.complete || !choice) {
      throw new RolecallError('protocol', completion?.incompleteReason ?? l10n.t('The answer has no choices.'));
    }
    return trimmedAnswer(choice);
  };

  /** One model judges all answers. If the file names one, no other is used without asking. */
  #judgeFor(name: string | undefined): string | undefined {
    const { file, models } = this.#plan;
    const named = [name, file.extensions.judge?.value].filter((each) => each !== undefined);
    const judge = named.map((each) => this.#deps.judgeModel(each)).find((each) => each !== undefined);
    return judge ?? this.#deps.judge ?? (named.length === 0 ? models[0] : undefined);
  }

  #errorOf(model: string, { completion, error }: Exchange): AttemptError | undefined {
    if (error) return this.#fail(model, error, true);
    this.#failures.delete(model);
    if (!completion) return undefined;
    const broken = completion.choices.find(({ ending }) => ending === 'endedEarly');
    const reason = completion.incompleteReason ?? (broken && endedEarly(broken));
    return reason === undefined ? undefined : { kind: 'incomplete', message: reason, wasSent: true };
  }

  #fail(model: string, { kind, message, details }: RolecallError, wasSent: boolean): AttemptError {
    const error: AttemptError = {
      kind,
      message,
      wasSent,
      ...(details.status !== undefined && { status: details.status }),
      ...(details.param !== undefined && { param: details.param }),
    };
    const before = this.#failures.get(model);
    if (wasSent) this.#failures.set(model, { error, count: before?.error.kind === kind ? before.count + 1 : 1 });
    return error;
  }

  #givenUp(model: string): AttemptError | undefined {
    const { error, count = 0 } = this.#failures.get(model) ?? {};
    if (!error || count < GIVE_UP_AFTER || !lasting.includes(error.kind)) return undefined;
    return { ...error, message: l10n.t('Not sent because other requests failed: {0}', error.message), wasSent: false };
  }
}

function endedEarly({ finishReason = '' }: CompletionChoice): string {
  return l10n.t('The service ended the answer early ({0}).', finishReason);
}

/** The result, or a failure as a value. @throws RolecallError `cancelled`. */
async function settle<T>(work: Promise<T>, signal: AbortSignal): Promise<T | RolecallError> {
  try {
    return await work;
  } catch (thrown) {
    const error = asRolecallError(thrown);
    if (signal.aborted || error.kind === 'cancelled') throw cancelled(signal.reason);
    return error;
  }
}
