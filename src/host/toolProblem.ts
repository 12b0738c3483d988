import type * as vscode from 'vscode';

/** What is wrong with a file that defines tools. An `error` keeps a tool from being offered, or all of the file. */
export interface ToolFileProblem {
  readonly file: vscode.Uri;
  /** Counted from zero. */
  readonly line: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}
