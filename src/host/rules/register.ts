import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommands } from '../commands.ts';
import type { RulesDeps } from './rules.ts';

/**
 * Access rules, declared state and reviews in files of the workspace. Their code is loaded when an organization has
 * been read, or such a file is opened: most windows have none.
 */
export function registerRules(deps: RulesDeps, log: Log): vscode.Disposable {
  const rules = onFirstUse(async () => {
    const { Rules } = await import('./rules.ts');
    return new Rules(deps, log);
  });
  const begin = () => void rules().catch((error) => log.error(`Access rules are not checked: ${String(error)}`));
  const look = ({ fileName }: vscode.TextDocument) => {
    if (/\.(?:access|review)\.yaml$/.test(fileName)) begin();
  };
  const { newAccessRules, declareAccess, addWaiver, copyToDo, showCheck, exportCheck } = commands;
  const { startReview, nextUndecided, decideAccess, showReviewSummary, showAccessGraph } = commands;
  const ofRules = [
    newAccessRules,
    declareAccess,
    addWaiver,
    copyToDo,
    showCheck,
    exportCheck,
    showAccessGraph,
  ] as const;
  const ofReviews = [startReview, nextUndecided, decideAccess, showReviewSummary] as const;
  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    rules,
    deps.data.onDidChange(({ kind }) => {
      if (kind === 'read') begin();
    }),
    vscode.workspace.onDidOpenTextDocument(look),
    registerCommands([...ofRules, ...ofReviews], log, async () => (await rules()).commands),
  );
}
