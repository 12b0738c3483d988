import * as vscode from 'vscode';
import { languageModelVendor } from '../../ids.ts';
import type { ModelCatalog } from '../modelCatalog.ts';

/**
 * Opens VS Code's chat with `@rolecall` typed and one of its models picked, ready for the first message; a question that
 * is given stands there too, for the user to send or to change.
 */
export async function openChat(catalog: ModelCatalog, question?: unknown): Promise<void> {
  const model = catalog.choose(undefined);
  await vscode.commands.executeCommand('workbench.action.chat.open', {
    query: `@rolecall ${typeof question === 'string' ? question : ''}`,
    isPartialQuery: true,
    ...(model && { modelSelector: { vendor: languageModelVendor, id: model.id } }),
  });
}
