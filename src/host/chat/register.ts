import * as vscode from 'vscode';
import { Lazy } from '../../core/base/lazy.ts';
import { chatParticipant } from '../../ids.ts';
import type { ParticipantDeps } from './participant.ts';

/** Registers `@rolecall`. */
export function registerParticipant({
  icon,
  ...deps
}: ParticipantDeps & { readonly icon: vscode.Uri }): vscode.Disposable {
  const handler = new Lazy(async () => {
    const { participant } = await import('./participant.ts');
    return participant(deps);
  });
  const registered = vscode.chat.createChatParticipant(chatParticipant, async (...asked) =>
    (await handler.get())(...asked),
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
