import * as vscode from 'vscode';
import { attentionOf } from '../../core/access/model.ts';
import { contextKeys } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { filterProblem } from '../accessTarget.ts';
import { setContextKey } from '../contextKeys.ts';
import { restrictedLine } from '../restrictedMode.ts';
import type { ViewState } from './viewState.ts';

/** The view's badge and the line above the tree. */
export interface Summary {
  readonly message: string;
  readonly badge: vscode.ViewBadge | undefined;
}

/** Sums up the organizations of the tree and sets the context key that menus look at. */
export function summarize(data: AccessData, state: ViewState, organizations: readonly string[]): Summary {
  const attention = data.all.reduce((sum, { model }) => {
    const groups = model.groups.filter(({ group }) => attentionOf(group.metadata) !== undefined);
    const roles = model.roles.filter(({ role }) => role && attentionOf(role.metadata) !== undefined);
    return sum + groups.length + roles.length;
  }, 0);
  const connection = data.session?.cloud.key ?? '';
  const filters = organizations.flatMap((id) => {
    const filter = state.filterOf(connection, id);
    return filter === '' ? [] : [{ id, filter }];
  });
  const [first] = filters;
  const isOne = filters.length === organizations.length && filters.every(({ filter }) => filter === first?.filter);
  const sentences =
    first && isOne && filters.length > 1
      ? [vscode.l10n.t('Filtered by “{0}”', first.filter)]
      : filters.map(({ id, filter }) => vscode.l10n.t('{0} filtered by “{1}”', data.labelOf(id), filter));
  const problems = new Set(filters.map(({ filter }) => filterProblem(filter)).filter((problem) => problem !== ''));
  setContextKey(contextKeys.isFiltered, filters.length > 0);
  return {
    message: [...sentences, ...problems, restrictedLine() ?? []].flat().join(' · '),
    badge:
      attention === 0
        ? undefined
        : { value: attention, tooltip: vscode.l10n.t('Groups and roles that need attention: {0}', attention) },
  };
}
