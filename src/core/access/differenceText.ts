import * as l10n from '@vscode/l10n';
import { kindName, MISSING, principalText, timeText } from './descriptions.ts';
import type { Difference, GroupChange, GroupFacts, RoleChange } from './difference.ts';
import { type Block, heading, joinLines, notice, paragraph } from './document.ts';
import { type AccessDocument, type AccessLine, aboutLine, type EntryLink } from './documents.ts';
import { principalKey } from './model.ts';
import { oneLine } from './plain.ts';
import type { Review, ReviewGroup, ReviewMember, ReviewRole } from './reviewFormat.ts';

/** A review with one fact a line, for the editor's own comparison. Equal access is equal text, whenever it was read. */
export function comparableText({ groups, roles }: Pick<Review, 'groups' | 'roles'>): string {
  const names = roleNames(roles);
  const lines: string[] = [];
  for (const group of groups) {
    lines.push(`group ${named(group)}`, ...factLines(group).map(indent));
    lines.push(...group.roles.map((key) => indent(`grants ${names(key)}`)));
    lines.push(...group.members.map((member) => indent(`member ${memberText(member)}`)), '');
  }
  for (const role of roles) {
    if (role.listed) lines.push(`role ${named(role)}`, ...factLines(role).map(indent), '');
    else lines.push(`role ${oneLine(role.id)}, not listed`, '');
  }
  return lines.join('\n');
}

/** What changed, in words: first how much, then each change, which leads to what is there now. */
export function differenceDocument(difference: Difference, before: Review, after: Review): AccessDocument {
  const line = linesOf(before, after);
  const { groups, roles } = difference;
  const sections: readonly (readonly [title: string, lines: readonly AccessLine[]])[] = [
    [l10n.t('Groups added'), groups.added.map((group) => groupSummary(group, line))],
    [l10n.t('Groups removed'), groups.removed.map((group) => groupSummary(group, line))],
    [l10n.t('Roles granted'), grants(groups.changed, 'added', l10n.t(' has the '), line)],
    [l10n.t('Roles no longer granted'), grants(groups.changed, 'removed', l10n.t(' no longer has the '), line)],
    [l10n.t('Members added'), members(groups.changed, 'added', line)],
    [l10n.t('Members removed'), members(groups.changed, 'removed', line)],
    [l10n.t('Other changes of groups'), groups.changed.flatMap((change) => otherChanges(change, line))],
    [l10n.t('Roles added'), roles.added.map((role) => [...line.role(role.key), ' ', { small: role.id }])],
    [l10n.t('Roles removed'), roles.removed.map((role) => [...line.role(role.key), ' ', { small: role.id }])],
    [l10n.t('Roles changed'), roles.changed.flatMap((change) => roleChanges(change, line))],
  ];
  const found = sections.filter(([, lines]) => lines.length > 0);
  const counts = found.map(([title, lines]) => `${title.toLowerCase()}: ${lines.length}`).join(' · ');
  return {
    title: l10n.t('What changed in {0}', after.organization),
    about: aboutLine(after, l10n.t('from {0} to {1}', momentOf(before), momentOf(after))),
    blocks: [
      ...incomplete(before, l10n.t('What was read before is incomplete: some changes may be missing or wrong.')),
      ...incomplete(after, l10n.t('What is read now is incomplete: some changes may be missing or wrong.')),
      paragraph(found.length === 0 ? l10n.t('Nothing has changed.') : { strong: capitalized(counts) }),
      ...found.flatMap(([title, lines]) => [
        heading(`${title} (${lines.length})`),
        { kind: 'list', lines } satisfies Block<EntryLink>,
      ]),
    ],
  };
}

/** How what both reviews hold is named; what is there no longer leads nowhere. */
interface Lines {
  readonly group: (key: string, name: string) => AccessLine;
  readonly role: (key: string) => AccessLine;
  readonly member: (member: ReviewMember) => AccessLine;
}

function linesOf(before: Review, after: Review): Lines {
  const groups = new Set(after.groups.map(({ key }) => key));
  const roles = new Set(after.roles.map(({ key }) => key));
  const people = new Set(after.groups.flatMap((group) => group.members.map(keyOfMember)));
  const names = new Map([...before.roles, ...after.roles].map((role) => [role.key, role]));
  return {
    group: (key, name) => [groups.has(key) ? { text: name, link: { kind: 'group', key } } : { strong: name }],
    role: (key) => {
      const role = names.get(key);
      const name = role?.listed ? role.name : key;
      const line = roles.has(key) ? { text: name, link: { kind: 'role', key } as const } : { strong: name };
      return role?.listed === false ? [line, l10n.t(' (not listed)')] : [line];
    },
    member: (member) => {
      const key = keyOfMember(member);
      const name = member.email ?? member.id;
      const line = people.has(key) ? { text: name, link: { kind: 'principal', key } as const } : { strong: name };
      return [line, ` (${kindName(member.kind)})`];
    },
  };
}

function keyOfMember({ kind, id, issuer }: ReviewMember): string {
  return principalKey(kind, id, issuer);
}

function momentOf({ readAt, account }: Review): string {
  return l10n.t('{0} (read by {1})', timeText(readAt === undefined ? undefined : Date.parse(readAt)), account);
}

function incomplete({ gaps }: Review, text: string): readonly Block<EntryLink>[] {
  return gaps.length === 0 ? [] : [notice(text)];
}

function grants(
  changes: readonly GroupChange[],
  which: 'added' | 'removed',
  verb: string,
  line: Lines,
): readonly AccessLine[] {
  return changes.flatMap(({ key, name, grants }) =>
    grants[which].map((role) => [...line.group(key, name), verb, ...line.role(role), l10n.t(' role')]),
  );
}

function members(changes: readonly GroupChange[], which: 'added' | 'removed', line: Lines): readonly AccessLine[] {
  return changes.flatMap(({ key, name, members }) =>
    members[which].map((member) => [
      ...line.member(member),
      which === 'added' ? l10n.t(' joined ') : l10n.t(' left '),
      ...line.group(key, name),
      ...(member.email === undefined ? [] : [' ', { small: member.id }]),
    ]),
  );
}

function groupSummary({ key, name, id, roles, members, missing }: ReviewGroup, line: Lines): AccessLine {
  const none = missing?.includes('roles') ? l10n.t('unknown roles') : l10n.t('no roles');
  const granted = roles.length === 0 ? [none] : [l10n.t('roles '), ...joinLines(roles.map(line.role))];
  const held =
    members.length === 0 ? [l10n.t('no members')] : [l10n.t('members '), ...joinLines(members.map(line.member))];
  return [...line.group(key, name), ': ', ...granted, '; ', ...held, ' ', { small: id }];
}

function otherChanges({ key, name, facts }: GroupChange, line: Lines): readonly AccessLine[] {
  if (facts === undefined) return [];
  return factChanges(facts.before, facts.after).map((change) => [...line.group(key, name), `: ${change}`]);
}

function roleChanges({ key, before, after }: RoleChange, line: Lines): readonly AccessLine[] {
  if (before.listed && after.listed) {
    return factChanges(before, after).map((change) => [...line.role(key), `: ${change}`]);
  }
  return [
    [...line.role(key), after.listed ? l10n.t(' is in the role list now') : l10n.t(' is no longer in the role list')],
  ];
}

/** `health changed from healthy to error`; what has no value before or after was added or removed. */
function factChanges(before: Partial<GroupFacts>, after: Partial<GroupFacts>): readonly string[] {
  const changes: string[] = [];
  const was = new Map(valuesOf(before));
  for (const [name, value] of valuesOf(after)) {
    const old = was.get(name);
    if (value === old) continue;
    if (value === undefined) changes.push(l10n.t('{0} removed, was {1}', name, old ?? ''));
    else
      changes.push(
        old === undefined
          ? l10n.t('{0} set to {1}', name, value)
          : l10n.t('{0} changed from {1} to {2}', name, old, value),
      );
  }
  return [...changes, ...setChanges(tagsOf(before), tagsOf(after)), ...setChanges(missingOf(before), missingOf(after))];
}

function setChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((text) => !before.includes(text)).map((text) => l10n.t('{0} (new)', text));
  return [...added, ...before.filter((text) => !after.includes(text)).map((text) => l10n.t('{0} (no longer)', text))];
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function factLines(facts: Partial<GroupFacts>): readonly string[] {
  return [
    ...valuesOf(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${oneLine(value)}`])),
    ...tagsOf(facts),
    ...missingOf(facts),
  ];
}

function valuesOf(facts: Partial<GroupFacts>): readonly (readonly [string, string | undefined])[] {
  return [
    ['name', facts.name],
    ['description', facts.description],
    ['provisioning', facts.provisioningStatus],
    ['health', facts.healthStatus],
    ['created', facts.creationTime],
    ['created by', facts.createdBy],
    ['modified', facts.modifiedTime],
    ['modified by', facts.modifiedBy],
    ['being deleted since', facts.deletionTime],
  ];
}

function tagsOf({ tags = [] }: Partial<GroupFacts>): readonly string[] {
  return tags.map(({ name, value }) => `tag ${oneLine(`${name}=${value}`)}`);
}

function missingOf({ missing = [] }: Partial<GroupFacts>): readonly string[] {
  return missing.map((list) => MISSING[list]);
}

function memberText({ kind, id, email, issuer }: ReviewMember): string {
  return principalText({ kind, id, ...(email !== undefined && { email }), ...(issuer !== undefined && { issuer }) });
}

function roleLine(role: ReviewRole): string {
  return role.listed ? named(role) : `${oneLine(role.id)} (not listed)`;
}

function roleNames(roles: readonly ReviewRole[]): (key: string) => string {
  const names = new Map(roles.map((role) => [role.key, roleLine(role)]));
  return (key) => names.get(key) ?? oneLine(key);
}

function named({ name, id }: { readonly name: string; readonly id: string }): string {
  return `${oneLine(name)} (id ${oneLine(id)})`;
}

function indent(line: string): string {
  return `  ${line}`;
}
