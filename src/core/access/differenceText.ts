import * as l10n from '@vscode/l10n';
import { oneLine } from '../base/text.ts';
import { type AccessDocument, type AccessLine, aboutLine, type EntryLink } from './accessDocuments.ts';
import { kindName, missingText, timeText } from './descriptions.ts';
import type { Difference, GroupChange, GroupFacts, RoleChange } from './difference.ts';
import { ENGLISH_MISSING_TEXT, englishPrincipalText } from './english.ts';
import { principalKey } from './model.ts';
import { type Block, fillLine, heading, joinLines, notice, paragraph } from './pageDocument.ts';
import { tagText } from './queries.ts';
import type { Review, ReviewGroup, ReviewMember, ReviewRole } from './review.ts';

/**
 * A review with one fact per line, for the editor's own comparison. Equal access gives equal text, whenever it was
 * read.
 */
export function comparableText({ groups, roles }: Pick<Review, 'groups' | 'roles'>): string {
  const names = roleNames(roles);
  const lines: string[] = [];
  for (const group of groups) {
    lines.push(`group ${named(group)}`);
    for (const fact of factLines(group)) lines.push(indent(fact));
    for (const key of group.roles) lines.push(indent(`grants ${names(key)}`));
    for (const member of group.members) lines.push(indent(`member ${memberText(member)}`));
    lines.push('');
  }
  for (const role of roles) {
    if (role.listed) lines.push(`role ${named(role)}`, ...factLines(role).map(indent), '');
    else lines.push(`role ${oneLine(role.id)}, not listed`, '');
  }
  return lines.join('\n');
}

/** What changed, in words: a summary, then each change with links to what exists now. */
export function differenceDocument(difference: Difference, before: Review, after: Review): AccessDocument {
  const line = linesOf(before, after);
  const { groups, roles } = difference;
  const sections: readonly (readonly [title: string, lines: readonly AccessLine[]])[] = [
    [l10n.t('Groups added'), groups.added.map((group) => groupSummary(group, line))],
    [l10n.t('Groups removed'), groups.removed.map((group) => groupSummary(group, line))],
    [l10n.t('Roles granted'), grants(groups.changed, 'added', l10n.t('{0} has the {1} role'), line)],
    [
      l10n.t('Roles no longer granted'),
      grants(groups.changed, 'removed', l10n.t('{0} no longer has the {1} role'), line),
    ],
    [l10n.t('Members added'), members(groups.changed, 'added', line)],
    [l10n.t('Members removed'), members(groups.changed, 'removed', line)],
    [l10n.t('Other changes to groups'), groups.changed.flatMap((change) => otherChanges(change, line))],
    [l10n.t('Roles added'), roles.added.map((role) => [...line.role(role.key), ' ', { small: role.id }])],
    [l10n.t('Roles removed'), roles.removed.map((role) => [...line.role(role.key), ' ', { small: role.id }])],
    [l10n.t('Roles changed'), roles.changed.flatMap((change) => roleChanges(change, line))],
  ];
  const changedSections = sections.filter(([, lines]) => lines.length > 0);
  const counts = changedSections.map(([title, lines]) => `${title}: ${lines.length}`).join(' · ');
  return {
    title: l10n.t('What changed in {0}', after.organization),
    about: aboutLine(after, l10n.t('from {0} to {1}', momentOf(before), momentOf(after))),
    blocks: [
      ...incomplete(before, l10n.t('The earlier data is incomplete: some changes may be missing or wrong.')),
      ...incomplete(after, l10n.t('The current data is incomplete: some changes may be missing or wrong.')),
      paragraph(changedSections.length === 0 ? l10n.t('No changes.') : { strong: counts }),
      ...changedSections.flatMap(([title, lines]) => [
        heading(`${title} (${lines.length})`),
        { kind: 'list', lines } satisfies Block<EntryLink>,
      ]),
    ],
  };
}

/** The names in either review, linked where the entry still exists. */
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
      return role?.listed === false ? fillLine(l10n.t('{0} (not listed)'), [line]) : [line];
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
  sentence: string,
  line: Lines,
): readonly AccessLine[] {
  return changes.flatMap(({ key, name, grants }) =>
    grants[which].map((role) => fillLine(sentence, line.group(key, name), line.role(role))),
  );
}

function members(changes: readonly GroupChange[], which: 'added' | 'removed', line: Lines): readonly AccessLine[] {
  return changes.flatMap(({ key, name, members }) =>
    members[which].map((member) => [
      ...fillLine(
        which === 'added' ? l10n.t('{0} joined {1}') : l10n.t('{0} left {1}'),
        line.member(member),
        line.group(key, name),
      ),
      ...(member.email === undefined ? [] : [' ', { small: member.id }]),
    ]),
  );
}

function groupSummary({ key, name, id, roles, members, missing }: ReviewGroup, line: Lines): AccessLine {
  const none = missing?.includes('roles') ? l10n.t('unknown roles') : l10n.t('no roles');
  const granted = roles.length === 0 ? [none] : fillLine(l10n.t('roles {0}'), joinLines(roles.map(line.role)));
  const membersText =
    members.length === 0
      ? [l10n.t('no members')]
      : fillLine(l10n.t('members {0}'), joinLines(members.map(line.member)));
  return [...line.group(key, name), ' ', { small: id }, ': ', ...granted, '; ', ...membersText];
}

function otherChanges({ key, name, facts }: GroupChange, line: Lines): readonly AccessLine[] {
  if (facts === undefined) return [];
  return factChanges(facts.before, facts.after).map((change) => [...line.group(key, name), `: ${change}`]);
}

function roleChanges({ key, before, after }: RoleChange, line: Lines): readonly AccessLine[] {
  if (before.listed && after.listed) {
    return factChanges(before, after).map((change) => [...line.role(key), `: ${change}`]);
  }
  const sentence = after.listed
    ? l10n.t('{0} is now listed by the service')
    : l10n.t('{0} is no longer listed by the service');
  return [fillLine(sentence, line.role(key))];
}

/**
 * `health changed from healthy to error`, `description changed from "Old" to "New"`; a value that is missing before or
 * after was added or removed.
 */
function factChanges(before: Partial<GroupFacts>, after: Partial<GroupFacts>): readonly string[] {
  const changes: string[] = [];
  const was = new Map(valuesOf(before));
  for (const [field, value] of valuesOf(after)) {
    const old = was.get(field);
    if (value === old) continue;
    const name = fieldName(field);
    const quoted = (text: string) => (field === 'name' || field === 'description' ? `"${text}"` : text);
    if (value === undefined) changes.push(l10n.t('{0} removed, was {1}', name, quoted(old ?? '')));
    else
      changes.push(
        old === undefined
          ? l10n.t('{0} set to {1}', name, quoted(value))
          : l10n.t('{0} changed from {1} to {2}', name, quoted(old), quoted(value)),
      );
  }
  const withKind = (tag: string) => l10n.t('tag {0}', tag);
  return [
    ...changes,
    ...setChanges(tagsOf(before).map(withKind), tagsOf(after).map(withKind)),
    ...setChanges((before.missing ?? []).map(missingText), (after.missing ?? []).map(missingText)),
  ];
}

function setChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((text) => !before.includes(text)).map((text) => l10n.t('{0} (new)', text));
  return [...added, ...before.filter((text) => !after.includes(text)).map((text) => l10n.t('{0} (no longer)', text))];
}

function factLines(facts: Partial<GroupFacts>): readonly string[] {
  return [
    ...valuesOf(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${oneLine(value)}`])),
    ...tagsOf(facts).map((tag) => `tag ${tag}`),
    ...(facts.missing ?? []).map((list) => ENGLISH_MISSING_TEXT[list]),
  ];
}

/** The name of a fact in the comparable text. */
type Field =
  | 'name'
  | 'description'
  | 'provisioning'
  | 'health'
  | 'created'
  | 'created by'
  | 'modified'
  | 'modified by'
  | 'being deleted since';

function fieldName(field: Field): string {
  switch (field) {
    case 'name':
      return l10n.t('name');
    case 'description':
      return l10n.t('description');
    case 'provisioning':
      return l10n.t('provisioning');
    case 'health':
      return l10n.t('health');
    case 'created':
      return l10n.t('creation time');
    case 'created by':
      return l10n.t('creator');
    case 'modified':
      return l10n.t('modification time');
    case 'modified by':
      return l10n.t('last editor');
    case 'being deleted since':
      return l10n.t('deletion time');
  }
}

function valuesOf(facts: Partial<GroupFacts>): readonly (readonly [Field, string | undefined])[] {
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
  return tags.map((tag) => oneLine(tagText(tag)));
}

function memberText({ kind, id, email, issuer }: ReviewMember): string {
  return englishPrincipalText({
    kind,
    id,
    ...(email !== undefined && { email }),
    ...(issuer !== undefined && { issuer }),
  });
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
