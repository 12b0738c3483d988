import assert from 'node:assert/strict';
import { Redactor, redactingLog } from '../../../../src/core/base/redact.ts';
import { RecentProblems } from '../../../../src/core/diagnosis/recentProblems.ts';
import { silentLog } from '../../../support/silentLog.ts';

describe('what went wrong lately', () => {
  it('is the last warnings and errors, in short, and all still goes to the log', () => {
    const written: string[] = [];
    const write = (message: string) => void written.push(message);
    let now = 0;
    const log = new RecentProblems({ trace: write, debug: write, info: write, warn: write, error: write }, () => ++now);
    log.trace('t');
    log.debug('d');
    log.info('i');
    log.warn('w0');
    for (const n of [1, 2, 3, 4]) log.error(`e${n}\n    at stack`);
    log.warn('x'.repeat(2000));
    assert.deepEqual(
      log.all.map(({ at, level, message }) => [at, level, message.length > 5 ? message.length : message]),
      [
        [2, 'error', 'e1'],
        [3, 'error', 'e2'],
        [4, 'error', 'e3'],
        [5, 'error', 'e4'],
        [6, 'warning', 500],
      ],
    );
    assert.equal(written.length, 9);
    assert.equal(written[4], 'e1\n    at stack');
  });

  it('is kept as the redacting log above it lets it through', () => {
    const problems = new RecentProblems(silentLog, () => 0);
    const redactor = new Redactor();
    redactor.addSecret('s3cr3t-that-is-known');
    redactingLog(problems, redactor).error('refused s3cr3t-that-is-known');
    assert.deepEqual(problems.all, [{ at: 0, level: 'error', message: 'refused ‹hidden›' }]);
  });
});
