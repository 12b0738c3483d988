import * as l10n from '@vscode/l10n';
import { type GroupEntry, isBeingDeleted, type RoleEntry } from '../../access/model.ts';
import { oneLine } from '../../access/plain.ts';
import { groupName, roleName } from '../../access/queries.ts';

/** A message names so many; the rest stands in the reading. */
const MAX_NAMES = 4;

export function groupText(entry: GroupEntry): string {
  const name = oneLine(groupName(entry));
  return isBeingDeleted(entry.group.metadata) ? l10n.t('{0} (being deleted)', name) : name;
}

export function roleText(entry: RoleEntry): string {
  return oneLine(roleName(entry));
}

export function groupsText(groups: readonly GroupEntry[]): string {
  return listText(groups.map(groupText));
}

export function rolesText(roles: readonly RoleEntry[]): string {
  return listText(roles.map(roleText));
}

export function listText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? l10n.t('{0} and {1} more', shown, names.length - MAX_NAMES) : shown;
}
