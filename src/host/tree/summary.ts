import * as vscode from 'vscode';
import { attentionOf } from '../../core/access/status.ts';
import type { RolecallError } from '../../core/base/errors.ts';
import { contextKeys } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { setContextKey } from '../contextKeys.ts';
import type { ViewState } from './viewState.ts';

/** Why nothing can be shown although somebody is signed in and has named organizations. */
export type EmptyBecause = 'offline' | 'forbidden';

/** What stands around the tree: the badge, the line above it, and which welcome view stands in its place. */
export interface Summary {
  readonly emptyBecause: EmptyBecause | undefined;
  readonly message: string;
  readonly badge: vscode.ViewBadge | undefined;
}

/** Sums up the organizations of the tree and sets the context keys that menus and welcome views look at. */
export function summarize(data: AccessData, state: ViewState, organizations: readonly string[]): Summary {
  const attention = data.all.reduce((sum, { model }) => {
    const groups = model.groups.filter(({ group }) => attentionOf(group.metadata) !== undefined);
    const roles = model.roles.filter(({ role }) => role && attentionOf(role.metadata) !== undefined);
    return sum + groups.length + roles.length;
  }, 0);
  const failures = organizations.map((id) => failureOf(data, id));
  const [first] = failures;
  const emptyBecause = first && failures.every((failure) => failure?.kind === first.kind) ? whyOf(first) : undefined;
  const connection = data.stage?.cloud.key ?? '';
  const filters = organizations.flatMap((id) => {
    const filter = state.filterOf(connection, id);
    return filter === '' ? [] : [vscode.l10n.t('{0} filtered by “{1}”', data.labelOf(id), filter)];
  });
  setContextKey(contextKeys.emptyBecause, emptyBecause ?? '');
  setContextKey(contextKeys.isFiltered, filters.length > 0);
  return {
    emptyBecause,
    message: emptyBecause && first ? first.message : filters.join(' · '),
    badge:
      attention === 0
        ? undefined
        : { value: attention, tooltip: vscode.l10n.t('Groups and roles in error or degraded: {0}', attention) },
  };
}

function whyOf({ kind }: RolecallError): EmptyBecause | undefined {
  return kind === 'offline' || kind === 'forbidden' ? kind : undefined;
}

/** Why neither list of an organization could be read, if that is so and nobody is to read it again. */
function failureOf(data: AccessData, organization: string): RolecallError | undefined {
  const read = data.last(organization);
  if (!read || read.stage.directory.current(organization) === undefined) return undefined;
  const { groups, roles } = read.access;
  if (groups.kind !== 'failed' || roles.kind !== 'failed' || groups.error.kind !== roles.error.kind) return undefined;
  return groups.error;
}
