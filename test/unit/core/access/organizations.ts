import fc from 'fast-check';
import type { AccessGroup, AccessInput, AccessRole } from '../../../../src/core/access/model.ts';
import { type AccessModel, buildModel } from '../../../../src/core/access/model.ts';

interface GroupOutline {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string | null;
  readonly tags?: Readonly<Record<string, string>>;
  readonly health?: string;
  readonly provisioning?: string;
  readonly created?: string;
  readonly createdBy?: string;
  readonly modifiedBy?: string | null;
  readonly deleted?: string | null;
  readonly subjects?: readonly { readonly id: string; readonly email?: string | null; readonly issuer: string }[];
  readonly users?: readonly string[];
  readonly accounts?: readonly string[];
  readonly roles?: readonly string[];
}

type RoleOutline = Pick<GroupOutline, 'name' | 'description' | 'health' | 'provisioning' | 'created' | 'deleted'>;

/** A group by hand; what is left out is as usual. */
export function group(id: string, outline: GroupOutline = {}): AccessGroup {
  const { tags = {}, createdBy, modifiedBy } = outline;
  return {
    metadata: {
      ...metadata(id, outline),
      tags: Object.entries(tags).map(([name, value]) => ({ name, value })),
      ...(createdBy !== undefined && { createdBy }),
      ...(modifiedBy !== undefined && { modifiedBy }),
    },
    spec: {
      subjects: outline.subjects ?? [],
      userIDs: outline.users ?? [],
      serviceAccountIDs: outline.accounts ?? [],
      roleIDs: outline.roles ?? [],
    },
  };
}

export function role(id: string, outline: RoleOutline = {}): AccessRole {
  return { metadata: metadata(id, outline) };
}

function metadata(id: string, outline: RoleOutline) {
  const { name = id, description, created = '2025-01-01T00:00:00Z', deleted } = outline;
  const { health = 'healthy', provisioning = 'provisioned' } = outline;
  return {
    id,
    name,
    creationTime: created,
    healthStatus: health,
    provisioningStatus: provisioning,
    ...(description !== undefined && { description }),
    ...(deleted !== undefined && { deletionTime: deleted }),
  };
}

export function input(
  groups: readonly AccessGroup[] | undefined,
  roles: readonly AccessRole[] | undefined,
): AccessInput {
  return {
    organization: 'acme',
    groups: { items: groups, malformed: 0, at: Date.UTC(2026, 2, 1, 12) },
    roles: { items: roles, malformed: 0, at: Date.UTC(2026, 2, 1, 13) },
  };
}

export function model(groups: readonly AccessGroup[], roles: readonly AccessRole[]): AccessModel {
  return buildModel(input(groups, roles));
}

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
/** Few ids, so that they meet, repeat and are missing. */
const roleId = oneOf('reader', 'operator', 'administrator', 'r#2', '__proto__', 'protected', 'gone');
const memberId = oneOf('ada', 'ben', 'cyd', 'ada\nben', 'constructor', '', 'user\nada');
const issuer = oneOf('https://one.example', 'https://two.example', '');
const words = oneOf('', 'Ops', 'data & more', '=1+1', '<b>|x|</b>', 'line\nbreak', '\u202Eevil', 'ünï');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const groupArbitrary: fc.Arbitrary<AccessGroup> = fc
  .record({
    id: oneOf('g1', 'g2', 'g3', 'g4', 'g5', 'g1#2'),
    outline: fc.record({
      name: words,
      description: fc.option(words),
      tags: fc.dictionary(oneOf('env', 'team', '='), words, { maxKeys: 2 }),
      health: oneOf('healthy', 'degraded', 'error', 'unknown', 'sleeping'),
      provisioning: oneOf('provisioned', 'error', 'deprovisioning'),
      created: oneOf('2025-01-01T00:00:00Z', '2024-05-05T10:00:00Z', 'yesterday'),
      createdBy: memberId,
      modifiedBy: fc.option(memberId),
      deleted: fc.option(oneOf('2026-01-01T00:00:00Z', '')),
      subjects: fc.array(
        fc
          .record({ id: memberId, email: optional(oneOf('ada@x', 'ben@x', '', null)), issuer })
          .map(({ email, ...subject }) => (email === undefined ? subject : { ...subject, email })),
        { maxLength: 4 },
      ),
      users: fc.array(memberId, { maxLength: 3 }),
      accounts: fc.array(memberId, { maxLength: 2 }),
      roles: fc.array(roleId, { maxLength: 4 }),
    }),
  })
  .map(({ id, outline }) => group(id, outline));

const roleArbitrary: fc.Arbitrary<AccessRole> = fc
  .record({
    id: oneOf('reader', 'operator', 'administrator', 'r#2', '__proto__', 'unused'),
    outline: fc.record({ name: words, description: fc.option(words), health: oneOf('healthy', 'degraded') }),
  })
  .map(({ id, outline }) => role(id, outline));

/** Organizations with repeated ids, empty texts, hostile names and grants of roles that are not listed. */
export const organizations = fc.record({
  groups: fc.array(groupArbitrary, { maxLength: 8 }),
  roles: fc.array(roleArbitrary, { maxLength: 6 }),
});
