import * as vscode from 'vscode';
import { languageModelVendor } from '../ids.ts';

/** VS Code's switch for all of its chat: it hides the editor's views and commands, but not what extensions registered. */
const SWITCH = 'chat.disableAIFeatures';

export const openChatCommand = 'workbench.action.chat.open';

/** Why `@rolecall` cannot be asked in this editor; `undefined` where it can. */
export interface ChatUnavailable {
  readonly reason: string;
  /** The setting to change. */
  readonly setting?: string;
}

export async function chatUnavailable(): Promise<ChatUnavailable | undefined> {
  if (vscode.workspace.getConfiguration().get(SWITCH) === true) {
    return {
      reason: vscode.l10n.t('Chat is turned off in this editor ({0}), so @rolecall is not available.', SWITCH),
      setting: SWITCH,
    };
  }
  const all = await vscode.commands.getCommands(true);
  if (!all.includes(openChatCommand)) {
    return { reason: vscode.l10n.t('This editor has no chat view, so @rolecall is not available.') };
  }
  // One is always offered. Without any, VS Code answers a participant's question itself, with "unavailable".
  if ((await vscode.lm.selectChatModels({ vendor: languageModelVendor })).length > 0) return undefined;
  return {
    reason: vscode.l10n.t(
      'This editor does not list the models that Rolecall provides, so @rolecall is not available. A policy may hide them.',
    ),
  };
}
