import type * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { registerCommands } from '../commands.ts';
import type { OrganizationCommandsDeps } from './organizationCommands.ts';
import type { TreeCommandsDeps } from './treeCommands.ts';
import type { ViewState } from './viewState.ts';

/** Refresh, Copy ID, Copy Name, Open as JSON, Reveal and Ask @rolecall About This. */
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
    const { organizationCommands } = await import('./organizationCommands.ts');
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
