import * as vscode from 'vscode';
import { Directory, type Loaded, type OrganizationAccess } from '../../core/identity/directory.ts';
import type { Cloud } from '../cloud.ts';
import { fenced } from '../fenced.ts';

/** Organizations that are told to the model; more would fill any context. */
const MAX_ORGANIZATIONS = 5;

/**
 * `/access`: the groups and roles of the user's organizations as part of a message. What could not be read is told as
 * such, so that its absence is not taken for emptiness.
 */
export async function accessContext(
  cloud: Cloud,
  organizations: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const directory = new Directory(cloud.identity, Date.now);
  signal.addEventListener('abort', () => directory.clear(), { once: true });
  const read = organizations.slice(0, MAX_ORGANIZATIONS).map((id) => directory.organization(id));
  const parts = (await Promise.all(read)).map(organizationText);
  const left = organizations.slice(MAX_ORGANIZATIONS);
  return [
    vscode.l10n.t('Who has access, as the identity service tells it now. Groups bind people to roles.'),
    ...parts,
    ...(left.length > 0 ? [vscode.l10n.t('Not read: {0}.', left.join(', '))] : []),
  ].join('\n\n');
}

function organizationText({ id, groups, roles }: OrganizationAccess): string {
  const told = {
    groups: listText(groups, ({ metadata, spec }) => ({
      id: metadata.id,
      name: metadata.name,
      roles: spec.roleIDs,
      users: spec.userIDs,
      serviceAccounts: spec.serviceAccountIDs,
      subjects: spec.subjects,
    })),
    roles: listText(roles, ({ metadata: { id, name, description } }) => ({ id, name, description })),
  };
  return fenced(vscode.l10n.t('Organization {0}', id), JSON.stringify(told, null, 1), 'json');
}

function listText<T>(loaded: Loaded<T>, one: (item: T) => object): object {
  if (loaded.kind === 'failed') return { notRead: loaded.error.message };
  const { items, malformed } = loaded.list;
  return malformed.length === 0 ? items.map(one) : { items: items.map(one), unreadable: malformed.length };
}
