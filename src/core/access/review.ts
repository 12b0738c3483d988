import type { AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import type { AccessMetadata } from './resources.ts';
import { memberKey, type Review, type ReviewGroup, type ReviewMember, type ReviewRole } from './reviewFormat.ts';

/** Who read, and where: what stands above a review. */
export interface ReviewOrigin {
  readonly service: string;
  readonly account: string;
}

/** The model as a document that can be kept, compared and exported. The gaps of the model are part of it. */
export function reviewOf(model: AccessModel, { service, account }: ReviewOrigin): Review {
  return {
    format: 'rolecall.review',
    version: 1,
    organization: model.organization,
    service,
    account,
    readAt: model.at === undefined ? undefined : new Date(model.at).toISOString(),
    gaps: model.gaps.map((gap) => ({ ...gap })),
    groups: byKey(model.groups.map(groupOf)),
    roles: byKey(model.roles.map(roleOf)),
  };
}

function groupOf({ key, group, members, roles, missing }: GroupEntry): ReviewGroup {
  const { tags, createdBy, modifiedTime, modifiedBy } = group.metadata;
  return {
    key,
    ...common(group.metadata),
    tags: tags.map(({ name, value }) => ({ name, value })),
    createdBy: createdBy ?? undefined,
    modifiedTime: modifiedTime ?? undefined,
    modifiedBy: modifiedBy ?? undefined,
    members: sorted(members.map(memberOf), memberKey),
    roles: roles.map((role) => role.key).sort(compare),
    missing: missing.length > 0 ? [...missing] : undefined,
  };
}

function roleOf({ key, id, role }: RoleEntry): ReviewRole {
  return role === undefined ? { listed: false, key, id } : { listed: true, key, ...common(role.metadata) };
}

function memberOf({ kind, id, email, issuer }: Principal): ReviewMember {
  return { kind, id, email, issuer };
}

function common({
  id,
  name,
  description,
  provisioningStatus,
  healthStatus,
  creationTime,
  deletionTime,
}: AccessMetadata) {
  return {
    id,
    name,
    description: description ?? undefined,
    provisioningStatus,
    healthStatus,
    creationTime,
    deletionTime: deletionTime ?? undefined,
  };
}

function byKey<T extends { readonly key: string }>(items: T[]): T[] {
  return sorted(items, ({ key }) => key);
}

/** By code units: the same everywhere, whatever the language of the machine. */
export function sorted<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items
    .map((item) => [key(item), item] as const)
    .sort(([one], [other]) => compare(one, other))
    .map(([, item]) => item);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
