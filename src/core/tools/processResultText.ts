import type { ProcessResult } from './process.ts';

/** What the model is told about a program that ran. */
export function processResultText(
  result: ProcessResult,
  timeoutMs: number,
): { readonly content: string; readonly isError: boolean } {
  const isError = result.timedOut || result.exitCode !== 0;
  const parts: string[] = [];
  if (result.timedOut) parts.push(`The program was ended after ${timeoutMs / 1000} seconds, before it was done.`);
  else if (result.signal !== null) parts.push(`The program was ended by the signal ${result.signal}.`);
  else if (result.exitCode !== 0) parts.push(`The program ended with exit code ${result.exitCode}.`);
  if (result.stderr !== '' || isError) {
    parts.push(result.stdout === '' ? 'It wrote nothing to standard output.' : `Standard output:\n${result.stdout}`);
    parts.push(result.stderr === '' ? 'It wrote nothing to standard error.' : `Standard error:\n${result.stderr}`);
  } else {
    parts.push(result.stdout === '' ? 'The program ended well and wrote nothing.' : result.stdout);
  }
  return { content: parts.join('\n'), isError };
}
