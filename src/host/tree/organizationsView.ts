import * as vscode from 'vscode';
import { asRolecallError, isCancelled, RolecallError } from '../../core/base/errors.ts';
import { Directory, type Loaded, type OrganizationAccess } from '../../core/identity/directory.ts';
import { contextKeys, views } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { setContextKey } from '../contextKeys.ts';
import type { Settings } from '../settings.ts';
import { groupChildren, groupNodes, organizationChildren, roleChildren, roleNodes } from './children.ts';
import { treeItem } from './items.ts';
import { IdGiver, type Node } from './nodes.ts';

/** What is shown belongs to one session: another account, another stage. */
interface Stage {
  readonly cloud: Cloud;
  readonly account: string;
  readonly directory: Directory;
  /** What the sandbox lists, asked once until it is refreshed. */
  listed: Promise<readonly string[]> | undefined;
}

/** The sidebar's tree: organizations → groups and roles → members and roles granted. Loads on expansion. */
export class OrganizationsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #settings: Settings;
  readonly #changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Node>;
  readonly #subscription: vscode.Disposable;
  /** Which stage a node was read on: VS Code may still ask for what is below one that has left the screen. */
  readonly #owners = new WeakMap<Node, Stage>();
  #stage: Stage | undefined;

  constructor(clouds: Clouds, settings: Settings) {
    this.#clouds = clouds;
    this.#settings = settings;
    this.#view = vscode.window.createTreeView(views.organizations, { treeDataProvider: this, showCollapseAll: true });
    this.#subscription = clouds.onDidChange(() => this.#setStage());
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return treeItem(node);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const stage = this.#stage;
    if (!stage || (node && this.#owners.get(node) !== stage)) return [];
    const children = node ? await this.#childrenOf(stage, node) : await this.#roots(stage);
    if (this.#stage !== stage) return []; // Another account's data does not stay on screen.
    for (const child of children) this.#owners.set(child, stage);
    return children;
  }

  /** Reads again: one organization, or everything that is shown. */
  refresh(node?: Node): void {
    const target = node?.kind === 'organization' ? node : undefined;
    this.#stage?.directory.refresh(target?.organization);
    if (this.#stage && !target) this.#stage.listed = undefined;
    this.#changed.fire(target);
  }

  async #roots(stage: Stage): Promise<Node[]> {
    let organizations: readonly string[];
    try {
      organizations = await this.#organizations(stage);
    } catch (error) {
      return [{ kind: 'problem', id: `${stage.cloud.key}/problem`, error: asRolecallError(error) }];
    }
    setContextKey(contextKeys.hasOrganizations, organizations.length > 0);
    const ids = new IdGiver(stage.cloud.key);
    return organizations.map((organization) => ({
      kind: 'organization',
      id: ids.next('organization', organization),
      organization,
    }));
  }

  /** The ids the user typed; the sandbox knows its own and lists them. */
  async #organizations(stage: Stage): Promise<readonly string[]> {
    if (stage.cloud.connection.id !== 'sandbox') return this.#settings.organizations();
    stage.listed ??= listOrganizations(stage.cloud);
    return stage.listed;
  }

  async #childrenOf(stage: Stage, node: Node): Promise<Node[]> {
    switch (node.kind) {
      case 'organization':
        return organizationChildren(node, await this.#read(stage, node.organization));
      case 'groups':
        return groupNodes(node, await this.#read(stage, node.organization));
      case 'roles':
        return roleNodes(node, await this.#read(stage, node.organization));
      case 'group':
        return groupChildren(node);
      case 'role':
        return roleChildren(node);
      default:
        return [];
    }
  }

  async #read(stage: Stage, organization: string): Promise<OrganizationAccess> {
    const access = await stage.directory
      .organization(organization, (error) => {
        this.#view.message = vscode.l10n.t('{0} Trying again…', error.message);
      })
      .finally(() => {
        this.#view.message = '';
      });
    // Refreshed while it was read: what is read now counts.
    const again = this.#stage === stage && (wasForgotten(access.groups) || wasForgotten(access.roles));
    return again ? this.#read(stage, organization) : access;
  }

  #setStage(): void {
    const cloud = this.#clouds.active;
    const session = cloud?.keeper.session;
    const before = this.#stage;
    if (before && before.cloud === cloud && before.account === session?.account.id) {
      this.#changed.fire(undefined); // The settings may name other organizations; what was read stays.
      return;
    }
    before?.directory.clear();
    this.#stage =
      cloud && session
        ? { cloud, account: session.account.id, directory: new Directory(cloud.identity, Date.now), listed: undefined }
        : undefined;
    this.#view.description = this.#stage?.cloud.connection.id === 'sandbox' ? vscode.l10n.t('sandbox') : '';
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#stage?.directory.clear();
    this.#subscription.dispose();
    this.#view.dispose();
    this.#changed.dispose();
  }
}

function wasForgotten(loaded: Loaded<unknown>): boolean {
  return loaded.kind === 'failed' && isCancelled(loaded.error);
}

/** @throws RolecallError `server` when the list does not come: an error never looks like an empty list. */
async function listOrganizations({ identity }: Cloud): Promise<readonly string[]> {
  const listed = await identity.organizations(AbortSignal.timeout(30_000)).catch(() => undefined);
  if (listed) return listed.map(({ id }) => id);
  throw new RolecallError(
    'server',
    vscode.l10n.t('The sandbox did not say which organizations it has. Refresh to ask again.'),
  );
}
