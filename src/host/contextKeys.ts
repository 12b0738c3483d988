import * as vscode from 'vscode';
import type { contextKeys, promptContextKeys } from '../ids.ts';

type ContextKey =
  | (typeof contextKeys)[keyof typeof contextKeys]
  | (typeof promptContextKeys)[keyof typeof promptContextKeys];

/** The only function that sets VS Code's context keys, which control menus and welcome views. */
export function setContextKey(key: ContextKey, value: string | boolean | readonly string[]): void {
  void vscode.commands.executeCommand('setContext', key, value); // Nothing depends on when it arrives.
}

/**
 * Documents as `resourcePath` names them in a condition, or false for none. By path: where Rolecall runs beside the workspace,
 * the window knows a file by another scheme.
 */
export function pathsOf(uris: readonly vscode.Uri[]): readonly string[] | false {
  return uris.length > 0 && [...new Set(uris.flatMap(({ path, fsPath }) => [path, fsPath]))];
}
