import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, Suite, TestCase, TestError, TestResult } from '@playwright/test/reporter';
import type { Failure, Results } from '../mocha/reporter.ts';

/** A line for each test as it ends, what failed at the end, and the results for scripts/test.ts. */
export class ResultsReporter implements Reporter {
  /** What went wrong outside the tests, as when a worker could not be started. */
  readonly #errors: Failure[] = [];
  #root: Suite | undefined;

  printsToStdio(): boolean {
    return true;
  }

  onBegin(_config: unknown, root: Suite): void {
    this.#root = root;
  }

  onTestEnd(test: TestCase, { status, duration, retry }: TestResult): void {
    const mark = { passed: '✔', skipped: '-', failed: '✖', timedOut: '✖', interrupted: '✖' }[status];
    const again = retry === 0 ? '' : ', run again';
    console.log(`  ${mark} ${titleOf(test)} (${(duration / 1000).toFixed(1)} s${again})`);
  }

  onError(error: TestError): void {
    this.#errors.push({ title: 'outside the tests', error: textOf([error]) });
  }

  onEnd(): void {
    const all = this.#root?.allTests() ?? [];
    const of = (outcome: ReturnType<TestCase['outcome']>) => all.filter((test) => test.outcome() === outcome);
    const failed = of('unexpected').map((test) => ({ title: titleOf(test), error: reportOf(test) }));
    const flaky = of('flaky');
    // Those that say so themselves, and those that a failure before them kept from running.
    const skipped = of('skipped');
    const pending = skipped.filter((test) => test.expectedStatus === 'skipped').length;
    const results: Results = {
      passed: of('expected').length + flaky.length,
      failed: failed.length + this.#errors.length,
      pending,
      notRun: skipped.length - pending,
      failures: [...failed, ...this.#errors],
      flaky: flaky.map(titleOf),
    };
    for (const { title, error } of results.failures) console.log(`\n✖ ${title}\n${error}`);
    for (const test of flaky) console.log(`\nFlaky: ${titleOf(test)}\n${reportOf(test)}`);
    const file = process.env.ROLECALL_RESULTS;
    if (file !== undefined) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
    }
  }
}

function titleOf(test: TestCase): string {
  const [, , , ...titles] = test.titlePath(); // Before it stand the root, the project and the file.
  return titles.join(' ');
}

/** What was wrong each time that it failed, and where its picture and its trace are. */
function reportOf({ results }: TestCase): string {
  const failed = results.filter(({ status }) => status !== 'passed' && status !== 'skipped');
  return failed
    .map(({ errors, attachments }) => {
      const kept = attachments.flatMap((each) => (each.path === undefined ? [] : [`  ${each.name}: ${each.path}`]));
      return [textOf(errors), ...kept].join('\n');
    })
    .join('\n');
}

function textOf(errors: readonly TestError[]): string {
  return errors
    .map(({ stack, message, value }) => stripVTControlCharacters(stack ?? message ?? value ?? ''))
    .join('\n');
}

// biome-ignore lint/style/noDefaultExport: Playwright takes a reporter that is exported so.
export default ResultsReporter;
