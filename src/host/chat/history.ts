import * as vscode from 'vscode';
import type { ChatMessage } from '../../core/completions/request.ts';
import type { HistoryMessage } from '../../core/tools/loopTypes.ts';
import { chatParticipant } from '../../ids.ts';
import { promptWithReferences } from './references.ts';

/** What the participant leaves in a `ChatResult`, so that the next request can send the turn back whole. */
export interface ResultMetadata {
  readonly history: readonly HistoryMessage[];
}

/** The earlier turns of a chat with `@rolecall` as messages of the service, attachments as they are now. */
export async function earlierMessages({ history }: vscode.ChatContext): Promise<ChatMessage[]> {
  const turns = await Promise.all(history.map(turnMessages));
  return turns.flat();
}

async function turnMessages(turn: vscode.ChatRequestTurn | vscode.ChatResponseTurn): Promise<readonly ChatMessage[]> {
  if (turn.participant !== chatParticipant) return [];
  if (turn instanceof vscode.ChatRequestTurn) return [{ role: 'user', content: await promptWithReferences(turn) }];
  return keptHistory(turn.result.metadata) ?? writtenAnswer(turn);
}

function keptHistory(metadata: vscode.ChatResult['metadata']): readonly ChatMessage[] | undefined {
  const history: unknown = metadata?.history;
  if (!Array.isArray(history) || history.length === 0) return undefined; // Stopped before the model was done.
  return history as ChatMessage[]; // Written by us, kept by VS Code.
}

/** A turn that left no messages, as the text that stood in the chat. */
function writtenAnswer(turn: vscode.ChatResponseTurn): ChatMessage[] {
  const text = turn.response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
    .join('');
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}
