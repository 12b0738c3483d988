import * as vscode from 'vscode';
import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import { withTimeout } from '../../core/base/abort.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { OrganizationAccess } from '../../core/identity/directory.ts';
import { pathSegment } from '../../core/identity/identityClient.ts';
import { rawOf } from '../../core/identity/schemas.ts';
import { chatCommands, commands } from '../../ids.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { type AccessTarget, noLongerLoaded, targetOf } from '../accessTarget.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { showInputBox, showQuickPick } from '../dialogs.ts';
import { pickGroupOrRole, pickOrganization, readPicked, targetOfEntry } from '../pickTarget.ts';
import type { Settings } from '../settings.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import { idOfNode, type Node, type NodeOf, nameOfNode } from './nodes.ts';
import type { OrganizationsTree } from './organizationsTree.ts';

export interface TreeCommandsDeps {
  readonly clouds: Clouds;
  readonly data: AccessData;
  readonly view: Pick<OrganizationsTree, 'reveal'>;
  readonly documents: VirtualDocuments;
}

/** Refresh, Copy ID, Copy Name, Open as JSON, Go to Group or Role and Ask @rolecall About This. */
export function treeCommands({ clouds, data, view, documents }: TreeCommandsDeps) {
  /** The node that the command was called on, else one that the user picks. */
  const pick = async (node: unknown): Promise<readonly [AccessTarget, ReadOrganization]> => {
    const read = await readPicked(data, node);
    return [targetOf(node) ?? targetOfEntry(read, await pickGroupOrRole(read.model)), read];
  };
  const copy = async (node: unknown, ofNode: (node: Node) => string | undefined, ofTarget: typeof idOf) => {
    const text = isNode(node) ? ofNode(node) : ofTarget(...(await pick(node)));
    if (text) await vscode.env.clipboard.writeText(text);
  };
  return {
    [commands.refresh]: async (node) => {
      const { active } = clouds;
      active?.tokenManager.retryNow();
      // The keyring may be unlocked by now; this is also the button of the view that asks for it.
      if (active?.tokenManager.state.kind === 'storeUnavailable') {
        // Reads or stores again, or reports why not.
        const token = active.tokenManager.accessToken(new AbortController().signal);
        if ((await withTimeout(token, 10_000)) === undefined) {
          throw new RolecallError('timeout', vscode.l10n.t('The system keyring did not respond.'));
        }
      }
      data.refresh(targetOf(node)?.organization);
    },
    [commands.copyId]: (node) => copy(node, idOfNode, idOf),
    [commands.copyName]: (node) => copy(node, nameOfNode, nameOf),
    [commands.openAsJson]: async (node) => {
      if (isMalformed(node)) {
        const read = data.last(node.organization);
        return read && documents.show(read, `${node.what}-${node.item.index}.json`, json(node.item.raw));
      }
      const [target, read] = await pick(node);
      return documents.show(read, `${nameOf(target, read)}.json`, json(rawOfTarget(target, read)));
    },
    [commands.reveal]: async (node) => view.reveal((await pick(node))[0]),
    [commands.askAboutThis]: async (node) => {
      const [target, read] = await pick(node);
      await vscode.commands.executeCommand(
        commands.openChat,
        `/${chatCommands.access} ${questionAbout(target, nameOf(target, read))}`,
      );
    },
  } satisfies Partial<Handlers>;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'kind' in value && 'id' in value;
}

function isMalformed(value: unknown): value is NodeOf<'malformed'> {
  return isNode(value) && value.kind === 'malformed';
}

function idOf(target: AccessTarget, { model }: ReadOrganization): string | undefined {
  switch (target.kind) {
    case 'organization':
      return target.organization;
    case 'group':
      return model.group(target.key)?.group.metadata.id;
    case 'role':
      return model.role(target.key)?.id;
    case 'principal':
      return model.principal(target.key)?.id;
  }
}

/** @throws RolecallError `notFound` when it is no longer in the loaded data. */
function nameOf(target: AccessTarget, { model }: ReadOrganization): string {
  if (target.kind === 'organization') return target.organization;
  const group = target.kind === 'group' && model.group(target.key);
  if (group) return groupName(group);
  const role = target.kind === 'role' && model.role(target.key);
  if (role) return roleName(role);
  const principal = target.kind === 'principal' && model.principal(target.key);
  if (principal) return principalName(principal);
  throw noLongerLoaded();
}

/** The service's data, unknown members included. */
function rawOfTarget(target: AccessTarget, { model, access }: ReadOrganization): unknown {
  switch (target.kind) {
    case 'organization':
      return rawLists(access);
    case 'group': {
      const entry = model.group(target.key);
      return entry && rawOf(entry.group);
    }
    case 'role': {
      const entry = model.role(target.key);
      return entry?.role ? rawOf(entry.role) : { id: entry?.id, listed: false };
    }
    case 'principal': {
      const principal = model.principal(target.key);
      if (!principal) throw noLongerLoaded();
      const { kind, id, email, issuer, groups } = principal;
      return { kind, id, email, issuer, groups: groups.map(({ group }) => group.metadata.id) };
    }
  }
}

function rawLists({ groups, roles }: OrganizationAccess) {
  return {
    groups: groups.kind === 'loaded' ? groups.list.items.map(rawOf) : undefined,
    roles: roles.kind === 'loaded' ? roles.list.items.map(rawOf) : undefined,
  };
}

/** Worded so that a model recognizes the tools it needs and their arguments. */
function questionAbout(target: AccessTarget, name: string): string {
  const organization = JSON.stringify(target.organization);
  const quoted = JSON.stringify(name);
  switch (target.kind) {
    case 'organization':
      return vscode.l10n.t('Which groups need attention, and why? Organization: {0}', organization);
    case 'group':
      return vscode.l10n.t(
        'Who is in the group {0}, and which roles does it give them? Organization: {1}',
        quoted,
        organization,
      );
    case 'role':
      return vscode.l10n.t('Who has the role {0}, and through which groups? Organization: {1}', quoted, organization);
    case 'principal':
      return vscode.l10n.t('What is the effective access of {0}? Organization: {1}', quoted, organization);
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export interface OrganizationCommandsDeps {
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly data: AccessData;
}

/** Add and Remove Organization, and Set Label. */
export function organizationCommands({ clouds, settings, data }: OrganizationCommandsDeps) {
  const refuseInSandbox = () => {
    if (!clouds.sandbox) return;
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('The sandbox has its own organizations, which cannot be changed.'),
    );
  };
  return {
    [commands.addOrganization]: async () => {
      refuseInSandbox();
      await settings.addOrganization(await askOrganization(clouds, settings.organizations()));
    },
    [commands.removeOrganization]: async (node) => {
      refuseInSandbox();
      await settings.removeOrganization(await pickOrganization(data, node));
    },
    [commands.renameOrganization]: async (node) => {
      const organization = await pickOrganization(data, node);
      const before = data.labelOf(organization);
      const label = await showInputBox({
        title: vscode.l10n.t('Label for {0}', organization),
        prompt: vscode.l10n.t('Shown only to you. Leave empty to use the ID.'),
        value: before === organization ? '' : before,
      });
      if (label !== undefined) await data.setLabel(organization, label);
    },
  } satisfies Partial<Handlers>;
}

/** Offers the organizations that the service lists and that are not shown yet, and always accepts a typed ID. */
async function askOrganization(clouds: Clouds, shown: readonly string[]): Promise<string> {
  const cloud = clouds.require();
  const all = cloud.tokenManager.session ? await listOrganizations(cloud) : undefined;
  const listed = all?.filter(({ id }) => !shown.includes(id));
  const typeIt = { label: vscode.l10n.t('Enter an ID…'), description: '', iconPath: new vscode.ThemeIcon('edit') };
  if (listed && listed.length > 0) {
    const picked = await showQuickPick(
      [...listed.map(({ id, name }) => ({ label: id, description: name === id ? '' : name })), typeIt],
      {
        title: vscode.l10n.t('Add Organization'),
        placeHolder: vscode.l10n.t('Organizations that the service lists for you'),
      },
    );
    if (!picked) throw cancelled();
    if (picked !== typeIt) return picked.label;
  }
  const typed = await showInputBox({
    title: vscode.l10n.t('Add Organization'),
    prompt: vscode.l10n.t('ID of the organization'),
    validateInput: (value) => {
      try {
        pathSegment(value.trim());
        return undefined;
      } catch {
        return vscode.l10n.t('Enter the ID of an organization. It cannot be empty, "." or "..".');
      }
    },
  });
  if (typed === undefined) throw cancelled();
  return typed.trim();
}

/** A convenience: where it takes too long or fails, the user types the ID. */
async function listOrganizations({ identity }: Cloud) {
  try {
    return await identity.organizations(AbortSignal.timeout(10_000));
  } catch {
    return undefined;
  }
}
