import { csv } from './csv.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import { markdownText, oneLine } from './plain.ts';
import { effectiveAccess, groupName, type Orphans, orphansOf, principalName, roleName } from './queries.ts';
import { type Reader, reviewOf } from './review.ts';
import { writeReview } from './reviewFormat.ts';
import {
  gapText,
  groupText,
  kindName,
  mayRepeat,
  membersText,
  notesOf,
  principalText,
  roleText,
  SAME_PEOPLE,
} from './words.ts';

/** The review as JSON: what is to be looked at first by its keys, then everything. */
export function reviewJson(model: AccessModel, reader: Reader): string {
  const { format, version, ...review } = reviewOf(model, reader);
  const orphans = orphansOf(model);
  const keys = Object.fromEntries(Object.entries(orphans).map(([name, list]) => [name, list.map(keyOf)]));
  return writeReview({ format, version, ...{ complete: model.gaps.length === 0, orphans: keys }, ...review });
}

/** The review as Markdown, for people: orphans, groups, then who reaches what. */
export function reviewMarkdown(model: AccessModel, reader: Reader): string {
  const text = markdownText;
  const lines = [
    `# Access review of ${text(model.organization)}`,
    '',
    `- Service: ${text(reader.service)}`,
    `- Read by: ${text(reader.account)}`,
    `- Read at: ${readAt(model)}`,
    `- Members: ${membersText(model.principals)}`,
    ...(mayRepeat(model.principals) ? [`- ${SAME_PEOPLE}`] : []),
    ...model.gaps.map((gap) => `- **Incomplete:** ${text(gapText(gap))}`),
    '',
    '## To look at first',
    '',
  ];
  const orphans = orphanRows(model);
  if (orphans.length === 0) lines.push('Nothing.', '');
  for (const { title, items } of orphans) lines.push(`### ${title}`, '', ...items.map((item) => `- ${text(item)}`), '');
  lines.push('## Groups', '', '| Group | Roles | Members | State |', '|---|---|---|---|');
  for (const entry of model.groups) {
    const roles = entry.roles.map((role) => text(roleText(role, model.rolesKnown))).join('<br>');
    const members = entry.members.map((member) => text(principalText(member))).join('<br>');
    lines.push(`| ${text(groupText(entry))} | ${roles} | ${members} | ${stateOf(entry).map(text).join(', ')} |`);
  }
  lines.push('', '## Who reaches what', '', '| Who | Role | Through |', '|---|---|---|');
  for (const principal of model.principals) {
    for (const { role, through } of effectiveAccess(principal)) {
      const groups = through.map((entry) => text(groupName(entry))).join(', ');
      lines.push(`| ${text(principalText(principal))} | ${text(roleText(role, model.rolesKnown))} | ${groups} |`);
    }
  }
  return [...lines, ''].join('\n');
}

const COLUMNS = [
  'section',
  'finding',
  'organization',
  'kind',
  'who',
  'who id',
  'issuer',
  'role',
  'role id',
  'role listed',
  'group',
  'group id',
  'health',
  'provisioning',
  'notes',
  'service',
  'read by',
  'read at',
  'complete',
] as const;
type Row = Partial<Record<(typeof COLUMNS)[number], string>>;

/**
 * The review as CSV: first a row for each orphan, then one for each member × role × group. A group without members, or
 * without roles, has rows with those cells empty, so that nothing is lost.
 */
export function reviewCsv(model: AccessModel, reader: Reader): string {
  const always: Row = {
    organization: model.organization,
    service: reader.service,
    'read by': reader.account,
    'read at': readAt(model),
    complete: model.gaps.length === 0 ? 'yes' : 'no',
  };
  const rows: Row[] = model.gaps.map((gap) => ({ section: 'incomplete', finding: gapText(gap) }));
  for (const { title, rows: found } of orphanRows(model)) {
    rows.push(...found.map((row) => ({ section: 'orphan', finding: title, ...row })));
  }
  for (const entry of model.groups) {
    const members = entry.members.length > 0 ? entry.members : [undefined];
    const roles = entry.roles.length > 0 ? entry.roles : [undefined];
    for (const member of members) {
      for (const role of roles) {
        rows.push({
          section: 'access',
          ...(member && principalCells(member)),
          ...(role && roleCells(role, model.rolesKnown)),
          ...groupCells(entry),
        });
      }
    }
  }
  const table = rows.map((row) => COLUMNS.map((column) => row[column] ?? always[column] ?? ''));
  return csv([COLUMNS, ...table]);
}

interface OrphanRows {
  readonly title: string;
  readonly items: readonly string[];
  readonly rows: readonly Row[];
}

/** The orphans that there are, each kind with a title. */
function orphanRows(model: AccessModel): readonly OrphanRows[] {
  const orphans = orphansOf(model);
  const roles = (title: string, entries: readonly RoleEntry[]): OrphanRows => ({
    title,
    items: entries.map((role) => `${roleText(role, model.rolesKnown)}, granted by ${names(role.groups)}`),
    rows: entries.map((role) => roleCells(role, model.rolesKnown)),
  });
  const groups = (title: string, entries: readonly GroupEntry[]): OrphanRows => ({
    title,
    items: entries.map((entry) => [groupText(entry), ...stateOf(entry)].join(', ')),
    rows: entries.map(groupCells),
  });
  const people = (title: string, entries: readonly Principal[]): OrphanRows => ({
    title,
    items: entries.map((principal) => `${principalText(principal)}, in ${names(principal.groups)}`),
    rows: entries.map((principal) => ({ ...principalCells(principal), group: names(principal.groups) })),
  });
  const all: Readonly<Record<keyof Orphans, OrphanRows>> = {
    unlistedRoles: roles('Roles that are granted and not listed', orphans.unlistedRoles),
    groupsWithoutMembers: groups('Groups without members', orphans.groupsWithoutMembers),
    groupsWithoutRoles: groups('Groups without roles', orphans.groupsWithoutRoles),
    membersWithoutRole: people('Members without a role', orphans.membersWithoutRole),
    groupsBeingDeleted: groups('Groups being deleted', orphans.groupsBeingDeleted),
    unhealthyGroups: groups('Groups in error or degraded', orphans.unhealthyGroups),
    unhealthyRoles: roles('Roles in error or degraded', orphans.unhealthyRoles),
  };
  return Object.values(all).filter(({ rows }) => rows.length > 0);
}

function principalCells(principal: Principal): Row {
  const { kind, id, issuer = '' } = principal;
  return { kind: kindName(kind), who: principalName(principal), 'who id': id, issuer };
}

function roleCells(role: RoleEntry, rolesKnown: boolean): Row {
  const listed = role.role === undefined ? 'no' : 'yes';
  return { role: roleName(role), 'role id': role.id, 'role listed': rolesKnown ? listed : 'not known' };
}

function groupCells(entry: GroupEntry): Row {
  const { id, healthStatus, provisioningStatus } = entry.group.metadata;
  return {
    group: groupName(entry),
    'group id': id,
    health: healthStatus,
    provisioning: provisioningStatus,
    notes: notesOf(entry).join(', '),
  };
}

function stateOf({ group }: GroupEntry): readonly string[] {
  const { healthStatus, provisioningStatus, deletionTime } = group.metadata;
  return [
    ...(healthStatus === 'healthy' ? [] : [`health ${healthStatus}`]),
    ...(provisioningStatus === 'provisioned' ? [] : [`provisioning ${provisioningStatus}`]),
    ...(deletionTime ? [`being deleted since ${deletionTime}`] : []),
  ];
}

function names(groups: readonly GroupEntry[]): string {
  return groups.map((entry) => oneLine(groupName(entry))).join(', ') || 'no group';
}

function readAt({ at }: AccessModel): string {
  return at === undefined ? 'not read' : new Date(at).toISOString();
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}
