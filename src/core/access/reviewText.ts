import * as l10n from '@vscode/l10n';
import { oneLine } from '../base/text.ts';
import {
  type AccessDocument,
  type AccessLine,
  aboutLine,
  type EntryLink,
  gapNotices,
  groupLines,
  idLine,
  principalLine,
  roleLine,
  samePeopleNote,
} from './accessDocuments.ts';
import { groupCountText, kindName, membersText, missingText, stateTexts, timeText } from './descriptions.ts';
import { englishGapText, englishGroupNotes, englishKindName } from './english.ts';
import type { AccessMetadata, AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import { type Block, fillLine, heading, joinLines, paragraph, table } from './pageDocument.ts';
import { effectiveAccess, groupName, holdersOf, type Orphans, orphansOf, principalName, roleName } from './queries.ts';
import { type ReviewOrigin, reviewOf, writeReview } from './review.ts';

type AccessBlock = Block<EntryLink>;

/** The review as JSON: the keys of the findings, then everything. */
export function reviewJson(model: AccessModel, reader: ReviewOrigin): string {
  const { format, version, ...review } = reviewOf(model, reader);
  const orphans = orphansOf(model);
  const keys = Object.fromEntries(Object.entries(orphans).map(([name, list]) => [name, list.map(keyOf)]));
  return writeReview({ format, version, ...{ complete: model.gaps.length === 0, orphans: keys }, ...review });
}

/** The review for people: a summary, who administers, the findings; then each grant and each membership once. */
export function reviewDocument(model: AccessModel, reader: ReviewOrigin): AccessDocument {
  const { groups, roles, principals } = model;
  const unread = l10n.t('Unknown: the groups could not be read.');
  return {
    title: l10n.t('Access review of {0}', model.organization),
    about: aboutLine(model, originOf(reader, model.at)),
    blocks: [
      ...gapNotices(model),
      ...summary(model),
      heading(l10n.t('Administrators')),
      ...administrators(model),
      heading(l10n.t('Findings')),
      ...attention(model),
      heading(l10n.t('Groups')),
      table(
        [l10n.t('Group'), l10n.t('Roles'), l10n.t('Members'), l10n.t('State'), l10n.t('ID')],
        groups.map((entry) => [
          [entryLink('group', groupName(entry), entry.key)],
          grantsOf(entry, model),
          [membersText(entry.members)],
          [stateOf(entry).join(', ')],
          [{ small: entry.group.metadata.id }],
        ]),
        model.groupsKnown ? l10n.t('No groups.') : unread,
      ),
      heading(l10n.t('Members')),
      ...samePeopleNote(principals),
      table(
        [l10n.t('Name'), l10n.t('Kind'), l10n.t('Groups'), l10n.t('Roles'), l10n.t('ID')],
        principals.map((principal) => [
          principalLine(principal),
          [kindName(principal.kind)],
          joinLines(principal.groups.map((entry) => [entryLink('group', groupName(entry), entry.key)])),
          joinLines(effectiveAccess(principal).map(({ role }) => roleLine(role, model))),
          idLine(principal),
        ]),
        model.groupsKnown ? l10n.t('No members.') : unread,
      ),
      heading(l10n.t('Roles')),
      table(
        [l10n.t('Role'), l10n.t('Description'), l10n.t('Granted by'), l10n.t('State'), l10n.t('ID')],
        roles.map((role) => [
          roleLine(role, model),
          [role.role?.metadata.description ?? ''],
          [groupCountText(role.groups.length)],
          [role.role === undefined ? '' : resourceState(role.role.metadata).join(', ')],
          [{ small: role.id }],
        ]),
        model.rolesKnown ? l10n.t('No roles.') : l10n.t('Unknown: the roles could not be read.'),
      ),
    ],
  };
}

/** `Read from identity.example.com by ada@example.com, 2026-03-01 12:00 UTC`. */
function originOf({ service, account }: ReviewOrigin, at: number | undefined): string {
  return l10n.t('Read from {0} by {1}, {2}', service, account, timeText(at));
}

function summary(model: AccessModel): readonly AccessBlock[] {
  const { groups, roles, principals } = model;
  const findings = orphanRows(model).reduce((count, { items }) => count + items.length, 0);
  const textIfKnown = (isKnown: boolean, text: string) => (isKnown ? text : l10n.t('unknown (could not be read)'));
  const lines: AccessLine[] = [
    fillLine(l10n.t('Groups: {0}'), [{ strong: textIfKnown(model.groupsKnown, String(groups.length)) }]),
    fillLine(l10n.t('Roles: {0}'), [
      { strong: textIfKnown(model.rolesKnown, String(roles.filter(({ role }) => role !== undefined).length)) },
    ]),
    fillLine(l10n.t('Members: {0}'), [{ strong: textIfKnown(model.groupsKnown, membersText(principals)) }]),
    fillLine(l10n.t('Complete: {0}'), [{ strong: model.gaps.length === 0 ? l10n.t('yes') : l10n.t('no') }]),
    fillLine(l10n.t('Findings: {0}'), [{ strong: String(findings) }]),
  ];
  return [{ kind: 'list', lines }];
}

/** By the role's name: the service does not say what a role permits. */
const ADMINISTERS = /admin/i;

function administrators(model: AccessModel): readonly AccessBlock[] {
  const roles = model.roles.filter((role) => ADMINISTERS.test(roleName(role)));
  const note = paragraph(
    l10n.t('Members with a role that has "admin" in its name. The service does not say what a role permits.'),
  );
  if (!model.groupsKnown || (!model.rolesKnown && roles.length === 0)) {
    return [note, paragraph(l10n.t('Unknown: not everything could be read.'))];
  }
  const rows = roles.flatMap((role) =>
    holdersOf(role).map(({ principal, grantedBy }) => [
      principalLine(principal),
      [kindName(principal.kind)],
      [entryLink('role', roleName(role), role.key)],
      groupLines(grantedBy),
    ]),
  );
  return [
    note,
    table([l10n.t('Name'), l10n.t('Kind'), l10n.t('Role'), l10n.t('Through')], rows, l10n.t('No administrators.')),
  ];
}

function attention(model: AccessModel): readonly AccessBlock[] {
  const orphans = orphanRows(model);
  if (orphans.length === 0)
    return [
      paragraph(
        model.gaps.length === 0 ? l10n.t('No findings.') : l10n.t('No findings in the data that could be read.'),
      ),
    ];
  const lines = orphans.map(
    ({ title, items }): AccessLine => [{ strong: `${title} (${items.length}):` }, ' ', ...joinLines(items)],
  );
  return [{ kind: 'list', lines }];
}

function grantsOf(entry: GroupEntry, model: AccessModel): AccessLine {
  return entry.missing.includes('roles')
    ? [l10n.t('unknown')]
    : joinLines(entry.roles.map((role) => roleLine(role, model)));
}

function entryLink(kind: 'group' | 'role', text: string, key: string) {
  return { text, link: { kind, key } } as const;
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
export function reviewCsv(model: AccessModel, reader: ReviewOrigin): string {
  const always: Row = {
    organization: model.organization,
    service: reader.service,
    'read by': reader.account,
    'read at': readAt(model),
    complete: model.gaps.length === 0 ? 'yes' : 'no',
  };
  const rows: Row[] = model.gaps.map((gap) => ({ section: 'incomplete', finding: englishGapText(gap) }));
  for (const { finding, rows: orphans } of orphanRows(model)) {
    for (const row of orphans) rows.push({ section: 'orphan', finding, ...row });
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
  /** For the page, in the language of the editor. */
  readonly title: string;
  /** For the CSV file, in English. */
  readonly finding: string;
  readonly items: readonly AccessLine[];
  readonly rows: readonly Row[];
}

/** Each kind of orphan that was found, with a title. */
function orphanRows(model: AccessModel): readonly OrphanRows[] {
  const orphans = orphansOf(model);
  const roles = (title: string, finding: string, entries: readonly RoleEntry[]): OrphanRows => ({
    title,
    finding,
    items: entries.map((role) =>
      fillLine(
        l10n.t('{0} (granted by {1})'),
        [entryLink('role', roleName(role), role.key)],
        [groupCountText(role.groups.length)],
      ),
    ),
    rows: entries.map((role) => roleCells(role, model.rolesKnown)),
  });
  const groups = (title: string, finding: string, entries: readonly GroupEntry[]): OrphanRows => ({
    title,
    finding,
    items: entries.map((entry) => [entryLink('group', groupName(entry), entry.key)]),
    rows: entries.map(groupCells),
  });
  const people = (title: string, finding: string, entries: readonly Principal[]): OrphanRows => ({
    title,
    finding,
    items: entries.map(principalLine),
    rows: entries.map((principal) => ({ ...principalCells(principal), group: names(principal.groups) })),
  });
  const all: Readonly<Record<keyof Orphans, OrphanRows>> = {
    unlistedRoles: roles(l10n.t('Roles granted but not listed'), 'Roles granted but not listed', orphans.unlistedRoles),
    groupsWithoutMembers: groups(
      l10n.t('Groups without members'),
      'Groups without members',
      orphans.groupsWithoutMembers,
    ),
    groupsWithoutRoles: groups(l10n.t('Groups without roles'), 'Groups without roles', orphans.groupsWithoutRoles),
    membersWithoutRole: people(l10n.t('Members without a role'), 'Members without a role', orphans.membersWithoutRole),
    groupsBeingDeleted: groups(l10n.t('Groups being deleted'), 'Groups being deleted', orphans.groupsBeingDeleted),
    unhealthyGroups: groups(
      l10n.t('Groups in error or degraded'),
      'Groups in error or degraded',
      orphans.unhealthyGroups,
    ),
    unhealthyRoles: roles(l10n.t('Roles in error or degraded'), 'Roles in error or degraded', orphans.unhealthyRoles),
  };
  return Object.values(all).filter(({ rows }) => rows.length > 0);
}

function principalCells(principal: Principal): Row {
  const { kind, id, issuer = '' } = principal;
  return { kind: englishKindName(kind), who: principalName(principal), 'who id': id, issuer };
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
    notes: englishGroupNotes(entry).join(', '),
  };
}

function stateOf({ group, missing }: GroupEntry): readonly string[] {
  return [...resourceState(group.metadata), ...missing.map(missingText)];
}

function resourceState(metadata: AccessMetadata): readonly string[] {
  const { deletionTime } = metadata;
  return [
    ...stateTexts(metadata),
    ...(deletionTime
      ? [
          l10n.t(
            'Being deleted since {0}',
            Number.isNaN(Date.parse(deletionTime)) ? deletionTime : timeText(Date.parse(deletionTime)),
          ),
        ]
      : []),
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

/**
 * A table as CSV (RFC 4180), every cell quoted. An apostrophe is put before anything that a spreadsheet would take for
 * a formula: at the beginning of a cell, and after anything that it may take for a separator, because quotes do not
 * prevent that.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Full-width signs begin a formula where they are usual. */
const FORMULA = /(^|[;,|\t\r\n])([ "]*)([=+\-@＝＋－＠])/g;

function cell(text: string): string {
  const safe = text.replace(FORMULA, "$1$2'$3").replace(/^[\t\r\n]/, "'$&");
  return `"${safe.replaceAll('"', '""')}"`;
}
