/*
 * Descriptions for models and files, always in English: it is part of the format. `descriptions.ts` has those for
 * users, in their own language.
 */

import { oneLine } from '../base/text.ts';
import {
  attentionOf,
  type Gap,
  type GroupEntry,
  type GroupList,
  isBeingDeleted,
  PRINCIPAL_KINDS,
  type Principal,
  type PrincipalKind,
  type RoleEntry,
} from './model.ts';
import { groupName, roleName } from './queries.ts';

const KINDS: Readonly<Record<PrincipalKind, string>> = {
  subject: 'subject',
  user: 'user ID',
  serviceAccount: 'service account',
};

export const englishKindName = (kind: PrincipalKind): string => KINDS[kind];

/** Servers list the same people in both ways, without a link between them. */
export const ENGLISH_DUPLICATE_PEOPLE_NOTE =
  'A subject comes from the identity provider, a user ID from the cloud. The same person may have both.';

/** `2 subjects, 2 user IDs, 1 service account`. Not one number, because that could count people twice. */
export function englishMembersText(members: readonly Pick<Principal, 'kind'>[]): string {
  const counts = PRINCIPAL_KINDS.map(
    (kind) => [kind, members.filter((member) => member.kind === kind).length] as const,
  );
  const texts = counts.flatMap(([kind, many]) => (many === 0 ? [] : [englishCountText(many, KINDS[kind])]));
  return texts.join(', ') || 'no members';
}

/** `1 group`, `2 groups`. */
export function englishCountText(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

/** `ada@acme.example`; without an email address the kind and the ID: `user ID 17`. */
export function englishMemberName({ kind, id, email }: Pick<Principal, 'kind' | 'id' | 'email'>): string {
  return email ?? `${KINDS[kind]} ${id}`;
}

/** A principal, unambiguously: `jane@example.com (subject 17 of https://issuer)`. */
export function englishPrincipalText(principal: Pick<Principal, 'kind' | 'id' | 'email' | 'issuer'>): string {
  const { kind, id, email, issuer } = principal;
  const kindText = issuer === undefined ? KINDS[kind] : `${KINDS[kind]} of ${oneLine(issuer)}`;
  return email === undefined ? `${oneLine(id)} (${kindText})` : `${oneLine(email)} (${kindText}, id ${oneLine(id)})`;
}

/** `operators (id g-1)`, with its notes. */
export function englishGroupText(entry: GroupEntry): string {
  const notes = englishGroupNotes(entry);
  return `${oneLine(groupName(entry))} (${[`id ${oneLine(entry.group.metadata.id)}`, ...notes].join(', ')})`;
}

/** `reader (id r-1)`; only the ID is known of a role that is not listed. */
export function englishRoleText(entry: RoleEntry, rolesKnown: boolean): string {
  if (entry.role === undefined) return `${oneLine(entry.id)} (${rolesKnown ? 'not listed' : 'name not known'})`;
  return `${oneLine(roleName(entry))} (id ${oneLine(entry.id)})`;
}

/** `through operators (id g-1), readers (id g-2, being deleted)`. */
export function englishGrantedByText(groups: readonly GroupEntry[]): string {
  return `through ${groups.map(englishGroupText).join(', ')}`;
}

/** The lists of a group that are unknown. */
export const ENGLISH_MISSING_TEXT: Readonly<Record<GroupList, string>> = {
  roles: 'roles not sent by the service',
  serviceAccounts: 'service accounts not sent by the service',
};

/** What is unusual about a group. */
export function englishGroupNotes({ group, missing }: GroupEntry): readonly string[] {
  const { metadata } = group;
  const attention = attentionOf(metadata);
  return [
    ...(isBeingDeleted(metadata) ? ['being deleted'] : []),
    ...(attention === undefined ? [] : [attention]),
    ...missing.map((list) => ENGLISH_MISSING_TEXT[list]),
  ];
}

/** What may be missing in an answer, as a sentence. */
export function englishGapText({ list, kind, count, reason }: Gap): string {
  const because = reason === '' ? '' : ` ${oneLine(reason)}`;
  switch (kind) {
    case 'unread':
      return `The ${list} could not be read.${because}`;
    case 'stale':
      return `The ${list} could not be refreshed, so earlier data is used.${because}`;
    case 'malformed':
      return count === 1
        ? `One of the ${list} could not be understood and was left out.`
        : `${count} of the ${list} could not be understood and were left out.`;
    case 'missing':
      return `The service sent ${count === 1 ? 'one group' : `${count} groups`} without a list of roles or service accounts, so these are unknown.`;
  }
}
