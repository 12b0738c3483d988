import * as vscode from 'vscode';
import type { PromptCase } from '../../core/prompts/promptCases.ts';
import { reasonsOf } from '../../core/prompts/reports.ts';
import type { RunEvent } from '../../core/prompts/runCases.ts';
import { type CaseResult, combineVerdicts, type Verdict } from '../../core/prompts/runResults.ts';
import type { OpenedPrompt } from './promptFiles.ts';
import { checkText } from './resultText.ts';

/** A test, and what it asks. */
export interface TestedCase {
  readonly test: vscode.TestItem;
  readonly one: PromptCase;
}

/** Tells a test run what becomes of the cases of a file. */
export class TestWork {
  readonly #run: vscode.TestRun;
  readonly #prompt: OpenedPrompt;
  readonly #tests: ReadonlyMap<string, TestedCase>;
  readonly #models: number;
  readonly #results = new Map<string, CaseResult[]>();

  constructor(run: vscode.TestRun, prompt: OpenedPrompt, tests: ReadonlyMap<string, TestedCase>, models: number) {
    this.#run = run;
    this.#prompt = prompt;
    this.#tests = tests;
    this.#models = models;
  }

  get cases(): readonly PromptCase[] {
    return [...this.#tests.values()].map(({ one }) => one);
  }

  accept(event: RunEvent): void {
    if (event.kind === 'waiting') {
      this.#write(vscode.l10n.t('The service asked to wait {0} s.', Math.ceil(event.ms / 1000)));
    } else if (event.kind === 'started') {
      const test = this.#testOf(event.case);
      if (test && event.attempt === 0) this.#run.started(test);
    } else if (event.kind === 'finished') this.#finish(event.result);
  }

  /** Marks what the baseline did better: a regression is red, whatever else it is. */
  compare(regressions: ReadonlyMap<string, string>): void {
    for (const [id, reason] of regressions) {
      const test = this.#tests.get(id)?.test;
      const results = this.#results.get(id);
      if (!test || !results) continue;
      const messages = results.flatMap((result) => this.#messagesOf(result, ['failed', 'error']));
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
    const verdict = combineVerdicts(results.map((each) => each.verdict));
    const duration = durationOf(results);
    if (verdict === 'passed') this.#run.passed(test, duration);
    else if (verdict === 'skipped') this.#run.skipped(test);
    else {
      const messages = results.flatMap((each) => this.#messagesOf(each, [verdict]));
      this.#run[verdict === 'failed' ? 'failed' : 'errored'](test, messages, duration);
    }
  }

  #messagesOf({ attempts, model }: CaseResult, verdicts: readonly Verdict[]): vscode.TestMessage[] {
    const prefix = this.#models > 1 ? `${model}: ` : '';
    return attempts.flatMap(({ error, answers }) => {
      if (error) return verdicts.includes('error') ? [new vscode.TestMessage(`${prefix}${error.message}`)] : [];
      return answers
        .flatMap(({ evaluations }) => evaluations)
        .filter(({ verdict }) => verdicts.includes(verdict))
        .map(({ evaluator, reason = '', diff, range }) => {
          const text = `${prefix}${evaluator}: ${reason}`;
          const message = diff
            ? vscode.TestMessage.diff(text, diff.expected, diff.actual)
            : new vscode.TestMessage(text);
          message.location = new vscode.Location(this.#prompt.uri, this.#prompt.rangeOf(range));
          return message;
        });
    });
  }

  #messageAt(text: string, { uri, range }: vscode.TestItem): vscode.TestMessage {
    const message = new vscode.TestMessage(text);
    if (uri && range) message.location = new vscode.Location(uri, range);
    return message;
  }

  #writeResult({ case: one, model, verdict, agreement, attempts }: CaseResult, test: vscode.TestItem): void {
    const agree = agreement.of > 1 ? ` (${agreement.passed}/${agreement.of})` : '';
    this.#write(`${one.label} · ${model} · ${verdict}${agree}`, test);
    for (const { error, answers } of attempts) {
      if (error) this.#write(error.message, test);
      for (const { text, evaluations } of answers) {
        this.#write(text, test);
        for (const evaluation of evaluations) this.#write(`  ${checkText(evaluation)}`, test);
      }
    }
    if (verdict === 'skipped') for (const reason of reasonsOf(attempts)) this.#write(`  ${reason}`, test);
    this.#write('', test);
  }

  /** Without what a terminal would obey. */
  #write(text: string, test?: vscode.TestItem): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to go.
    const plain = text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
    this.#run.appendOutput(`${plain.replaceAll('\n', '\r\n')}\r\n`, undefined, test);
  }
}

function durationOf(results: readonly CaseResult[]): number {
  return results.flatMap(({ attempts }) => attempts).reduce((sum, { timings }) => sum + (timings?.totalMs ?? 0), 0);
}
