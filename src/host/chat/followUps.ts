import * as vscode from 'vscode';
import type { AgentLoopResult } from '../../core/tools/agentLoop.ts';
import { chatCommands } from '../../ids.ts';
import { endingOf } from '../conversation.ts';
import { readMetadata } from './history.ts';

/** The questions that are suggested after an answer, from its metadata; never the one just asked. */
export function followUpOf(
  { command, prompt }: Pick<vscode.ChatRequest, 'command' | 'prompt'>,
  end: AgentLoopResult,
): string | undefined {
  const ending = endingOf(end);
  if (ending === 'length' || ending === 'incomplete' || ending === 'roundLimit') return 'continue';
  return followUps(command).every((each) => each.prompt === prompt) ? undefined : command;
}

export const followUpProvider: vscode.ChatFollowupProvider = {
  provideFollowups: ({ metadata }) => followUps(readMetadata(metadata)?.followUp),
};

/** Whether the last answer suggested this question, which then is about the same code as that answer. */
export function isSuggested(
  { prompt, command }: Pick<vscode.ChatRequest, 'prompt' | 'command'>,
  { history }: vscode.ChatContext,
): boolean {
  const last = history.at(-1);
  const metadata = last instanceof vscode.ChatResponseTurn ? readMetadata(last.result.metadata) : undefined;
  return followUps(metadata?.followUp).some((each) => each.prompt === prompt && each.command === (command ?? ''));
}

function followUps(kind: string | undefined): vscode.ChatFollowup[] {
  const { explain, fix, tests, access } = chatCommands;
  switch (kind) {
    case 'continue':
      return [{ prompt: vscode.l10n.t('Continue where you stopped.'), label: vscode.l10n.t('Continue'), command: '' }];
    case explain:
      return [about(fix, vscode.l10n.t('Look for mistakes in it')), about(tests, vscode.l10n.t('Write tests for it'))];
    case fix:
      return [about(tests, vscode.l10n.t('Write tests for the correction'))];
    case tests:
      return [about('', vscode.l10n.t('Which cases do these tests not cover?'))];
    case access:
      return [about(access, vscode.l10n.t('Who can change who has access?'))];
    default:
      return [];
  }
}

function about(command: string, prompt: string): vscode.ChatFollowup {
  return { prompt, command };
}
