import * as vscode from 'vscode';
import type { ChatFact } from '../../core/diagnosis/facts.ts';
import { chatUnavailable } from '../chatView.ts';

/** VS Code's setting for the models that write titles and summaries where a model of an extension is picked. */
export const UTILITY_MODELS = 'chat.byokUtilityModelDefault';

/** In global state while Use My Cloud's Models in VS Code's Chat is in effect: what the setting was before, if it was set. */
export const NATIVE_CHAT = 'rolecall.nativeChat';

/** What can be said of this editor's chat, for a diagnosis. */
export async function chatFact(state: vscode.Memento): Promise<ChatFact> {
  const missing = await chatUnavailable();
  const utilityModels = vscode.workspace.getConfiguration().get<unknown>(UTILITY_MODELS);
  return {
    ...(missing && { missing: missing.reason }),
    isUsedWithoutParticipant: state.get(NATIVE_CHAT) !== undefined,
    ...(typeof utilityModels === 'string' && { utilityModels }),
  };
}

/** What to know of VS Code's own chat where a model is picked: another vendor's model may see the messages as well. */
export function utilityModelNote(): string | undefined {
  if (vscode.workspace.getConfiguration().get(UTILITY_MODELS) !== 'copilot') return undefined;
  return vscode.l10n.t(
    'Without @rolecall, and while you are signed in to GitHub, VS Code lets Copilot’s models write titles and summaries of your messages ({0}).',
    UTILITY_MODELS,
  );
}
