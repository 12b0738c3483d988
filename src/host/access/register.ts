import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands, languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { onFirstUse, registerCommand, registerCommands } from '../commands.ts';
import type { Briefing, Opening, OpenTools, Toolbox } from '../conversation.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import type { CompareDeps } from './compare.ts';

/** Answers, reviews and snapshots as commands, and the tools that give other agents the same. */
export function registerAccess(
  deps: CompareDeps & { readonly storage: vscode.Uri; readonly answered: Set<string> },
  log: Log,
): vscode.Disposable {
  const { data, documents, answered } = deps;
  return vscode.Disposable.from(
    registerAnswerCommands(data, documents, log),
    registerExportReview(data, log),
    registerSnapshotCommands(deps, log),
    registerLanguageModelTools(data, answered, log),
  );
}

/** The tools of the workspace and, where a conversation asks for them, the access tools that the manifest describes. */
export function withAccessTools(
  openOthers: (opening: Opening) => Promise<Toolbox>,
  data: AccessData,
  { packageJSON }: Pick<vscode.Extension<unknown>, 'packageJSON'>,
  log: Log,
): OpenTools {
  return async (opening = {}) => {
    const { accessToolbox, bothToolboxes } = await import('./accessToolbox.ts');
    const own = await accessToolbox(data, packageJSON.contributes.languageModelTools, log, opening.access ?? new Set());
    return bothToolboxes(own, await openOthers(opening), opening);
  };
}

/** See `accessBriefing`. */
export async function briefAccess(data: AccessData, callsTools: boolean, signal: AbortSignal): Promise<Briefing> {
  const { accessBriefing } = await import('./briefing.ts');
  return accessBriefing(data, callsTools, signal);
}

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

/**
 * Registers the contributed tools, for callers other than `@rolecall`, which has them as its own.
 *
 * @param answered gets the names of those that have answered, as `@rolecall` has them.
 */
export function registerLanguageModelTools(data: AccessData, answered: Set<string>, log: Log): vscode.Disposable {
  const answers = onFirstUse(async () => {
    const { AnswersForOthers } = await import('./languageModelTools.ts');
    return new AnswersForOthers(data, answered, log);
  });
  const tools = Object.values(languageModelTools).map((name) =>
    vscode.lm.registerTool<unknown>(name, {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Asking Rolecall who may do what') }),
      invoke: async (options, token) => (await answers()).answer(name, options, token),
    }),
  );
  return vscode.Disposable.from(answers, ...tools);
}
