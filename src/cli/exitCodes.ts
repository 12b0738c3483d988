import { type ErrorKind, isCancelled, RolecallError } from '../core/base/errors.ts';

/** What the end of the program tells a script. README, "Command line", has the same table. */
export const exitCodes = {
  done: 0,
  /** There is something to look at: nobody holds that role, no such person, no model. */
  finding: 1,
  /** The command line, or what it is configured with, was not understood. */
  usage: 2,
  /** A service could not be reached, or did not allow it. */
  refused: 3,
  /** What was printed is not all there is: a list could not be read, or an answer was cut off. */
  incomplete: 4,
  /** Ctrl-C, as every shell counts it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Mistakes of whoever typed the command or set the variables. */
const usageErrors: readonly ErrorKind[] = ['configuration', 'invalidRequest'];

export function exitCodeOf(error: unknown): ExitCode {
  if (isCancelled(error)) return exitCodes.interrupted;
  const isUsage = error instanceof RolecallError && usageErrors.includes(error.kind);
  // What a service does not understand is no mistake of the command line.
  return isUsage && error.details.status === undefined ? exitCodes.usage : exitCodes.refused;
}
