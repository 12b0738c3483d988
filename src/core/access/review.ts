import * as z from 'zod/mini';
import { compareText } from '../base/text.ts';
import type { AccessMetadata, AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';

const text = z.string();
const optionalText = z.optional(z.string());
const moment = z.optional(z.string());

const memberSchema = z.object({
  kind: z.enum(['subject', 'user', 'serviceAccount']),
  id: text,
  email: optionalText,
  issuer: optionalText,
});

const commonFields = {
  /** The id; of a second one with that id `id#2`. */
  key: text,
  id: text,
  name: text,
  description: optionalText,
  provisioningStatus: text,
  healthStatus: text,
  creationTime: text,
  deletionTime: optionalText,
};

const groupSchema = z.object({
  ...commonFields,
  tags: z.array(z.object({ name: text, value: text })),
  createdBy: optionalText,
  modifiedTime: optionalText,
  modifiedBy: optionalText,
  members: z.array(memberSchema),
  /** Keys of {@link Review.roles}. */
  roles: z.array(text),
  /** The lists that the service did not send: unknown, which is not the same as none. */
  missing: z.optional(z.array(z.enum(['roles', 'serviceAccounts']))),
});

const roleSchema = z.union([
  z.object({ listed: z.literal(true), ...commonFields }),
  /** A role that groups grant and the service does not list. */
  z.object({ listed: z.literal(false), key: text, id: text }),
]);

const gapSchema = z.object({
  list: z.enum(['groups', 'roles']),
  kind: z.enum(['unread', 'malformed', 'missing', 'stale']),
  count: z.number(),
  reason: text,
});

/**
 * An access review as it is exported, stored and compared. Everything is sorted by key, so that equal access is equal
 * text.
 */
const reviewSchema = z.object({
  format: z.literal('rolecall.review'),
  version: z.literal(1),
  organization: text,
  /** The name of the identity service, for example its host name. */
  service: text,
  /** The account that it was read with. */
  account: text,
  /** RFC 3339; of the list that was read first. */
  readAt: moment,
  /** Empty when the review holds everything the service sent. */
  gaps: z.array(gapSchema),
  groups: z.array(groupSchema),
  roles: z.array(roleSchema),
});

export type Review = z.output<typeof reviewSchema>;
export type ReviewGroup = z.output<typeof groupSchema>;
export type ReviewRole = z.output<typeof roleSchema>;
export type ReviewMember = z.output<typeof memberSchema>;

/** @returns `undefined` for a text that is no review, or one of a later version. */
export function readReview(json: string): Review | undefined {
  try {
    const result = z.safeParse(reviewSchema, JSON.parse(json));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

export function writeReview(review: Review): string {
  return `${JSON.stringify(review, null, 2)}\n`;
}

/** Unique among the members of a group. */
export function memberKey({ kind, id, email, issuer }: ReviewMember): string {
  return JSON.stringify([kind, id, issuer ?? '', email ?? '']);
}

/** The account and the service that a review was read with; shown at its top. */
export interface ReviewOrigin {
  readonly service: string;
  readonly account: string;
}

/** The model as a document that can be stored, compared and exported, with the model's gaps. */
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
    members: sortedBy(members.map(memberOf), memberKey),
    roles: roles.map((role) => role.key).sort(compareText),
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
  return sortedBy(items, ({ key }) => key);
}

/** By code units: the same on every machine, whatever its language. */
export function sortedBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items
    .map((item) => [key(item), item] as const)
    .sort(([one], [other]) => compareText(one, other))
    .map(([, item]) => item);
}
