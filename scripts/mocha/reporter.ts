import fs from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

export interface Failure {
  /** Full title. */
  readonly title: string;
  /** Message and stack, as they are read. */
  readonly error: string;
}

/** The result of a tier of tests; the file that ROLECALL_RESULTS names has it as JSON. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly pending: number;
  /** Tests that should have run and did not, because one before them failed. */
  readonly notRun: number;
  readonly failures: readonly Failure[];
  /** Full titles of tests that failed first and passed when they were run again. */
  readonly flaky: readonly string[];
}

// Mocha asks for the whole stack of every error, and most errors of the tests are expected ones.
Error.stackTraceLimit = 20;

/** Mocha's spec report for people, and the results for scripts/test.ts. */
export class ResultsReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failures: Failure[] = [];
    runner.on('fail', (test, error: Error) =>
      failures.push({ title: test.fullTitle(), error: error.stack ?? String(error) }),
    );
    runner.on('end', () => {
      const file = process.env.ROLECALL_RESULTS;
      if (file === undefined) {
        return;
      }
      const { passes: passed, pending } = this.stats;
      // Failures are counted here: a failed hook is one too, which mocha's own count of tests leaves out.
      const results: Results = { passed, failed: failures.length, pending, notRun: 0, failures, flaky: [] };
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
    });
  }
}

// Mocha's command line loads a reporter with require(), which gives it the export of this name.
export { ResultsReporter as 'module.exports' };
