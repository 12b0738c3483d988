import * as l10n from '@vscode/l10n';
import {
  duplicatePeopleNote,
  gapText,
  groupCountText,
  groupNotes,
  kindName,
  mayContainDuplicates,
  membersText,
  roleCountText,
} from './descriptions.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import {
  type Block,
  fillLine,
  joinLines,
  type Line,
  notice,
  type PageDocument,
  paragraph,
  table,
} from './pageDocument.ts';
import {
  effectiveAccess,
  groupName,
  hasNoMembers,
  hasNoRoles,
  holdersOf,
  principalName,
  type RoleHolder,
  roleName,
} from './queries.ts';

/** What a document leads to: the organization, or something in it by its key in the access model. */
export type EntryLink =
  | { readonly kind: 'organization' }
  | { readonly kind: 'group' | 'role' | 'principal'; readonly key: string }
  /** Its access graph. */
  | { readonly kind: 'graph'; readonly of: 'role' | 'principal'; readonly key: string };

export type AccessDocument = PageDocument<EntryLink>;
export type AccessLine = Line<EntryLink>;
type AccessBlock = Block<EntryLink>;

/** Who has a role: a row for each holder, with every group that gives it. @param origin when and by whom it was read. */
export function holdersDocument(model: AccessModel, role: RoleEntry, origin: string): AccessDocument {
  const holders = holdersOf(role);
  const empty = role.groups.filter(hasNoMembers);
  return {
    title: l10n.t('Who has {0}', roleName(role)),
    about: aboutLine(model, origin),
    blocks: [
      ...gapNotices(model),
      ...unlistedNotice(model, role),
      ...(role.groups.length === 0 ? [] : [paragraph(...holderCounts(role, holders))]),
      paragraph(...fillLine(l10n.t('ID: {0}'), [{ small: role.id }])),
      graphLink('role', role),
      ...(role.role?.metadata.description ? [paragraph(role.role.metadata.description)] : []),
      ...samePeopleNote(holders.map(({ principal }) => principal)),
      table(
        [l10n.t('Name'), l10n.t('Kind'), l10n.t('Through'), l10n.t('ID')],
        holders.map(({ principal, grantedBy }) => [
          principalLine(principal),
          [kindName(principal.kind)],
          groupLines(grantedBy),
          idLine(principal),
        ]),
        model.groupsKnown ? l10n.t('Nobody has this role.') : l10n.t('Unknown: the groups could not be read.'),
      ),
      ...(empty.length === 0
        ? []
        : [paragraph(...fillLine(l10n.t('Groups that have this role but no members: {0}.'), groupLines(empty)))]),
    ],
  };
}

/** What a member can reach: a row for each role, with every group that gives it. */
export function effectiveAccessDocument(model: AccessModel, principal: Principal, origin: string): AccessDocument {
  const reached = effectiveAccess(principal);
  const idle = principal.groups.filter(hasNoRoles);
  const unknown = principal.groups.filter(({ missing }) => missing.includes('roles'));
  const isPerson = principal.kind !== 'serviceAccount';
  return {
    title: l10n.t('Effective access of {0}', principalName(principal)),
    about: aboutLine(model, origin),
    blocks: [
      ...gapNotices(model),
      paragraph(
        ...fillLine(
          l10n.t('{0} ({1}): {2} through {3}.'),
          principalLine(principal),
          [kindName(principal.kind)],
          [{ strong: roleCountText(reached.length) }],
          [groupCountText(principal.groups.length)],
        ),
      ),
      paragraph(...fillLine(l10n.t('ID: {0}'), idOf(principal))),
      graphLink('principal', principal),
      ...(isPerson ? samePeopleNote([principal, ...principal.groups.flatMap(({ members }) => members)]) : []),
      table(
        [l10n.t('Role'), l10n.t('Through'), l10n.t('ID')],
        reached.map(({ role, grantedBy }) => [roleLine(role, model), groupLines(grantedBy), [{ small: role.id }]]),
        unknown.length === 0 ? l10n.t('No roles.') : l10n.t('No known roles.'),
      ),
      ...(idle.length === 0
        ? []
        : [paragraph(...fillLine(l10n.t('Also in groups without roles: {0}.'), groupLines(idle)))]),
      ...(unknown.length === 0
        ? []
        : [paragraph(...fillLine(l10n.t('Also in groups whose roles are unknown: {0}.'), groupLines(unknown)))]),
    ],
  };
}

function holderCounts(role: RoleEntry, holders: readonly RoleHolder[]): AccessLine {
  return fillLine(
    l10n.t('{0}: {1} through {2}.'),
    [{ text: roleName(role), link: { kind: 'role', key: role.key } }],
    [{ strong: holders.length === 0 ? l10n.t('nobody') : membersText(holders.map(({ principal }) => principal)) }],
    [groupCountText(role.groups.length)],
  );
}

function graphLink(of: 'role' | 'principal', { key }: { readonly key: string }): AccessBlock {
  return paragraph({ text: l10n.t('Show Access Graph'), link: { kind: 'graph', of, key }, isAction: true });
}

/** The ID, and its issuer. */
function idOf({ id, issuer }: Principal): AccessLine {
  const own: AccessLine = [{ small: id }];
  return issuer === undefined ? own : fillLine(l10n.t('{0} issued by {1}'), own, [{ small: issuer }]);
}

export function aboutLine({ organization }: Pick<AccessModel, 'organization'>, origin: string): AccessLine {
  return [{ text: organization, link: { kind: 'organization' } }, ` · ${origin}`];
}

/** Gaps come before what they affect. */
export function gapNotices(model: AccessModel): readonly AccessBlock[] {
  return model.gaps.map((gap) => notice(l10n.t('Incomplete: {0}', gapText(gap))));
}

export function samePeopleNote(members: readonly Principal[]): readonly AccessBlock[] {
  return mayContainDuplicates(members) ? [paragraph(duplicatePeopleNote())] : [];
}

export function principalLine(principal: Principal): AccessLine {
  return [{ text: principalName(principal), link: { kind: 'principal', key: principal.key } }];
}

/** The ID, unless it is the name already, and its issuer. */
export function idLine({ id, email, issuer }: Pick<Principal, 'id' | 'email' | 'issuer'>): AccessLine {
  const own: AccessLine = email === undefined ? [] : [{ small: id }];
  if (issuer === undefined) return own;
  const issuedBy: AccessLine = [{ small: issuer }];
  return own.length === 0
    ? fillLine(l10n.t('issued by {0}'), issuedBy)
    : fillLine(l10n.t('{0} issued by {1}'), own, issuedBy);
}

/** Groups by name, with their notes. */
export function groupLines(groups: readonly GroupEntry[]): AccessLine {
  return joinLines(groups.map(groupLine));
}

function groupLine(entry: GroupEntry): AccessLine {
  const notes = groupNotes(entry).join(', ');
  const link = { text: groupName(entry), link: { kind: 'group', key: entry.key } } as const;
  return notes === '' ? [link] : [link, ` (${notes})`];
}

/** A role by name, or by ID where the service does not list it. */
export function roleLine(role: RoleEntry, { rolesKnown }: Pick<AccessModel, 'rolesKnown'>): AccessLine {
  const link = { text: roleName(role), link: { kind: 'role', key: role.key } } as const;
  if (role.role !== undefined) return [link];
  return fillLine(rolesKnown ? l10n.t('{0} (not listed)') : l10n.t('{0} (name unknown)'), [link]);
}

function unlistedNotice({ rolesKnown }: AccessModel, { role }: RoleEntry): readonly AccessBlock[] {
  return rolesKnown && role === undefined
    ? [notice(l10n.t('Groups have this role, but the service does not list it.'))]
    : [];
}
