import * as vscode from 'vscode';
import type { ChatMessage } from '../../core/completions/request.ts';
import type { HistoryMessage } from '../../core/tools/loopTypes.ts';
import { chatParticipant } from '../../ids.ts';

/** What the participant leaves in a `ChatResult`, so that the next request can send the turn back whole. */
export interface ResultMetadata {
  readonly history: readonly HistoryMessage[];
}

/** The earlier turns of a chat with `@rolecall` as messages of the service. */
export function earlierMessages({ history }: vscode.ChatContext): ChatMessage[] {
  return history.flatMap((turn): ChatMessage[] => {
    if (turn.participant !== chatParticipant) return [];
    if (turn instanceof vscode.ChatRequestTurn) return [{ role: 'user', content: turn.prompt }];
    const kept = keptHistory(turn.result.metadata);
    return kept ? [...kept] : writtenAnswer(turn);
  });
}

function keptHistory(metadata: vscode.ChatResult['metadata']): readonly ChatMessage[] | undefined {
  const history: unknown = metadata?.history;
  return Array.isArray(history) ? (history as ChatMessage[]) : undefined; // Written by us, kept by VS Code.
}

/** A turn whose metadata did not survive, as the text that stood in the chat. */
function writtenAnswer(turn: vscode.ChatResponseTurn): ChatMessage[] {
  const text = turn.response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
    .join('');
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}
