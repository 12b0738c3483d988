import * as vscode from 'vscode';

/** Beside the active editor; where none is open, in its place. */
export function answerColumn(): vscode.ViewColumn {
  const isEmpty = vscode.window.tabGroups.activeTabGroup.tabs.length === 0;
  return isEmpty ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
}
