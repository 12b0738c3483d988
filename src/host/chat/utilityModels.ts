import * as vscode from 'vscode';

/** VS Code's setting for the models that write titles and summaries where a model of an extension is picked. */
export const UTILITY_MODELS = 'chat.byokUtilityModelDefault';

/** What to know of VS Code's own chat where a model is picked: another vendor's model may see the messages as well. */
export function utilityModelNote(): string | undefined {
  if (vscode.workspace.getConfiguration().get(UTILITY_MODELS) !== 'copilot') return undefined;
  return vscode.l10n.t(
    'Without @rolecall, and while you are signed in to GitHub, VS Code lets Copilot’s models write titles and summaries of your messages ({0}).',
    UTILITY_MODELS,
  );
}
