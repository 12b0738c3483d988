import type { Difference, GroupChange, GroupFacts, RoleChange } from './difference.ts';
import { markdownText, oneLine } from './plain.ts';
import type { Review, ReviewGroup, ReviewMember, ReviewRole } from './reviewFormat.ts';
import { MISSING, principalText } from './words.ts';

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

/** What changed, in words, as Markdown: grants and members first, since they decide who may do what. */
export function differenceMarkdown(difference: Difference, before: Review, after: Review): string {
  const names = roleNames([...before.roles, ...after.roles]);
  const { groups, roles } = difference;
  const lines = [
    `# What changed in ${markdownText(after.organization)}`,
    '',
    `From ${markdownText(heading(before))} to ${markdownText(heading(after))}.`,
    '',
    ...section(
      'Groups added',
      groups.added.map((group) => groupLine(group, names)),
    ),
    ...section(
      'Groups removed',
      groups.removed.map((group) => groupLine(group, names)),
    ),
    ...section('Roles granted', grantLines(groups.changed, 'added', names)),
    ...section('Roles no longer granted', grantLines(groups.changed, 'removed', names)),
    ...section('Members added', memberLines(groups.changed, 'added')),
    ...section('Members removed', memberLines(groups.changed, 'removed')),
    ...section('Groups changed otherwise', groups.changed.flatMap(otherLines)),
    ...section('Roles added', roles.added.map(roleLine)),
    ...section('Roles removed', roles.removed.map(roleLine)),
    ...section('Roles changed', roles.changed.flatMap(roleChangeLines)),
  ];
  if (lines.length === 4) lines.push('Nothing has changed.', '');
  return lines.join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [`## ${title} (${lines.length})`, '', ...lines.map((line) => `- ${markdownText(line)}`), ''];
}

function heading({ readAt, account, gaps }: Review): string {
  const incomplete = gaps.length === 0 ? '' : ', incomplete';
  return `${readAt ?? 'a time that is not known'} (read by ${account}${incomplete})`;
}

function grantLines(
  changes: readonly GroupChange[],
  which: 'added' | 'removed',
  name: (key: string) => string,
): readonly string[] {
  return changes.flatMap((change) => change.grants[which].map((key) => `${name(key)} by ${oneLine(change.name)}`));
}

function memberLines(changes: readonly GroupChange[], which: 'added' | 'removed'): readonly string[] {
  return changes.flatMap((change) =>
    change.members[which].map((member) => `${memberText(member)} in ${oneLine(change.name)}`),
  );
}

function groupLine(group: ReviewGroup, name: (key: string) => string): string {
  const grants = group.roles.map(name).join(', ') || 'no role';
  return `${named(group)}, granting ${grants} to ${group.members.map(memberText).join(', ') || 'nobody'}`;
}

function otherLines({ name, facts }: GroupChange): readonly string[] {
  if (facts === undefined) return [];
  return changedFacts(factLines(facts.before), factLines(facts.after)).map((change) => `${oneLine(name)}: ${change}`);
}

function roleChangeLines({ before, after }: RoleChange): readonly string[] {
  if (!before.listed || !after.listed) {
    return [`${roleLine(after)} is ${after.listed ? 'listed now' : 'no longer listed'}`];
  }
  return changedFacts(factLines(before), factLines(after)).map((change) => `${roleLine(after)}: ${change}`);
}

function changedFacts(before: readonly string[], after: readonly string[]): readonly string[] {
  const was = new Set(before);
  const is = new Set(after);
  const gone = before.filter((line) => !is.has(line)).map((line) => `no longer ${line}`);
  return [...after.filter((line) => !was.has(line)).map((line) => `now ${line}`), ...gone];
}

function roleLine(role: ReviewRole): string {
  return role.listed ? named(role) : `${oneLine(role.id)} (not listed)`;
}

function factLines(facts: Partial<GroupFacts>): readonly string[] {
  const texts: readonly (readonly [string, string | undefined])[] = [
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
  return [
    ...texts.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${oneLine(value)}`])),
    ...(facts.tags ?? []).map(({ name, value }) => `tag ${oneLine(`${name}=${value}`)}`),
    ...(facts.missing ?? []).map((list) => MISSING[list]),
  ];
}

function memberText({ kind, id, email, issuer }: ReviewMember): string {
  return principalText({ kind, id, ...(email !== undefined && { email }), ...(issuer !== undefined && { issuer }) });
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
