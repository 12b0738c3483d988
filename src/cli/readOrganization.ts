import type { KnownOrganization } from '../core/access/accessTools.ts';
import { type AccessModel, buildModel } from '../core/access/model.ts';
import { cancelled, RolecallError } from '../core/base/errors.ts';
import { Directory, listOf, wasCancelled } from '../core/identity/directory.ts';
import type { Services } from './services.ts';

/**
 * Both lists of an organization, joined.
 *
 * @throws RolecallError when neither could be read; where one could, the other is a gap of the model.
 */
export async function readOrganization(
  { identity }: Pick<Services, 'identity'>,
  organization: string,
  onRetry: (message: string) => void,
  signal: AbortSignal,
): Promise<AccessModel> {
  const directory = new Directory(identity, Date.now);
  const stop = () => directory.stop(organization);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const access = await directory.organization(organization, ({ message }) => onRetry(`${message} Trying again…`));
    const { groups, roles } = access;
    if (signal.aborted || wasCancelled(access)) throw cancelled(signal.reason);
    if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
    return buildModel({ organization, groups: listOf(groups), roles: listOf(roles) });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The one organization that a command is about. @throws RolecallError `configuration` where there are several. */
export function onlyOrganization(organizations: readonly KnownOrganization[]): string {
  const [first, ...others] = organizations;
  if (!first) throw noOrganization();
  if (others.length === 0) return first.id;
  const known = organizations.map(({ id }) => id).join(', ');
  throw new RolecallError('configuration', `Choose one organization with --organization: ${known}.`);
}

export function noOrganization(): RolecallError {
  return new RolecallError('configuration', 'There is no organization to read. Name one with --organization.');
}
