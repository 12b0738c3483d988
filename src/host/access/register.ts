import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands, languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { onFirstUse, registerCommand, registerCommands } from '../commands.ts';
import type { Briefing, OpenToolRegistry, ToolRegistry, ToolRegistryOptions } from '../conversation.ts';
import type { AccessPagesDeps } from './accessPages.ts';
import type { ProgramSharing } from './languageModelTools.ts';
import type { CompareDeps } from './snapshotCommands.ts';

export interface AccessDeps extends AccessPagesDeps, Omit<CompareDeps, 'pages'> {
  /** Where snapshots are kept. */
  readonly storage: vscode.Uri;
  /** Names of tools that have answered other agents; see {@link registerLanguageModelTools}. */
  readonly answered: Set<string>;
}

/** What other parts of the extension use. */
export interface RegisteredAccess extends vscode.Disposable {
  /** Asks the user to share an organization with a program outside the editor; remembered as for agents in it. */
  share(sharing: ProgramSharing, signal: AbortSignal): Promise<boolean>;
}

/** Answers, reviews and snapshots as commands, and the tools that give other agents the same. */
export function registerAccess(deps: AccessDeps, log: Log): RegisteredAccess {
  const commands = registerAccessCommands(deps, log);
  const tools = registerLanguageModelTools(deps.data, deps.answered, log);
  return { share: tools.share, dispose: () => vscode.Disposable.from(commands, tools).dispose() };
}

/** The tools of the workspace and, where a conversation asks for them, the access tools that the manifest describes. */
export function withAccessTools(
  openOthers: (opening: ToolRegistryOptions) => Promise<ToolRegistry>,
  data: AccessData,
  { packageJSON }: Pick<vscode.Extension<unknown>, 'packageJSON'>,
  log: Log,
): OpenToolRegistry {
  return async (opening = {}) => {
    const { accessToolRegistry, mergeToolRegistries } = await import('./accessTools.ts');
    const own = await accessToolRegistry(
      data,
      packageJSON.contributes.languageModelTools,
      log,
      opening.access ?? new Set(),
    );
    return mergeToolRegistries(own, await openOthers(opening), opening);
  };
}

/** See `accessBriefing`. */
export async function briefAccess(data: AccessData, callsTools: boolean, signal: AbortSignal): Promise<Briefing> {
  const { accessBriefing } = await import('./briefing.ts');
  return accessBriefing(data, callsTools, signal);
}

/** Answers about who has access, the access review, and snapshots to compare with. */
export function registerAccessCommands(deps: AccessDeps, log: Log): vscode.Disposable {
  const { data, storage } = deps;
  const pages = onFirstUse(async () => {
    const { AccessPages } = await import('./accessPages.ts');
    return new AccessPages(deps);
  });
  const { whoHasRole, showEffectiveAccess, showReview, exportReview } = commands;
  const { saveSnapshot, compareSnapshot, acknowledgeChanges, manageSnapshots, clearSnapshots } = commands;
  const snapshots = [saveSnapshot, compareSnapshot, acknowledgeChanges, manageSnapshots, clearSnapshots];
  return vscode.Disposable.from(
    pages,
    registerCommands([whoHasRole, showEffectiveAccess, showReview], log, async () => {
      const { answerCommands } = await import('./accessPages.ts');
      return answerCommands(data, await pages());
    }),
    registerCommand(exportReview, log, async (node) => {
      const { exportReview } = await import('./exportReview.ts');
      return exportReview(data, node);
    }),
    registerCommands(snapshots, log, async () => {
      const { snapshotCommands } = await import('./snapshotCommands.ts');
      const { SnapshotStore } = await import('./snapshotStore.ts');
      return snapshotCommands({ ...deps, pages, store: new SnapshotStore(storage) });
    }),
  );
}

/**
 * Registers the contributed tools, for callers other than `@rolecall`, which has them as its own.
 *
 * @param answered gets the names of those that have answered, as `@rolecall` has them.
 */
export function registerLanguageModelTools(data: AccessData, answered: Set<string>, log: Log): RegisteredAccess {
  const answers = onFirstUse(async () => {
    const { ContributedAccessTools } = await import('./languageModelTools.ts');
    return new ContributedAccessTools(data, answered, log);
  });
  const tools = Object.values(languageModelTools).map((name) =>
    vscode.lm.registerTool<unknown>(name, {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Asking Rolecall who can do what') }),
      invoke: async (options, token) => (await answers()).answer(name, options, token),
    }),
  );
  return {
    share: async (...args) => (await answers()).share(...args),
    dispose: () => vscode.Disposable.from(answers, ...tools).dispose(),
  };
}
