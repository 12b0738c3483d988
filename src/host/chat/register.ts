import * as vscode from 'vscode';
import { chatParticipant, commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { ParametersPageDeps } from './effectiveParameters.ts';
import { RolecallModelProvider } from './modelProvider.ts';
import { openChat } from './openChat.ts';
import type { ParticipantDeps } from './participant.ts';
import { RememberedModels } from './rememberedModels.ts';

export interface ChatDeps extends ParticipantDeps, ParametersPageDeps {
  /** Where earlier models are stored, which stay listed. */
  readonly globalState: vscode.Memento;
  /** The participant's icon. */
  readonly icon: vscode.Uri;
}

/** The models in VS Code's chat, `@rolecall`, and the commands about the chat, the model and its parameters. */
export function registerChat({ globalState, icon, ...deps }: ChatDeps): vscode.Disposable {
  const { catalog, clouds, settings, log } = deps;
  const remembered = new RememberedModels(catalog, globalState);
  const parameters = onFirstUse(async () => {
    const { ParametersPage } = await import('./effectiveParameters.ts');
    return new ParametersPage(deps, log);
  });
  return vscode.Disposable.from(
    remembered,
    parameters,
    RolecallModelProvider.register({ ...deps, remembered }),
    registerParticipant({ ...deps, icon }),
    registerCommand(commands.openChat, log, (question) => openChat(question)),
    registerCommand(commands.showEffectiveParameters, log, async () => (await parameters()).show()),
    registerCommand(commands.useInNativeChat, log, async () => {
      const { useInNativeChat } = await import('./nativeChat.ts');
      await useInNativeChat(globalState, log);
    }),
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
    const { createParticipant } = await import('./participant.ts');
    return createParticipant(deps);
  });
  const registered = vscode.chat.createChatParticipant(chatParticipant, async (...args) => (await handler())(...args));
  registered.iconPath = icon;
  registered.followupProvider = {
    provideFollowups: async (...args) => {
      const { followUpProvider } = await import('./followUps.ts');
      return followUpProvider.provideFollowups(...args);
    },
  };
  return registered;
}
