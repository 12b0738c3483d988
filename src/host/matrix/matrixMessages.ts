import * as vscode from 'vscode';
import { findingsText } from '../../core/access/descriptions.ts';
import { applyFilter, filterPeople, parseFilter, type SortOrder, sortEntries } from '../../core/access/filter.ts';
import { groupMatrix, groupsGranting, type Matrix, peopleMatrix } from '../../core/access/matrix.ts';
import {
  type AccessModel,
  attentionOf,
  type GroupEntry,
  type Principal,
  type RoleEntry,
} from '../../core/access/model.ts';
import { groupName, principalName, roleName, shortId } from '../../core/access/queries.ts';
import { cancelled } from '../../core/base/errors.ts';
import { oneLine } from '../../core/base/text.ts';
import { makeBits, setBit } from '../../webview/matrix/bitMatrix.ts';
import type { MatrixMessage, Mode } from '../../webview/matrix/protocol.ts';
import { noLongerLoaded } from '../accessTarget.ts';
import { showQuickPick } from '../dialogs.ts';

/** The text beside the name of a row. */
export interface RowNotes {
  readonly ofGroup: (entry: GroupEntry) => string;
  readonly ofPrincipal: (principal: Principal) => string;
}

/** All data, in the page's format. Text of the service stays on one line. */
export function matrixMessage(model: AccessModel, connection: string, mode: Mode, notes: RowNotes): MatrixMessage {
  const matrix: Matrix = mode === 'groups' ? groupMatrix(model) : peopleMatrix(model);
  const { rows, columns } = matrix;
  const bits = makeBits(rows.length, columns.length);
  for (const [row, { cells }] of rows.entries()) {
    for (const column of cells) setBit(bits, columns.length, row, column);
  }
  return {
    type: 'matrix',
    mode,
    organization: model.organization,
    connection,
    rows: {
      kinds: rows.map(({ kind }) => kind),
      keys: rows.map(({ key }) => key),
      labels: rows.map(({ label }) => oneLine(shortId(label))),
      names: rows.map(({ label }) => oneLine(label)),
      details: rows.map(({ detail }) => oneLine(detail)),
      notes: mode === 'groups' ? model.groups.map(notes.ofGroup) : model.principals.map(notes.ofPrincipal),
      states:
        mode === 'groups'
          ? model.groups.map(({ group }) => attentionOf(group.metadata) ?? '')
          : model.principals.map(() => ''),
      findings: (mode === 'groups' ? model.groups : model.principals).map((entry) => findingsText(model, entry)),
    },
    columns: {
      keys: columns.map(({ key }) => key),
      labels: columns.map(({ label, listed }) => oneLine(listed ? label : shortId(label))),
      details: model.roles.map(({ id }) => oneLine(id)),
      listed: columns.map(({ listed }) => listed),
      findings: model.roles.map((role) => findingsText(model, role)),
    },
    bits,
  };
}

export interface FilteredPositions {
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly columns: Uint32Array<ArrayBuffer>;
}

/**
 * Positions of the rows that match a filter, and of the columns that belong to them: roles that match it themselves,
 * and the roles of the rows. So every row shows all of its roles.
 */
export function filterPositions(model: AccessModel, mode: Mode, filter: string, order: SortOrder): FilteredPositions {
  const terms = parseFilter(filter);
  const { groups, roles } = applyFilter(model, terms);
  const rows = mode === 'groups' ? sortEntries(groups, order) : sortPeople(filterPeople(model, terms), order);
  return { rows: positions(rows), columns: positions(columnsOf(model, rows, roles, order)) };
}

function columnsOf(
  model: AccessModel,
  rows: readonly (GroupEntry | Principal)[],
  passing: readonly RoleEntry[],
  order: SortOrder,
): readonly RoleEntry[] {
  const wanted = new Uint8Array(model.roles.length);
  for (const { index } of passing) wanted[index] = 1;
  for (const row of rows) {
    for (const { roles } of 'group' in row ? [row] : row.groups) for (const { index } of roles) wanted[index] = 1;
  }
  const shown = model.roles.filter(({ index }) => wanted[index] === 1);
  // In the order of the tree: listed roles, then those that groups only grant.
  return [true, false].flatMap((listed) =>
    sortEntries(
      shown.filter(({ role }) => (role !== undefined) === listed),
      order,
    ),
  );
}

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** People have neither a time nor a health of their own: in any order but the service's they are sorted by name. */
function sortPeople(people: readonly Principal[], order: SortOrder): readonly Principal[] {
  if (order === 'service') return people;
  return [...people].sort((one, other) => names.compare(principalName(one), principalName(other)));
}

function positions(entries: readonly { readonly index: number }[]): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(entries, ({ index }) => index);
}

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

/** The entries with these keys; `undefined` if one is no longer in the loaded data. */
export function resolveSelection(model: AccessModel, { mode, row, column }: MatrixSelection): ResolvedSelection {
  const entry = row === null ? undefined : mode === 'groups' ? model.group(row) : model.principal(row);
  return { row: entry, role: column === null ? undefined : model.role(column) };
}

/**
 * The tree item for a selection: the role for a column, the group for a row or cell. If a member is in several groups,
 * or several grant it the role, the user picks one.
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
