import * as vscode from 'vscode';
import { duplicatePeopleNote, gapText, groupNotes, kindName, membersText } from '../../core/access/descriptions.ts';
import { groupsGranting } from '../../core/access/matrix.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import { oneLine } from '../../core/base/text.ts';
import type { Mode, NoticesMessage, TextName } from '../../webview/matrix/protocol.ts';
import { filterProblem } from '../accessTarget.ts';
import type { RowNotes } from './matrixMessages.ts';

/** The page's fixed texts. */
export function pageTexts(organization: string): Readonly<Record<TextName, string>> {
  return {
    title: vscode.l10n.t('Access matrix of {0}', organization),
    rows: vscode.l10n.t('Rows'),
    groups: vscode.l10n.t('Groups'),
    people: vscode.l10n.t('People'),
    group: vscode.l10n.t('Group'),
    person: vscode.l10n.t('Person or service account'),
    filter: vscode.l10n.t('Filter'),
    filterHint: vscode.l10n.t('Filter (also filters the tree)'),
    refresh: vscode.l10n.t('Refresh'),
    reading: vscode.l10n.t('Reading…'),
    legend: vscode.l10n.t('Legend'),
    granted: vscode.l10n.t('granted'),
    grantedUnlisted: vscode.l10n.t('granted, role not listed'),
    notGranted: vscode.l10n.t('not granted'),
    unlisted: vscode.l10n.t('not listed'),
    finding: vscode.l10n.t('found by access rules'),
    groupCount: vscode.l10n.t('Groups: {0}'),
    peopleCount: vscode.l10n.t('Members: {0}'),
    roleCount: vscode.l10n.t('Roles: {0}'),
    grantCount: vscode.l10n.t('Grants: {0}'),
    ofAll: vscode.l10n.t('{0} of {1}'),
    rowGrants: vscode.l10n.t('roles: {0}'),
    columnGroups: vscode.l10n.t('groups: {0}'),
    columnPeople: vscode.l10n.t('members: {0}'),
    samePeople: duplicatePeopleNote(),
  };
}

/** The text beside the name of a row: what is unusual about a group, the kind of a member. */
export const rowNotes: RowNotes = {
  ofGroup: (entry) => groupNotes(entry).join(', '),
  ofPrincipal: ({ kind }) => kindName(kind),
};

/** Why there are no rows. */
export function emptyText(model: AccessModel, mode: Mode, filter: string): string {
  if (!model.groupsKnown) return vscode.l10n.t('Unknown: the groups could not be read');
  if (mode === 'groups') {
    return filter === '' ? vscode.l10n.t('No groups') : vscode.l10n.t('No matching groups');
  }
  return filter === '' ? vscode.l10n.t('No members') : vscode.l10n.t('No matching people');
}

/** What is missing in the data, worded as in every other answer, and the problems of the filter. */
export function noticesOf({ gaps }: AccessModel, filter: string): NoticesMessage['notices'] {
  const kinds = { unread: 'problem', malformed: 'partial', missing: 'partial', stale: 'stale' } as const;
  const problem = filterProblem(filter);
  return [
    ...gaps.map((gap) => ({ kind: kinds[gap.kind], text: gapText(gap) })),
    ...(problem === '' ? [] : [{ kind: 'partial' as const, text: problem }]),
  ];
}

/** Describes a row, a column or a cell. */
export function detailText(row: GroupEntry | Principal | undefined, role: RoleEntry | undefined): string {
  if (role === undefined) return row === undefined ? '' : rowText(row);
  const name = oneLine(roleName(role));
  if (row === undefined) return role.role === undefined ? name : `${name} · ${oneLine(role.id)}`;
  if ('group' in row) {
    const group = oneLine(groupName(row));
    return row.roles.includes(role)
      ? vscode.l10n.t('{0} has the {1} role', group, name)
      : vscode.l10n.t('{0} does not have the {1} role', group, name);
  }
  const through = groupsGranting(row, role).map((group) => oneLine(groupName(group)));
  const person = oneLine(principalName(row));
  return through.length > 0
    ? vscode.l10n.t('{0} has {1} through {2}', person, name, listed(through))
    : vscode.l10n.t('{0} does not have {1}', person, name);
}

function rowText(row: GroupEntry | Principal): string {
  if ('group' in row) {
    const { group, members } = row;
    return [oneLine(groupName(row)), oneLine(group.metadata.id), membersText(members), ...groupNotes(row)]
      .filter(Boolean)
      .join(' · ');
  }
  const groups = row.groups.map((group) => oneLine(groupName(group)));
  return vscode.l10n.t('{0} ({1}) is in {2}', oneLine(principalName(row)), kindName(row.kind), listed(groups));
}

/** More names than fit on a line are counted. */
function listed(names: readonly string[]): string {
  const most = 4;
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? vscode.l10n.t('{0} and {1} more', shown, names.length - most) : shown;
}
