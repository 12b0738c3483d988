import * as vscode from 'vscode';
import { asRolecallError, RolecallError } from '../../core/base/errors.ts';
import type { OrganizationName } from '../../core/identity/identityClient.ts';
import { contextKeys, views } from '../../ids.ts';
import type { AccessChange, AccessData, ReadOrganization, Stage } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import { setContextKey } from '../contextKeys.ts';
import { withProgress } from '../dialogs.ts';
import { groupNodes, organizationChildren, roleNodes, type Shown, shownOf } from './children.ts';
import { findNode } from './find.ts';
import { type OrganizationFacts, treeItem } from './items.ts';
import { IdGiver, type Node, type NodeOf } from './nodes.ts';
import { groupChildren, heldChildren, roleChildren } from './parts.ts';
import { summarize } from './summary.ts';
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
  /** Whether the organizations are shown, and not why there is no list of them. */
  #hasList = false;
  /** What is shown of each organization, until something about it changes. */
  readonly #shown = new Map<string, Shown>();
  /** The organizations whose children VS Code has, and whether they are unfolded. */
  readonly #unfolded = new Map<string, boolean>();

  constructor(data: AccessData, state: ViewState, { view, changed }: TreeFrame, now: () => number) {
    this.#data = data;
    this.#state = state;
    this.#now = now;
    this.#view = view;
    this.#changed = changed;
    this.#disposables = [
      data.onDidChange((change) => this.#follow(change)),
      state.onDidChange((organization) => {
        for (const id of organization === undefined ? [...this.#roots.keys()] : [organization]) this.#redraw(id);
      }),
      view.onDidCollapseElement(({ element }) => {
        if (element.kind === 'organization') this.#unfolded.set(element.organization, false);
      }),
      view.onDidExpandElement(({ element }) => {
        if (element.kind === 'organization') this.#unfolded.set(element.organization, true);
      }),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return treeItem(node, this.#now(), (organization) => this.#factsOf(organization));
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
   * Shows an organization, a group or a role in the tree and selects it; a filter that hides it is taken away. The focus
   * goes there, or stays where it is.
   *
   * @throws RolecallError `notFound`.
   */
  async reveal(target: AccessTarget, focus: boolean): Promise<void> {
    const { stage } = this.#data;
    if (!stage || target.connection !== stage.cloud.key || target.kind === 'principal') return;
    if (target.kind !== 'organization') await this.#removeHidingFilter(stage, target.organization, target.key);
    const node = await findNode(target, (parent) => this.getChildren(parent));
    if (!node) {
      throw new RolecallError(
        'notFound',
        vscode.l10n.t('This is no longer in the loaded data. Refresh and try again.'),
      );
    }
    await this.#view.reveal(node, { select: true, focus, expand: true });
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
      this.#roots.clear();
      this.#hasList = false;
      return [{ kind: 'problem', id: `${stage.cloud.key}/problem`, error: asRolecallError(error) }];
    }
    if (this.#data.stage !== stage) return [];
    this.#hasList = true;
    const ids = new IdGiver(stage.cloud.key);
    this.#roots = new Map(
      organizations.map((each) => [each.id, this.#rootOf(stage, each, ids.next('organization', each.id))]),
    );
    this.#tellView();
    return [...this.#roots.values()];
  }

  #rootOf(stage: Stage, { id: organization, name }: OrganizationName, id: string): NodeOf<'organization'> {
    const label = this.#data.labelOf(organization);
    const otherName = otherNameOf(organization, name, label);
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
        this.#unfolded.set(node.organization, true); // VS Code asks for what it is about to show.
        setContextKey(contextKeys.hasBrowsed, true);
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

  #tellView(): void {
    const { message, badge } = summarize(this.#data, this.#state, [...this.#roots.keys()]);
    this.#view.message = message;
    this.#view.badge = badge;
  }

  #follow(change: AccessChange): void {
    switch (change.kind) {
      case 'stage':
        this.#roots.clear();
        this.#shown.clear();
        this.#unfolded.clear();
        this.#tellView();
        this.#changed.fire(undefined);
        break;
      case 'organizations':
        void this.#followList(); // Never rejects.
        break;
      case 'due':
        for (const id of change.organization === undefined ? [...this.#roots.keys()] : [change.organization]) {
          this.#readAgain(id);
        }
        break;
      case 'read':
        this.#redraw(change.organization);
    }
  }

  /** Draws the organizations again if they are others, have other labels, or are not known any more. */
  async #followList(): Promise<void> {
    const { stage } = this.#data;
    if (!stage) return;
    const shown = [...this.#roots.values()];
    const listed = await this.#data.organizations(stage).catch(() => undefined);
    if (this.#data.stage !== stage) return;
    const isSame = listed?.length === shown.length && listed.every((each, at) => this.#isDrawn(each, shown[at]));
    if (!isSame || !this.#hasList) this.#changed.fire(undefined);
  }

  #isDrawn({ id, name }: OrganizationName, root: NodeOf<'organization'> | undefined): boolean {
    const label = this.#data.labelOf(id);
    return root?.organization === id && root.label === label && root.otherName === otherNameOf(id, name, label);
  }

  /** What is on the screen is drawn again once it has been read; of the rest VS Code forgets what it has. */
  #readAgain(organization: string): void {
    const { stage } = this.#data;
    const isUnfolded = this.#unfolded.get(organization);
    if (!stage || isUnfolded === undefined) return;
    if (isUnfolded && this.#view.visible) {
      const reading = this.#data.read(stage, organization);
      void withProgress({ location: { viewId: views.organizations } }, () => reading);
      return;
    }
    this.#unfolded.delete(organization);
    this.#redraw(organization);
  }

  #redraw(organization: string): void {
    this.#shown.delete(organization);
    this.#tellView();
    const root = this.#roots.get(organization);
    if (root) this.#changed.fire(root);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

/** How the service calls an organization, where its label is not that. */
function otherNameOf(organization: string, name: string, label: string): string {
  return [organization, name].find((other) => other !== label) ?? '';
}
