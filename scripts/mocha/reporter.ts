import fs from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

/** What a tier of tests comes to; the file that ROLECALL_RESULTS names holds it as JSON. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly pending: number;
  readonly durationMs: number;
  /** Full titles. */
  readonly failures: readonly string[];
}

/** Mocha's spec report for people, and the counts for scripts/test.ts. */
export class ResultsReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failures: string[] = [];
    runner.on('fail', (test) => failures.push(test.fullTitle()));
    runner.on('end', () => {
      const file = process.env.ROLECALL_RESULTS;
      if (file === undefined) {
        return;
      }
      const { passes: passed, pending, duration: durationMs = 0 } = this.stats;
      // Failures are counted here: a failed hook is one too, which mocha's own count of tests leaves out.
      const results: Results = { passed, failed: failures.length, pending, durationMs, failures };
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
    });
  }
}

// Mocha's command line loads a reporter with require(), which gives it the export of this name.
export { ResultsReporter as 'module.exports' };
