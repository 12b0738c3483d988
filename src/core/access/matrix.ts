import type { AccessModel, GroupEntry, Principal, PrincipalKind, RoleEntry } from './model.ts';
import { groupName, principalName, roleName } from './queries.ts';

/** A role, as a column. Plain data: it can be posted to a webview. */
export interface MatrixColumn {
  /** The role's key in the model. */
  readonly key: string;
  readonly label: string;
  /** False for a role that groups grant and the service does not list. */
  readonly listed: boolean;
}

export interface MatrixRow {
  /** The key of the group or principal in the model. */
  readonly key: string;
  readonly kind: 'group' | PrincipalKind;
  readonly label: string;
  /** Distinguishes rows with the same label: the ID, the issuer. */
  readonly detail: string;
  /** Positions of the columns that this row has, ascending, without repetitions. */
  readonly cells: readonly number[];
}

export interface Matrix {
  readonly columns: readonly MatrixColumn[];
  readonly rows: readonly MatrixRow[];
}

/** Groups × roles: which group grants which role. */
export function groupMatrix(model: AccessModel, groups: readonly GroupEntry[] = model.groups): Matrix {
  return {
    columns: columnsOf(model),
    rows: groups.map((entry) => ({
      key: entry.key,
      kind: 'group',
      label: groupName(entry),
      detail: entry.group.metadata.id,
      cells: cellsOf([entry]),
    })),
  };
}

/** People, users and service accounts × roles: who has which role, through whatever group. */
export function peopleMatrix(model: AccessModel, people: readonly Principal[] = model.principals): Matrix {
  return {
    columns: columnsOf(model),
    rows: people.map((principal) => ({
      key: principal.key,
      kind: principal.kind,
      label: principalName(principal),
      detail: [principal.email === undefined ? undefined : principal.id, principal.issuer].filter(Boolean).join(' · '),
      cells: cellsOf(principal.groups),
    })),
  };
}

/** The groups through which a principal has a role: the explanation of one cell. */
export function groupsGranting(principal: Principal, role: RoleEntry): readonly GroupEntry[] {
  return principal.groups.filter((group) => group.roles.includes(role));
}

function columnsOf({ roles, rolesKnown }: AccessModel): readonly MatrixColumn[] {
  return roles.map((entry) => ({
    key: entry.key,
    label: roleName(entry),
    listed: entry.role !== undefined || !rolesKnown,
  }));
}

function cellsOf(groups: readonly GroupEntry[]): readonly number[] {
  const cells = new Set<number>();
  for (const group of groups) for (const role of group.roles) cells.add(role.index);
  return [...cells].sort((one, other) => one - other);
}
