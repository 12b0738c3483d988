import * as vscode from 'vscode';
import { asRolecallError } from '../../core/base/errors.ts';
import type { OrganizationName } from '../../core/identity/identityClient.ts';
import { contextKeys, views } from '../../ids.ts';
import type { AccessChange, AccessData, ActiveSession, ReadOrganization } from '../accessData.ts';
import { type AccessTarget, noLongerLoaded } from '../accessTarget.ts';
import { setContextKey } from '../contextKeys.ts';
import { withProgress } from '../dialogs.ts';
import {
  contentsOf,
  groupChildren,
  groupNodes,
  type OrganizationContents,
  organizationChildren,
  ownChildren,
  roleChildren,
  roleNodes,
} from './children.ts';
import { type OrganizationFacts, treeItem } from './items.ts';
import { type Node, NodeIdAllocator, type NodeOf } from './nodes.ts';
import type { ViewState } from './viewState.ts';
import { summarize } from './viewState.ts';

/** Where the contents are shown: VS Code's view, and the event that makes it ask for a node, or for all, again. */
export interface TreeFrame {
  readonly view: vscode.TreeView<Node>;
  readonly changed: vscode.EventEmitter<Node | undefined>;
}

/**
 * The contents of the sidebar's tree: organizations → groups and roles → members and roles granted. Loads on expansion.
 */
export class OrganizationsView implements vscode.Disposable {
  readonly #data: AccessData;
  readonly #state: ViewState;
  readonly #now: () => number;
  readonly #changed: vscode.EventEmitter<Node | undefined>;
  readonly #view: vscode.TreeView<Node>;
  readonly #disposables: vscode.Disposable[];
  /** The session of each node: VS Code can still ask for the children of one that is no longer shown. */
  readonly #owners = new WeakMap<Node, ActiveSession>();
  readonly #parents = new WeakMap<Node, Node>();
  /** The nodes of the organizations by id: VS Code redraws only a node that it knows. */
  #roots = new Map<string, NodeOf<'organization'>>();
  /** Whether the organizations are shown, rather than why they could not be listed. */
  #hasList = false;
  /** The visible part of each organization, until something about it changes. */
  readonly #shown = new Map<string, OrganizationContents>();
  /** The organizations whose children VS Code has, and whether they are expanded. */
  readonly #unfolded = new Map<string, boolean>();

  constructor(data: AccessData, state: ViewState, { view, changed }: TreeFrame, now: () => number) {
    this.#data = data;
    this.#state = state;
    this.#now = now;
    this.#view = view;
    this.#changed = changed;
    this.#disposables = [
      data.onDidChange((change) => this.#follow(change)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#tellView()),
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
    const { session } = this.#data;
    if (!session || (node && this.#owners.get(node) !== session)) return [];
    const children = node ? await this.#childrenOf(session, node) : await this.#rootsOf(session);
    if (this.#data.session !== session) return []; // Another account's data does not stay on screen.
    for (const child of children) {
      this.#owners.set(child, session);
      if (node) this.#parents.set(child, node);
    }
    return [...children];
  }

  /**
   * Shows an organization, a group or a role in the tree and selects it; a filter that hides it is cleared. With `focus`
   * the view takes the focus.
   *
   * @throws RolecallError `notFound`.
   */
  async reveal(target: AccessTarget, focus: boolean): Promise<void> {
    const { session } = this.#data;
    if (!session || target.connection !== session.cloud.key || target.kind === 'principal') return;
    if (target.kind !== 'organization') await this.#removeHidingFilter(session, target.organization, target.key);
    const node = await findNode(target, (parent) => this.getChildren(parent));
    if (!node) throw noLongerLoaded();
    await this.#view.reveal(node, { select: true, focus, expand: true });
  }

  async #removeHidingFilter(session: ActiveSession, organization: string, key: string): Promise<void> {
    if (this.#state.filterOf(session.cloud.key, organization) === '') return;
    const { filtered } = this.#shownOf(await this.#data.read(session, organization));
    if (![...filtered.groups, ...filtered.roles].some((entry) => entry.key === key)) {
      await this.#state.setFilter(session.cloud.key, organization, '');
    }
  }

  async #rootsOf(session: ActiveSession): Promise<readonly Node[]> {
    let organizations: readonly OrganizationName[];
    try {
      organizations = await this.#data.organizations(session);
    } catch (error) {
      this.#roots.clear();
      this.#hasList = false;
      return [{ kind: 'problem', id: `${session.cloud.key}/problem`, error: asRolecallError(error) }];
    }
    if (this.#data.session !== session) return [];
    this.#hasList = true;
    const ids = new NodeIdAllocator(session.cloud.key);
    this.#roots = new Map(
      organizations.map((each) => [each.id, this.#rootOf(session, each, ids.next('organization', each.id))]),
    );
    this.#tellView();
    return [...this.#roots.values()];
  }

  #rootOf(session: ActiveSession, { id: organization, name }: OrganizationName, id: string): NodeOf<'organization'> {
    const label = this.#data.labelOf(organization);
    const otherName = otherNameOf(organization, name, label);
    const before = this.#roots.get(organization);
    if (before?.id === id && before.label === label && before.otherName === otherName) return before;
    const target: AccessTarget = { kind: 'organization', organization, connection: session.cloud.key };
    return { kind: 'organization', id, organization, label, otherName, target };
  }

  async #childrenOf(session: ActiveSession, node: Node): Promise<readonly Node[]> {
    switch (node.kind) {
      case 'organization':
      case 'groups':
      case 'roles': {
        const read = await this.#data.read(session, node.organization);
        if (this.#data.session !== session) return [];
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
        return ownChildren(node);
      default:
        return [];
    }
  }

  #shownOf(read: ReadOrganization): OrganizationContents {
    const { organization } = read.model;
    const previous = this.#shown.get(organization);
    const filter = this.#state.filterOf(read.session.cloud.key, organization);
    const { order } = this.#state;
    if (previous?.read.access === read.access && previous.filter === filter && previous.order === order)
      return previous;
    const shown = contentsOf(read, { filter, order, isFavorite: (target) => this.#state.isFavorite(target) });
    this.#shown.set(organization, shown);
    return shown;
  }

  #factsOf(organization: string): OrganizationFacts {
    const read = this.#data.last(organization);
    const lists = read ? [read.access.groups, read.access.roles] : [];
    return {
      readAt: read?.model.at,
      isStale: lists.some((list) => list.kind === 'loaded' && list.staleBecause !== undefined),
      filter: this.#state.filterOf(this.#data.session?.cloud.key ?? '', organization),
      review: read?.model.review,
    };
  }

  #tellView(): void {
    const { message, badge } = summarize(this.#data, this.#state, [...this.#roots.keys()]);
    this.#view.message = message;
    this.#view.badge = badge;
  }

  #follow(change: AccessChange): void {
    switch (change.kind) {
      case 'session':
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
      case 'checked':
        this.#redraw(change.organization);
    }
  }

  /** Draws the organizations again if they or their labels have changed, or can no longer be listed. */
  async #followList(): Promise<void> {
    const { session } = this.#data;
    if (!session) return;
    const shown = [...this.#roots.values()];
    const listed = await this.#data.organizations(session).catch(() => undefined);
    if (this.#data.session !== session) return;
    const isSame = listed?.length === shown.length && listed.every((each, at) => this.#isDrawn(each, shown[at]));
    if (!isSame || !this.#hasList) this.#changed.fire(undefined);
  }

  #isDrawn({ id, name }: OrganizationName, root: NodeOf<'organization'> | undefined): boolean {
    const label = this.#data.labelOf(id);
    return root?.organization === id && root.label === label && root.otherName === otherNameOf(id, name, label);
  }

  /** Draws visible organizations again after they have been read; VS Code forgets the children of the others. */
  #readAgain(organization: string): void {
    const { session } = this.#data;
    const isUnfolded = this.#unfolded.get(organization);
    if (!session || isUnfolded === undefined) return;
    if (isUnfolded && this.#view.visible) {
      const reading = this.#data.read(session, organization);
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

/** The service's name for an organization, if its label differs. */
function otherNameOf(organization: string, name: string, label: string): string {
  return [organization, name].find((other) => other !== label) ?? '';
}

/** Walks down from the roots to the node of an organization, a group or a role; `undefined` where there is none. */
async function findNode(
  target: Exclude<AccessTarget, { kind: 'principal' }>,
  childrenOf: (node?: Node) => Promise<readonly Node[]>,
): Promise<Node | undefined> {
  const roots = await childrenOf();
  const organization = roots.find((node) => node.kind === 'organization' && node.organization === target.organization);
  if (!organization || target.kind === 'organization') return organization;
  const section = target.kind === 'group' ? 'groups' : 'roles';
  let level = (await childrenOf(organization)).filter(({ kind }) => kind === section);
  while (level.length > 0) {
    const below = (await Promise.all(level.map((node) => childrenOf(node)))).flat();
    const child = below.find(
      (node) => node.kind === target.kind && node.target?.kind === target.kind && node.target.key === target.key,
    );
    if (child) return child;
    level = below.filter(({ kind }) => kind === 'bucket' || kind === 'unlisted');
  }
  return undefined;
}
