import { checkIdentityUrl, checkInferenceUrl } from '../core/base/addresses.ts';
import { RolecallError } from '../core/base/errors.ts';
import { readServiceToken } from '../core/oauth/serviceToken.ts';

/** Options that every command has, as they were typed. */
export interface CommonOptions {
  readonly identityUrl?: string;
  readonly inferenceUrl?: string;
  readonly organization?: readonly string[];
  readonly json?: boolean;
  readonly color?: boolean;
  readonly verbose?: boolean;
}

/** Tokens come from the environment alone: everybody on the machine can read the arguments of a program. */
export const tokenVariables = { token: 'ROLECALL_TOKEN', inferenceToken: 'ROLECALL_INFERENCE_TOKEN' } as const;

/** The configuration of the command line: options, then environment variables. */
export interface Configuration {
  /** A service token; without one, the sign-in of a window is used. */
  readonly token: string | undefined;
  /** A token for the inference service alone. */
  readonly inferenceToken: string | undefined;
  readonly identityUrl: string | undefined;
  readonly inferenceUrl: string | undefined;
  /** IDs; empty if none was named. */
  readonly organizations: readonly string[];
  readonly model: string | undefined;
}

/** @throws RolecallError `configuration` that names the option or variable. */
export function readConfiguration(options: CommonOptions, env: NodeJS.ProcessEnv): Configuration {
  const organizations = options.organization ?? (env.ROLECALL_ORGANIZATION ?? '').split(',');
  return {
    token: readToken(env, tokenVariables.token),
    inferenceToken: readToken(env, tokenVariables.inferenceToken),
    identityUrl: readUrl(options.identityUrl, '--identity-url', env, 'ROLECALL_IDENTITY_URL', checkIdentityUrl),
    inferenceUrl: readUrl(options.inferenceUrl, '--inference-url', env, 'ROLECALL_INFERENCE_URL', checkInferenceUrl),
    organizations: organizations.map((id) => id.trim()).filter((id) => id !== ''),
    model: env.ROLECALL_MODEL || undefined,
  };
}

/** Reports an address that a command needs and that is not set. */
export function throwMissingOption(option: string, variable: string): never {
  throw new RolecallError('configuration', `Set ${variable}, or use ${option}.`);
}

function readToken(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const typed = env[name];
  if (typed === undefined || typed === '') return undefined;
  try {
    return readServiceToken(typed);
  } catch (error) {
    throw new RolecallError('configuration', `${name}: ${(error as Error).message}`);
  }
}

function readUrl(
  option: string | undefined,
  optionName: string,
  env: NodeJS.ProcessEnv,
  variable: string,
  check: (typed: string, as: string) => string,
): string | undefined {
  if (option !== undefined) return check(option, optionName);
  const typed = env[variable];
  return typed === undefined || typed === '' ? undefined : check(typed, variable);
}
