import { type ErrorKind, isCancelled, RolecallError } from '../core/base/errors.ts';

/** What the end of the program tells a script. */
export const exitCodes = {
  done: 0,
  finding: 1,
  /** Also where Node.js is too old: esbuild.mjs. */
  usage: 2,
  refused: 3,
  incomplete: 4,
  /** Ctrl-C, as every shell counts it. */
  interrupted: 130,
  /** As SIGPIPE is counted: what there was to find is not known. */
  unread: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** For the help; README, "Command line", has the same sentences. */
export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'Done',
  1: 'Something to look at: a finding of `check` or `drift`, a failed test, nobody has that role, no such person, no models',
  2: 'The command or its configuration is not valid, or Node.js is too old',
  3: 'A service could not be reached or refused the request, or no window is signed in',
  4: 'The output is incomplete: a list could not be read, an answer was cut off, a test could not be measured, or it could not be determined whether a rule holds',
  130: 'Stopped by Ctrl-C',
  141: 'The reader of the output closed it, as `head` does',
};

/** Mistakes of whoever typed the command or set the variables. */
const usageErrors: readonly ErrorKind[] = ['configuration', 'invalidRequest'];

export function exitCodeOf(error: unknown): ExitCode {
  if (isCancelled(error)) return exitCodes.interrupted;
  const isUsage = error instanceof RolecallError && usageErrors.includes(error.kind);
  // What a service does not understand is no mistake of the command line.
  return isUsage && error.details.status === undefined ? exitCodes.usage : exitCodes.refused;
}
