import * as vscode from 'vscode';
import { chatParticipant, commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import { RolecallModelProvider } from './modelProvider.ts';
import { openChat } from './openChat.ts';
import type { ParticipantDeps } from './participant.ts';
import { RememberedModels } from './rememberedModels.ts';

export interface ChatDeps extends ParticipantDeps {
  /** Where the models of before stay listed. */
  readonly state: vscode.Memento;
  /** Of the participant. */
  readonly icon: vscode.Uri;
}

/** The models in VS Code's chat, `@rolecall`, and the commands that open the chat and select a model. */
export function registerChat({ state, icon, ...deps }: ChatDeps): vscode.Disposable {
  const { catalog, clouds, settings, log } = deps;
  const remembered = new RememberedModels(catalog, state);
  return vscode.Disposable.from(
    remembered,
    RolecallModelProvider.register({ ...deps, remembered }),
    registerParticipant({ ...deps, icon }),
    registerCommand(commands.openChat, log, (question) => openChat(question)),
    registerCommand(commands.selectModel, log, async () => {
      const { selectModel } = await import('../selectModel.ts');
      await selectModel({ clouds, catalog, settings });
    }),
  );
}

/** Registers `@rolecall`. */
export function registerParticipant({
  icon,
  ...deps
}: ParticipantDeps & { readonly icon: vscode.Uri }): vscode.Disposable {
  const handler = onFirstUse(async () => {
    const { participant } = await import('./participant.ts');
    return participant(deps);
  });
  const registered = vscode.chat.createChatParticipant(chatParticipant, async (...asked) =>
    (await handler())(...asked),
  );
  registered.iconPath = icon;
  registered.followupProvider = {
    provideFollowups: async (...asked) => {
      const { followUpProvider } = await import('./followUps.ts');
      return followUpProvider.provideFollowups(...asked);
    },
  };
  return registered;
}
