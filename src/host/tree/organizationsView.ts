import * as vscode from 'vscode';
import { asRolecallError, RolecallError } from '../../core/base/errors.ts';
import type { OrganizationName } from '../../core/identity/identityClient.ts';
import { contextKeys } from '../../ids.ts';
import type { AccessChange, AccessData, ReadOrganization, Stage } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import { setContextKey } from '../contextKeys.ts';
import { groupNodes, organizationChildren, roleNodes, type Shown, shownOf } from './children.ts';
import { findNode } from './find.ts';
import { type OrganizationFacts, treeItem } from './items.ts';
import { IdGiver, type Node, type NodeOf } from './nodes.ts';
import { groupChildren, heldChildren, roleChildren } from './parts.ts';
import { type EmptyBecause, summarize } from './summary.ts';
import type { ViewState } from './viewState.ts';

/** Where the contents are shown: VS Code's view, and what tells it to ask for a node, or for all of them, again. */
export interface TreeFrame {
  readonly view: vscode.TreeView<Node>;
  readonly changed: vscode.EventEmitter<Node | undefined>;
}

/** What the sidebar's tree shows: organizations → groups and roles → members and roles granted. Loads on expansion. */
export class OrganizationsView implements vscode.Disposable {
  readonly #data: AccessData;
  readonly #state: ViewState;
  readonly #now: () => number;
  readonly #changed: vscode.EventEmitter<Node | undefined>;
  readonly #view: vscode.TreeView<Node>;
  readonly #disposables: vscode.Disposable[];
  /** Which stage a node was read on: VS Code may still ask for what is below one that has left the screen. */
  readonly #owners = new WeakMap<Node, Stage>();
  readonly #parents = new WeakMap<Node, Node>();
  /** The nodes of the organizations by id: VS Code redraws only a node that it knows. */
  #roots = new Map<string, NodeOf<'organization'>>();
  /** What is shown of each organization, until something about it changes. */
  readonly #shown = new Map<string, Shown>();
  /** The facts with which the row of each organization was drawn. */
  readonly #drawn = new Map<string, string>();
  #emptyBecause: EmptyBecause | undefined;

  constructor(data: AccessData, state: ViewState, { view, changed }: TreeFrame, now: () => number) {
    this.#data = data;
    this.#state = state;
    this.#now = now;
    this.#view = view;
    this.#changed = changed;
    this.#disposables = [
      data.onDidChange((change) => this.#follow(change)),
      state.onDidChange((organization) => this.#redraw(organization)),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const factsOf = (organization: string) => this.#factsOf(organization);
    if (node.kind === 'organization') this.#drawn.set(node.organization, JSON.stringify(factsOf(node.organization)));
    return treeItem(node, this.#now(), factsOf);
  }

  getParent(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const { stage } = this.#data;
    if (!stage || (node && this.#owners.get(node) !== stage)) return [];
    const children = node ? await this.#childrenOf(stage, node) : await this.#rootsOf(stage);
    if (this.#data.stage !== stage) return []; // Another account's data does not stay on screen.
    for (const child of children) {
      this.#owners.set(child, stage);
      if (node) this.#parents.set(child, node);
    }
    return [...children];
  }

  /**
   * Shows an organization, a group or a role in the tree and selects it; a filter that hides it is taken away.
   *
   * @throws RolecallError `notFound`.
   */
  async reveal(target: AccessTarget): Promise<void> {
    const { stage } = this.#data;
    if (!stage || target.connection !== stage.cloud.key || target.kind === 'principal') return;
    if (target.kind !== 'organization') await this.#removeHidingFilter(stage, target.organization, target.key);
    const node = await findNode(target, (parent) => this.getChildren(parent));
    if (!node) {
      throw new RolecallError('notFound', vscode.l10n.t('It is not among what was read. Refresh and try again.'));
    }
    await this.#view.reveal(node, { select: true, focus: true, expand: true });
  }

  async #removeHidingFilter(stage: Stage, organization: string, key: string): Promise<void> {
    if (this.#state.filterOf(stage.cloud.key, organization) === '') return;
    const { left } = this.#shownOf(await this.#data.read(stage, organization));
    if (![...left.groups, ...left.roles].some((entry) => entry.key === key)) {
      await this.#state.setFilter(stage.cloud.key, organization, '');
    }
  }

  async #rootsOf(stage: Stage): Promise<readonly Node[]> {
    let organizations: readonly OrganizationName[];
    try {
      organizations = await this.#data.organizations(stage);
    } catch (error) {
      return [{ kind: 'problem', id: `${stage.cloud.key}/problem`, error: asRolecallError(error) }];
    }
    if (this.#data.stage !== stage) return [];
    setContextKey(contextKeys.hasOrganizations, organizations.length > 0);
    const ids = new IdGiver(stage.cloud.key);
    this.#roots = new Map(
      organizations.map((each) => [each.id, this.#rootOf(stage, each, ids.next('organization', each.id))]),
    );
    this.#tellView();
    return this.#emptyBecause === undefined ? [...this.#roots.values()] : [];
  }

  #rootOf(stage: Stage, { id: organization, name }: OrganizationName, id: string): NodeOf<'organization'> {
    const label = this.#data.labelOf(organization);
    const otherName = [organization, name].find((other) => other !== label) ?? '';
    const before = this.#roots.get(organization);
    if (before?.id === id && before.label === label && before.otherName === otherName) return before;
    const target: AccessTarget = { kind: 'organization', organization, connection: stage.cloud.key };
    return { kind: 'organization', id, organization, label, otherName, target };
  }

  async #childrenOf(stage: Stage, node: Node): Promise<readonly Node[]> {
    switch (node.kind) {
      case 'organization':
      case 'groups':
      case 'roles': {
        const read = await this.#data.read(stage, node.organization);
        if (this.#data.stage !== stage) return [];
        const shown = this.#shownOf(read);
        if (node.kind !== 'organization') return (node.kind === 'groups' ? groupNodes : roleNodes)(node, shown);
        this.#tellWhatWasRead(node);
        return organizationChildren(node, shown);
      }
      case 'group':
        return groupChildren(node);
      case 'role':
        return roleChildren(node);
      case 'part':
      case 'bucket':
      case 'unlisted':
      case 'favorites':
        return heldChildren(node);
      default:
        return [];
    }
  }

  #shownOf(read: ReadOrganization): Shown {
    const { organization } = read.model;
    const known = this.#shown.get(organization);
    const filter = this.#state.filterOf(read.stage.cloud.key, organization);
    const { order } = this.#state;
    if (known?.read.access === read.access && known.filter === filter && known.order === order) return known;
    const shown = shownOf(read, { filter, order, isFavorite: (target) => this.#state.isFavorite(target) });
    this.#shown.set(organization, shown);
    return shown;
  }

  #factsOf(organization: string): OrganizationFacts {
    const read = this.#data.last(organization);
    const lists = read ? [read.access.groups, read.access.roles] : [];
    return {
      readAt: read?.model.at,
      isStale: lists.some((list) => list.kind === 'loaded' && list.staleBecause !== undefined),
      filter: this.#state.filterOf(this.#data.stage?.cloud.key ?? '', organization),
    };
  }

  /** The age, the badge and the reason for an empty view are those of what was just read. */
  #tellWhatWasRead(node: NodeOf<'organization'>): void {
    const before = this.#emptyBecause;
    this.#tellView();
    if (before !== this.#emptyBecause) this.#changed.fire(undefined);
    else if (this.#drawn.get(node.organization) !== JSON.stringify(this.#factsOf(node.organization))) {
      this.#changed.fire(node);
    }
  }

  #tellView(): void {
    const { emptyBecause, message, badge } = summarize(this.#data, this.#state, [...this.#roots.keys()]);
    this.#emptyBecause = emptyBecause;
    this.#view.message = message;
    this.#view.badge = badge;
    this.#view.description = this.#data.stage?.cloud.connection.id === 'sandbox' ? vscode.l10n.t('sandbox') : '';
  }

  #follow(change: AccessChange): void {
    if (change.kind === 'stage') {
      this.#roots.clear();
      this.#drawn.clear();
    }
    this.#redraw(change.kind === 'organization' ? change.organization : undefined);
  }

  #redraw(organization: string | undefined): void {
    if (organization === undefined) this.#shown.clear();
    else this.#shown.delete(organization);
    const wasEmpty = this.#emptyBecause !== undefined;
    this.#tellView();
    const root = organization === undefined || wasEmpty ? undefined : this.#roots.get(organization);
    this.#changed.fire(root);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}
