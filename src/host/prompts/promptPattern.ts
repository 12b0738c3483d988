import type * as vscode from 'vscode';

/** Named by pattern, not by language: files like `compose.prompt.yml` and those of workflows get another one. */
export const PROMPT_GLOB = '**/*.prompt.{yml,yaml}';

/** Of the files that we make. */
export const PROMPT_EXTENSION = '.prompt.yml';

/** Excludes the older versions of a file that Git shows: nobody can change those. */
export function isPromptFile({ scheme, path }: Pick<vscode.Uri, 'scheme' | 'path'>): boolean {
  return scheme !== 'git' && /\.prompt\.ya?ml$/.test(path);
}
