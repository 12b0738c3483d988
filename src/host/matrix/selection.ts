import * as vscode from 'vscode';
import { groupsGranting } from '../../core/access/matrix.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import { cancelled } from '../../core/base/errors.ts';
import type { Mode } from '../../webview/matrix/protocol.ts';
import { noLongerLoaded } from '../accessTarget.ts';
import { showQuickPick } from '../dialogs.ts';

/** A row, a column or a cell, by the keys of the access model. */
export interface MatrixSelection {
  readonly mode: Mode;
  readonly row: string | null;
  readonly column: string | null;
}

export interface ResolvedSelection {
  readonly row: GroupEntry | Principal | undefined;
  readonly role: RoleEntry | undefined;
}

/** What the keys name; `undefined` where it is no longer in the loaded data. */
export function resolveSelection(model: AccessModel, { mode, row, column }: MatrixSelection): ResolvedSelection {
  const entry = row === null ? undefined : mode === 'groups' ? model.group(row) : model.principal(row);
  return { row: entry, role: column === null ? undefined : model.role(column) };
}

/**
 * What the tree shows for a selection: for a column its role, for a row or cell its group. Of several groups of a member, or
 * several that grant it the role, the user picks one.
 *
 * @returns `undefined` for a role that the member does not have.
 * @throws RolecallError `notFound`, `cancelled`.
 */
export async function entryToReveal(
  model: AccessModel,
  chosen: MatrixSelection,
): Promise<GroupEntry | RoleEntry | undefined> {
  const { row, role } = resolveSelection(model, chosen);
  if ((chosen.row !== null && !row) || (chosen.column !== null && !role)) throw noLongerLoaded();
  if (row && 'group' in row) return row;
  if (!row) {
    if (role) return role;
    throw noLongerLoaded();
  }
  const name = principalName(row);
  const groups = role ? groupsGranting(row, role) : row.groups;
  if (groups.length < 2) return groups[0];
  return pickAmong(
    groups,
    role
      ? vscode.l10n.t('{0} has {1} through several groups. Select one to show in the tree.', name, roleName(role))
      : vscode.l10n.t('{0} is in several groups. Select one to show in the tree.', name),
  );
}

async function pickAmong(groups: readonly GroupEntry[], placeHolder: string): Promise<GroupEntry> {
  const items = groups.map((entry) => ({ label: groupName(entry), description: entry.group.metadata.id, entry }));
  const picked = await showQuickPick(items, { placeHolder, matchOnDescription: true });
  if (!picked) throw cancelled();
  return picked.entry;
}
