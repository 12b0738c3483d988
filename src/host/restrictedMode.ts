import * as vscode from 'vscode';

/** VS Code's own page about the trust of a workspace. */
export const manageTrust = {
  command: 'workbench.trust.manage',
  get title(): string {
    return vscode.l10n.t('Manage Workspace Trust');
  },
};

/**
 * What is missing in an open workspace that the user has not trusted, and how to change that; `undefined` if nothing
 * is.
 */
export function restrictedLine(): string | undefined {
  if (vscode.workspace.isTrusted || !vscode.workspace.workspaceFolders?.length) return undefined;
  return vscode.l10n.t(
    'Restricted Mode: this workspace’s tools and settings are not used. To use them, run "{0}".',
    manageTrust.title,
  );
}
