import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import type { ChangeMarks } from '../changeMarks.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommands } from '../commands.ts';
import type { Settings } from '../settings.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import { TreeDecorations } from './decorations.ts';
import { OrganizationsTree } from './organizationsTree.ts';
import type { OrganizationCommandsDeps, TreeCommandsDeps } from './treeCommands.ts';
import { ViewState } from './viewState.ts';

export interface TreeDeps {
  readonly context: Pick<vscode.ExtensionContext, 'workspaceState' | 'globalState'>;
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly data: AccessData;
  readonly documents: VirtualDocuments;
  readonly marks: ChangeMarks;
  readonly log: Log;
}

/** The view of organizations with its decorations and commands. */
export interface RegisteredTree extends vscode.Disposable {
  readonly view: OrganizationsTree;
  /** Filter, order and favorites, which other views share. */
  readonly state: ViewState;
}

export function registerTree({ context, clouds, settings, data, documents, marks, log }: TreeDeps): RegisteredTree {
  const state = new ViewState(context.workspaceState, context.globalState);
  const view = new OrganizationsTree({ clouds, data, state, log });
  const disposables = vscode.Disposable.from(
    state,
    view,
    new TreeDecorations(data, marks),
    refreshAtIntervals(data, settings, () => view.isVisible && vscode.window.state.focused),
    registerTreeCommands({ clouds, data, view, documents }, log),
    registerOrganizationCommands({ clouds, settings, data }, log),
    registerViewCommands(data, state, log),
  );
  return { view, state, dispose: () => disposables.dispose() };
}

/** Refresh, Copy ID, Copy Name, Open as JSON, Go to Group or Role and Ask @rolecall About This. */
export function registerTreeCommands(deps: TreeCommandsDeps, log: Log): vscode.Disposable {
  const { refresh, copyId, copyName, openAsJson, reveal, askAboutThis } = commands;
  return registerCommands([refresh, copyId, copyName, openAsJson, reveal, askAboutThis], log, async () => {
    const { treeCommands } = await import('./treeCommands.ts');
    return treeCommands(deps);
  });
}

/** Add and Remove Organization, and Set Label. */
export function registerOrganizationCommands(deps: OrganizationCommandsDeps, log: Log): vscode.Disposable {
  const { addOrganization, removeOrganization, renameOrganization } = commands;
  return registerCommands([addOrganization, removeOrganization, renameOrganization], log, async () => {
    const { organizationCommands } = await import('./treeCommands.ts');
    return organizationCommands(deps);
  });
}

/** Filter, Clear Filter, Sort and the favourites. */
export function registerViewCommands(data: AccessData, state: ViewState, log: Log): vscode.Disposable {
  const { filter, filterAll, clearFilter, sort, addFavorite, removeFavorite } = commands;
  return registerCommands([filter, filterAll, clearFilter, sort, addFavorite, removeFavorite], log, async () => {
    const { viewCommands } = await import('./viewCommands.ts');
    return viewCommands(data, state);
  });
}

/**
 * Reads visible data again at an interval (`rolecall.refreshMinutes`), only while the view is visible: other windows
 * send no requests.
 */
export function refreshAtIntervals(data: AccessData, settings: Settings, isLookedAt: () => boolean): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  let minutes = 0;
  const start = () => {
    const wanted = settings.refreshMinutes();
    if (wanted === minutes) return;
    minutes = wanted;
    clearInterval(timer);
    timer = undefined;
    if (minutes === 0) return;
    timer = setInterval(() => {
      if (!isLookedAt()) return;
      for (const { model } of data.all) data.refresh(model.organization);
    }, minutes * 60_000);
  };
  start();
  const subscription = settings.onDidChange(start);
  return new vscode.Disposable(() => {
    clearInterval(timer);
    subscription.dispose();
  });
}
