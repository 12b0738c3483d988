import * as vscode from 'vscode';
import { Lazy } from '../../core/base/lazy.ts';
import type { Log } from '../../core/base/log.ts';
import { commands, languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { registerCommand, registerCommands } from '../commands.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import type { CompareDeps } from './compare.ts';

/** "Who Has This Role?" and "Show Effective Access". */
export function registerAnswerCommands(data: AccessData, documents: VirtualDocuments, log: Log): vscode.Disposable {
  return registerCommands([commands.whoHasRole, commands.showEffectiveAccess], log, async () => {
    const { answerCommands } = await import('./answerCommands.ts');
    return answerCommands(data, documents);
  });
}

/** Export Access Review. */
export function registerExportReview(data: AccessData, log: Log): vscode.Disposable {
  return registerCommand(commands.exportReview, log, async (node) => {
    const { exportReview } = await import('./exportReview.ts');
    return exportReview(data, node);
  });
}

/** Save, Compare With, Manage and Clear Snapshots; Acknowledge Changes. Snapshots are kept in `storage`. */
export function registerSnapshotCommands(
  { storage, ...deps }: CompareDeps & { readonly storage: vscode.Uri },
  log: Log,
): vscode.Disposable {
  const { saveSnapshot, compareSnapshot, acknowledgeChanges, manageSnapshots, clearSnapshots } = commands;
  const ids = [saveSnapshot, compareSnapshot, acknowledgeChanges, manageSnapshots, clearSnapshots];
  return registerCommands(ids, log, async () => {
    const { snapshotCommands } = await import('./snapshotCommands.ts');
    const { SnapshotStore } = await import('./snapshotStore.ts');
    return snapshotCommands({ ...deps, store: new SnapshotStore(storage) });
  });
}

/** Registers the contributed tools, for callers other than `@rolecall`, which has them as its own. */
export function registerLanguageModelTools(data: AccessData, log: Log): vscode.Disposable {
  const answers = new Lazy(async () => {
    const { AnswersForOthers } = await import('./languageModelTools.ts');
    return new AnswersForOthers(data, log);
  });
  const tools = Object.values(languageModelTools).map((name) =>
    vscode.lm.registerTool<unknown>(name, {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Asking Rolecall who may do what') }),
      invoke: async (options, token) => (await answers.get()).answer(name, options, token),
    }),
  );
  return vscode.Disposable.from(answers, ...tools);
}
