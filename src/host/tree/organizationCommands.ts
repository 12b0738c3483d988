import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { pathSegment } from '../../core/identity/identityClient.ts';
import { commands } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { showInputBox, showQuickPick } from '../dialogs.ts';
import { pickOrganization } from '../pickTarget.ts';
import type { Settings } from '../settings.ts';

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
        return vscode.l10n.t('Enter the ID of an organization. It cannot be empty, “.” or “..”.');
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
