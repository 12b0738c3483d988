import * as vscode from 'vscode';
import type { contextKeys } from '../ids.ts';

type ContextKey = (typeof contextKeys)[keyof typeof contextKeys];

/** The one door to VS Code's context keys, which decide what menus and welcome views show. */
export function setContextKey(key: ContextKey, value: string | boolean | readonly string[]): void {
  void vscode.commands.executeCommand('setContext', key, value); // Nothing depends on when it arrives.
}
