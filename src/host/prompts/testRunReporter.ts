import * as vscode from 'vscode';
import type { PromptCase } from '../../core/prompts/promptCases.ts';
import type { RunEvent } from '../../core/prompts/runCases.ts';
import { type CaseResult, combineVerdicts, type Evaluation, type Verdict } from '../../core/prompts/runResults.ts';
import {
  caseText,
  distinctAnswers,
  evaluationText,
  reasonText,
  verdictText,
  waitText,
} from '../../core/prompts/runText.ts';
import type { OpenedPrompt } from './promptFiles.ts';

/** A test with its case. */
export interface TestCase {
  readonly test: vscode.TestItem;
  readonly promptCase: PromptCase;
}

/** Reports the results of a file's cases to a test run. */
export class TestRunReporter {
  readonly #run: vscode.TestRun;
  readonly #prompt: OpenedPrompt;
  readonly #tests: ReadonlyMap<string, TestCase>;
  readonly #models: number;
  readonly #results = new Map<string, CaseResult[]>();

  constructor(run: vscode.TestRun, prompt: OpenedPrompt, tests: ReadonlyMap<string, TestCase>, models: number) {
    this.#run = run;
    this.#prompt = prompt;
    this.#tests = tests;
    this.#models = models;
  }

  get cases(): readonly PromptCase[] {
    return [...this.#tests.values()].map(({ promptCase }) => promptCase);
  }

  accept(event: RunEvent): void {
    if (event.kind === 'waiting') {
      this.#write(waitText(event.ms));
    } else if (event.kind === 'started') {
      const test = this.#testOf(event.case);
      if (test && event.attempt === 0) this.#run.started(test);
    } else if (event.kind === 'finished') this.#finish(event.result);
  }

  /** Marks cases that did better in the baseline: a regression is red, whatever else it is. */
  compare(regressions: ReadonlyMap<string, string>): void {
    for (const [id, reason] of regressions) {
      const test = this.#tests.get(id)?.test;
      const results = this.#results.get(id);
      if (!test || !results) continue;
      // A test that is red already has its messages: another call adds to them.
      const isTold = isRed(verdictOf(results));
      const messages = isTold ? [] : results.flatMap((result) => this.#messagesOf(result));
      this.#run.failed(test, [this.#messageAt(reason, test), ...messages], durationOf(results));
    }
  }

  #testOf({ id }: PromptCase): vscode.TestItem | undefined {
    return this.#tests.get(id)?.test;
  }

  #finish(result: CaseResult): void {
    const test = this.#testOf(result.case);
    if (!test) return;
    this.#writeResult(result, test);
    const results = [...(this.#results.get(result.case.id) ?? []), result];
    this.#results.set(result.case.id, results);
    if (results.length < this.#models) return;
    const verdict = verdictOf(results);
    const duration = durationOf(results);
    if (verdict === 'passed') this.#run.passed(test, duration);
    else if (verdict === 'skipped') this.#run.skipped(test);
    else {
      const messages = results.flatMap((each) => this.#messagesOf(each));
      this.#run[verdict === 'failed' ? 'failed' : 'errored'](test, messages, duration);
    }
  }

  /** The failures, and what could not be checked; each different sentence of several answers once. */
  #messagesOf({ attempts, model, agreement }: CaseResult): vscode.TestMessage[] {
    const prefix = this.#models > 1 ? `${model}: ` : '';
    const messages = new Map<string, { readonly message: vscode.TestMessage; readonly text: string; count: number }>();
    const add = (key: string, text: string, message: () => vscode.TestMessage) => {
      const existing = messages.get(key);
      if (existing) existing.count++;
      else messages.set(key, { message: message(), text, count: 1 });
    };
    for (const { error, answers } of attempts) {
      if (error) add(error.message, `${prefix}${error.message}`, () => new vscode.TestMessage(''));
      for (const evaluation of answers.flatMap(({ evaluations }) => evaluations)) {
        if (!isRed(evaluation.verdict)) continue;
        const text = `${prefix}${reasonText(evaluation)}`;
        add(JSON.stringify([text, evaluation.diff]), text, () => this.#messageOf(evaluation));
      }
    }
    return [...messages.values()].map(({ message, text, count }) => {
      message.message = agreement.of > 1 ? vscode.l10n.t('{0} ({1} of {2} answers)', text, count, agreement.of) : text;
      return message;
    });
  }

  #messageOf({ diff, range }: Evaluation): vscode.TestMessage {
    const message = diff ? vscode.TestMessage.diff('', diff.expected, diff.actual) : new vscode.TestMessage('');
    message.location = new vscode.Location(this.#prompt.uri, this.#prompt.rangeOf(range));
    return message;
  }

  #messageAt(text: string, { uri, range }: vscode.TestItem): vscode.TestMessage {
    const message = new vscode.TestMessage(text);
    if (uri && range) message.location = new vscode.Location(uri, range);
    return message;
  }

  #writeResult(result: CaseResult, test: vscode.TestItem): void {
    const { verdict, attempts } = result;
    this.#write(`${verdictText(verdict)}: ${caseText(result, true)}`, test);
    for (const { count, error, answer } of distinctAnswers(attempts)) {
      if (count > 1) this.#write(vscode.l10n.t('{0} times:', count), test);
      if (error !== undefined) this.#write(error, test);
      if (!answer) continue;
      this.#write(answer.text, test);
      for (const evaluation of answer.evaluations) this.#write(`  ${evaluationText(evaluation)}`, test);
    }
    this.#write('', test);
  }

  /** Without characters that a terminal would obey. */
  #write(text: string, test?: vscode.TestItem): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to go.
    const plain = text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
    this.#run.appendOutput(`${plain.replaceAll('\n', '\r\n')}\r\n`, undefined, test);
  }
}

function verdictOf(results: readonly CaseResult[]): Verdict {
  return combineVerdicts(results.map((each) => each.verdict));
}

function isRed(verdict: Verdict): boolean {
  return verdict === 'failed' || verdict === 'error';
}

function durationOf(results: readonly CaseResult[]): number {
  return results.flatMap(({ attempts }) => attempts).reduce((sum, { timings }) => sum + (timings?.totalMs ?? 0), 0);
}
