import assert from 'node:assert/strict';
import type { ProcessResult } from '../../../../src/core/tools/process.ts';
import { processResultText } from '../../../../src/core/tools/processResultText.ts';

const result: ProcessResult = {
  exitCode: 0,
  signal: null,
  stdout: 'out',
  stderr: '',
  leftOutBytes: { stdout: 0, stderr: 0 },
  truncated: false,
  timedOut: false,
  durationMs: 1,
};

describe('processResultText', () => {
  const rows: [title: string, changes: Partial<ProcessResult>, content: string, isError: boolean][] = [
    ['output alone stands alone', {}, 'out', false],
    ['no output is said', { stdout: '' }, 'The program ended well and wrote nothing.', false],
    ['warnings are told apart', { stderr: 'warn' }, 'Standard output:\nout\nStandard error:\nwarn', false],
    [
      'a failure',
      { exitCode: 2, stdout: '', stderr: 'no' },
      'The program ended with exit code 2.\nIt wrote nothing to standard output.\nStandard error:\nno',
      true,
    ],
    [
      'a signal',
      { exitCode: null, signal: 'SIGSEGV' },
      'The program was ended by the signal SIGSEGV.\nStandard output:\nout\nIt wrote nothing to standard error.',
      true,
    ],
    [
      'a time-out, although the program ended well on the signal',
      { timedOut: true },
      'The program was ended after 5 seconds, before it was done.\nStandard output:\nout\nIt wrote nothing to standard error.',
      true,
    ],
  ];
  for (const [title, changes, content, isError] of rows) {
    it(title, () => assert.deepEqual(processResultText({ ...result, ...changes }, 5000), { content, isError }));
  }
});
