import { languageModelTools } from '../ids.ts';

const PREFIX = 'rolecall_';

/** What `@rolecall` calls a tool that stands in the manifest for everybody. */
export function ownToolName<Name extends string>(contributed: `${typeof PREFIX}${Name}`): Name;
export function ownToolName(contributed: string): string;
export function ownToolName(contributed: string): string {
  return contributed.slice(PREFIX.length);
}

/**
 * The names of the access tools as `@rolecall` has them. They tell who has access to what, with email addresses: they are
 * offered where they are asked for, and not beside everything else.
 */
export const ownAccessToolNames: ReadonlySet<string> = new Set(Object.values(languageModelTools).map(ownToolName));
