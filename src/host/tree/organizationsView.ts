import * as vscode from 'vscode';
import { Directory } from '../../core/identity/directory.ts';
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
}

/** The sidebar's tree: organizations → groups and roles → members and roles granted. Loads on expansion. */
export class OrganizationsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #settings: Settings;
  readonly #changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Node>;
  readonly #subscription: vscode.Disposable;
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
    if (!stage) return [];
    const children = node ? await this.#childrenOf(stage, node) : await this.#roots(stage);
    return this.#stage === stage ? children : []; // Another account's data does not stay on screen.
  }

  /** Reads again: one organization, or everything that is shown. */
  refresh(node?: Node): void {
    const target = node?.kind === 'organization' ? node : undefined;
    this.#stage?.directory.forget(target?.organization);
    this.#changed.fire(target);
  }

  async #roots(stage: Stage): Promise<Node[]> {
    const organizations = await this.#organizations(stage.cloud);
    setContextKey(contextKeys.hasOrganizations, organizations.length > 0);
    const ids = new IdGiver(stage.cloud.key);
    return organizations.map((organization) => ({
      kind: 'organization',
      id: ids.next('organization', organization),
      organization,
    }));
  }

  /** The ids the user typed; the sandbox knows its own and lists them. */
  async #organizations(cloud: Cloud): Promise<readonly string[]> {
    if (cloud.connection.id !== 'sandbox') return this.#settings.organizations();
    const listed = await cloud.identity.organizations(AbortSignal.timeout(30_000));
    return listed?.map(({ id }) => id) ?? [];
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

  #read(stage: Stage, organization: string) {
    return stage.directory
      .organization(organization, (error) => {
        this.#view.message = vscode.l10n.t('{0} Trying again…', error.message);
      })
      .finally(() => {
        this.#view.message = '';
      });
  }

  #setStage(): void {
    const cloud = this.#clouds.active;
    const session = cloud?.keeper.session;
    const before = this.#stage;
    if (before && before.cloud === cloud && before.account === session?.account.id) {
      this.#changed.fire(undefined); // The settings may name other organizations; what was read stays.
      return;
    }
    before?.directory.forget();
    this.#stage =
      cloud && session
        ? { cloud, account: session.account.id, directory: new Directory(cloud.identity, Date.now) }
        : undefined;
    this.#view.description = this.#stage?.cloud.connection.id === 'sandbox' ? vscode.l10n.t('sandbox') : '';
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#stage?.directory.forget();
    this.#subscription.dispose();
    this.#view.dispose();
    this.#changed.dispose();
  }
}
