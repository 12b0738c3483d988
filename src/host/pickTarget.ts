import * as vscode from 'vscode';
import { kindName } from '../core/access/descriptions.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../core/access/model.ts';
import { findGroups, findPrincipals, findRoles, groupName, principalName, roleName } from '../core/access/queries.ts';
import { cancelled, RolecallError } from '../core/base/errors.ts';
import type { AccessData, ReadOrganization } from './accessData.ts';
import { type AccessTarget, targetOf } from './accessTarget.ts';
import { createQuickPick, showQuickPick } from './dialogs.ts';

/** The longest list that is shown whole; longer ones show only matches of the typed text. */
const MAX_ITEMS = 1000;

/**
 * The organization of a command: that of whatever it was called on, the only one, or one that the user picks.
 *
 * @throws RolecallError `cancelled`, or why there is none.
 */
export async function pickOrganization(data: AccessData, argument: unknown): Promise<string> {
  const session = data.requireSession();
  const target = targetOf(argument);
  if (target) {
    if (target.connection === session.cloud.key) return target.organization;
    throw new RolecallError('invalidRequest', vscode.l10n.t('This belongs to another account. Refresh and try again.'));
  }
  const organizations = await data.organizations(session);
  const [only] = organizations;
  if (!only) throw new RolecallError('invalidRequest', vscode.l10n.t('Add an organization first.'));
  if (organizations.length === 1) return only.id;
  const items = organizations.map(({ id, name }) => {
    const own = data.labelOf(id);
    const label = own === id ? name : own;
    return { label, description: label === id ? '' : id, id };
  });
  const picked = await showQuickPick(items, { placeHolder: vscode.l10n.t('Which organization?') });
  if (!picked) throw cancelled();
  return picked.id;
}

/**
 * The same, with its data.
 *
 * @throws RolecallError `cancelled` when the reading was stopped, or why neither list could be read.
 */
export async function readPicked(data: AccessData, argument: unknown): Promise<ReadOrganization> {
  return readOrganization(data, await pickOrganization(data, argument));
}

/**
 * Reads an organization again: its data may be old.
 *
 * @throws RolecallError as {@link readPicked}.
 */
export async function readAgain(data: AccessData, organization: string): Promise<ReadOrganization> {
  data.refresh(organization);
  return readOrganization(data, organization);
}

async function readOrganization(data: AccessData, organization: string): Promise<ReadOrganization> {
  const read = await data.read(data.requireSession(), organization);
  if (data.session !== read.session) throw cancelled(); // Another account's data must not be used.
  const { groups, roles } = read.access;
  if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
  return read;
}

/** @throws RolecallError `cancelled`, or that there is none. */
export async function pickRole(model: AccessModel): Promise<RoleEntry> {
  return pick(
    model.roles,
    (text) => findRoles(model, text),
    vscode.l10n.t('Which role?'),
    (entry) => ({
      label: roleName(entry),
      description: entry.role ? entry.id : vscode.l10n.t('not listed'),
    }),
  );
}

export async function pickPrincipal(model: AccessModel): Promise<Principal> {
  return pick(
    model.principals,
    (text) => findPrincipals(model, text),
    vscode.l10n.t('Which person or service account?'),
    (principal) => ({
      label: principalName(principal),
      description: [kindName(principal.kind), principal.email && principal.id, principal.issuer]
        .filter(Boolean)
        .join(' · '),
    }),
  );
}

/** A group or a role. */
export async function pickGroupOrRole(model: AccessModel): Promise<GroupEntry | RoleEntry> {
  const find = (text: string) => [...findGroups(model, text), ...findRoles(model, text)];
  return pick<GroupEntry | RoleEntry>(
    [...model.groups, ...model.roles],
    find,
    vscode.l10n.t('Which group or role?'),
    (entry) =>
      'group' in entry
        ? { label: groupName(entry), description: vscode.l10n.t('group · {0}', entry.group.metadata.id) }
        : { label: roleName(entry), description: vscode.l10n.t('role · {0}', entry.id) },
  );
}

/** The name of an entry of an organization. */
export function targetOfEntry(
  { session, model }: ReadOrganization,
  entry: GroupEntry | RoleEntry | Principal,
): AccessTarget {
  const { key } = entry;
  const kind = 'group' in entry ? 'group' : 'role' in entry ? 'role' : 'principal';
  return { kind, key, organization: model.organization, connection: session.cloud.key };
}

type Item<T> = vscode.QuickPickItem & { readonly value: T };

async function pick<T>(
  all: readonly T[],
  find: (text: string) => readonly T[],
  placeHolder: string,
  show: (value: T) => { label: string; description: string },
): Promise<T> {
  if (all.length === 0) throw new RolecallError('invalidRequest', vscode.l10n.t('There is nothing to choose from.'));
  const toItem = (value: T): Item<T> => ({ ...show(value), value });
  if (all.length <= MAX_ITEMS) {
    const options = { placeHolder, matchOnDescription: true };
    const picked = await showQuickPick(all.map(toItem), options);
    if (!picked) throw cancelled();
    return picked.value;
  }
  return pickNarrowed(all, find, placeHolder, toItem);
}

/** A list that shows the first matches of the typed text. */
function pickNarrowed<T>(
  all: readonly T[],
  find: (text: string) => readonly T[],
  placeHolder: string,
  toItem: (value: T) => Item<T>,
): Promise<T> {
  const quickPick = createQuickPick<Item<T>>();
  const fill = (text: string) => {
    const values = text.trim() === '' ? all : find(text);
    // An entry that was found by its ID stays in the list, whatever its label is.
    quickPick.items = values.slice(0, MAX_ITEMS).map((value) => ({ ...toItem(value), alwaysShow: true }));
  };
  quickPick.placeholder = placeHolder;
  fill('');
  quickPick.onDidChangeValue(fill);
  return new Promise<T>((resolve, reject) => {
    quickPick.onDidAccept(() => {
      const [picked] = quickPick.selectedItems;
      if (!picked) return;
      resolve(picked.value);
      quickPick.hide();
    });
    quickPick.onDidHide(() => {
      reject(cancelled()); // After a choice this changes nothing.
      quickPick.dispose();
    });
    quickPick.show();
  });
}
