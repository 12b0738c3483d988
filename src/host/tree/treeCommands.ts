import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { pathSegment } from '../../core/identity/identityClient.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommand } from '../commands.ts';
import type { Settings } from '../settings.ts';
import type { Node } from './nodes.ts';
import type { OrganizationsView } from './organizationsView.ts';

export interface TreeCommandsDeps {
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly view: OrganizationsView;
  readonly log: Log;
}

/** Refresh, Add Organization, Copy ID. */
export function registerTreeCommands({ clouds, settings, view, log }: TreeCommandsDeps): vscode.Disposable {
  return vscode.Disposable.from(
    registerCommand(commands.refresh, log, async (node) => {
      const { active } = clouds;
      // The keyring may be unlocked by now: the button of the view that says so.
      if (active?.keeper.state.kind === 'storeUnavailable') {
        await active.keeper.accessToken(AbortSignal.timeout(10_000)); // Reads or stores again, or says why not.
      }
      view.refresh(node as Node | undefined);
    }),
    registerCommand(commands.addOrganization, log, async () => {
      if (clouds.sandbox) {
        throw new RolecallError('invalidRequest', vscode.l10n.t('The sandbox brings its own organizations.'));
      }
      await settings.addOrganization(await askOrganization(clouds));
    }),
    registerCommand(commands.copyId, log, async (node) => {
      const id = node === undefined ? undefined : idOf(node as Node);
      if (id !== undefined) await vscode.env.clipboard.writeText(id);
    }),
  );
}

/** Offers the organizations the service lists, and always takes an id that is typed. */
async function askOrganization(clouds: Clouds): Promise<string> {
  const cloud = clouds.require();
  const listed = cloud.keeper.session ? await listOrganizations(cloud) : undefined;
  const typeIt = { label: vscode.l10n.t('$(edit) Type an id…'), description: '' };
  if (listed && listed.length > 0) {
    const picked = await vscode.window.showQuickPick(
      [...listed.map(({ id, name }) => ({ label: id, description: name === id ? '' : name })), typeIt],
      {
        title: vscode.l10n.t('Add Organization'),
        placeHolder: vscode.l10n.t('Organizations the service lists for you'),
      },
    );
    if (!picked) throw cancelled();
    if (picked !== typeIt) return picked.label;
  }
  const typed = await vscode.window.showInputBox({
    title: vscode.l10n.t('Add Organization'),
    prompt: vscode.l10n.t('Id of the organization'),
    validateInput: (value) => {
      try {
        pathSegment(value.trim());
        return undefined;
      } catch {
        return vscode.l10n.t('Type the id of an organization. It cannot be empty, “.” or “..”.');
      }
    },
  });
  if (typed === undefined) throw cancelled();
  return typed.trim();
}

/** A convenience: where it takes too long, the id is typed. */
async function listOrganizations({ identity }: Cloud) {
  try {
    return await identity.organizations(AbortSignal.timeout(10_000));
  } catch {
    return undefined;
  }
}

function idOf(node: Node): string | undefined {
  switch (node.kind) {
    case 'organization':
      return node.organization;
    case 'group':
    case 'grantedBy':
      return node.group.metadata.id;
    case 'role':
      return node.role.metadata.id;
    case 'grant':
      return node.roleId;
    case 'subject':
      return node.subject.id;
    case 'user':
    case 'serviceAccount':
      return node.memberId;
    default:
      return undefined;
  }
}
