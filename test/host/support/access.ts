import assert from 'node:assert/strict';
import { buildModel } from '../../../src/core/access/model.ts';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { accessListOf, type ListResult, type OrganizationAccess } from '../../../src/core/identity/directory.ts';
import { readGroups, readRoles } from '../../../src/core/identity/schemas.ts';
import type { ActiveSession, ReadOrganization } from '../../../src/host/accessData.ts';
import { contentsOf, type OrganizationContents, type ViewOptions } from '../../../src/host/tree/children.ts';

export const metadataOf = (id: string, more = {}) => ({
  id,
  name: id,
  creationTime: '2025-01-01T00:00:00Z',
  provisioningStatus: 'provisioned',
  healthStatus: 'healthy',
  ...more,
});

/** An organization as if it had been read: bodies of the service, or the error of a list. */
export function readOf(groups: unknown, roles: unknown, staleBecause?: RolecallError): ReadOrganization {
  const access: OrganizationAccess = {
    id: 'm',
    groups: loadedOf(readGroups, groups, staleBecause),
    roles: loadedOf(readRoles, roles, staleBecause),
  };
  const model = buildModel({
    organization: 'm',
    groups: accessListOf(access.groups),
    roles: accessListOf(access.roles),
  });
  return { session: { cloud: { key: 'c' } } as unknown as ActiveSession, access, model };
}

export function shown(groups: unknown, roles: unknown, wishes: Partial<ViewOptions> = {}): OrganizationContents {
  return contentsOf(readOf(groups, roles), { filter: '', order: 'service', isFavorite: () => false, ...wishes });
}

function loadedOf<L, T extends ListResult<unknown>>(
  read: (body: unknown) => L | undefined,
  body: unknown,
  staleBecause: RolecallError | undefined,
): T {
  if (body instanceof RolecallError) return { kind: 'failed', error: body } as T;
  const list = read(body) ?? assert.fail('not a list');
  return { kind: 'loaded', list, at: 0, ...(staleBecause && { staleBecause }) } as unknown as T;
}
