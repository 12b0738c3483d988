import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { type ChatUnavailable, chatUnavailable, openChatCommand } from '../chatView.ts';
import { showInformationMessage } from '../dialogs.ts';

/**
 * Opens VS Code's chat with `@rolecall` typed, ready for the first message, followed by the question if there is one, for the
 * user to send or to change. The model that is picked there stays. Without a chat it shows why, and what works instead.
 */
export async function openChat(question?: unknown): Promise<void> {
  const missing = await chatUnavailable();
  if (missing) return offerInstead(missing);
  await vscode.commands.executeCommand(openChatCommand, {
    query: `@rolecall ${typeof question === 'string' ? question : ''}`,
    isPartialQuery: true,
  });
}

const INTRODUCED = 'rolecall.chatIntroduced';

/**
 * After the first sign-in to the user's own cloud: what is typed in the chat without `@rolecall` goes to the editor's assistant.
 * Runs once, and does nothing where there is no chat.
 */
export async function introduceChat(state: vscode.Memento): Promise<void> {
  if (state.get(INTRODUCED) === true || (await chatUnavailable())) return;
  await state.update(INTRODUCED, true);
  await openChat();
}

async function offerInstead({ reason, setting }: ChatUnavailable): Promise<void> {
  const ask = vscode.l10n.t('Ask About Selection…');
  const change = vscode.l10n.t('Open Settings');
  const message = vscode.l10n.t(
    '{0} You can still ask about a file or a selection. The answer opens beside the editor.',
    reason,
  );
  const chosen = await showInformationMessage(message, ask, ...(setting === undefined ? [] : [change]));
  if (chosen === ask) await vscode.commands.executeCommand(commands.askAboutSelection);
  if (chosen === change) await vscode.commands.executeCommand('workbench.action.openSettings', setting);
}
