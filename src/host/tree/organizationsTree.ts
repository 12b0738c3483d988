import * as vscode from 'vscode';
import { cancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { contextKeys, views } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import type { Clouds } from '../clouds.ts';
import { setContextKey } from '../contextKeys.ts';
import { showError } from '../showError.ts';
import type { Node } from './nodes.ts';
import type { OrganizationsView } from './organizationsView.ts';
import type { ViewState } from './viewState.ts';

export interface OrganizationsTreeDeps {
  readonly clouds: Pick<Clouds, 'sandbox' | 'onDidChange'>;
  readonly data: AccessData;
  readonly state: ViewState;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * The view in the sidebar. It exists from the start; its contents are made when it is first visible after sign-in, from the
 * current state, so no earlier event is missed.
 */
export class OrganizationsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #deps: OrganizationsTreeDeps;
  readonly #changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Node>;
  #contents: OrganizationsView | undefined;
  readonly #subscription: vscode.Disposable;
  #isDisposed = false;

  constructor(deps: OrganizationsTreeDeps) {
    this.#deps = deps;
    this.#view = vscode.window.createTreeView(views.organizations, { treeDataProvider: this, showCollapseAll: true });
    this.#subscription = vscode.Disposable.from(
      deps.clouds.onDidChange(() => {
        this.#view.description = deps.clouds.sandbox ? vscode.l10n.t('Sandbox') : '';
      }),
      deps.data.onDidChange(({ kind }) => {
        if (kind === 'session' && !this.#contents) this.#changed.fire(undefined); // Once made, the contents announce changes themselves.
        if (kind === 'session' || kind === 'organizations') void this.#tellMenus(); // Never rejects.
      }),
    );
  }

  /** The Command Palette depends on whether there are organizations even if this view was never visible. */
  async #tellMenus(): Promise<void> {
    const { data } = this.#deps;
    const { session } = data;
    const organizations = session ? await data.organizations(session).catch(() => []) : [];
    if (data.session === session) setContextKey(contextKeys.hasOrganizations, organizations.length > 0);
  }

  get isVisible(): boolean {
    return this.#view.visible;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!this.#deps.data.session) return [];
    let contents: OrganizationsView;
    try {
      contents = await this.#makeContents();
    } catch (error) {
      void showError(error, this.#deps.log); // The user sees more than an empty tree. Never rejects.
      return [];
    }
    return contents.getChildren(node);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return this.#contents?.getTreeItem(node) ?? new vscode.TreeItem(''); // There are no nodes before the contents are made.
  }

  getParent(node: Node): Node | undefined {
    return this.#contents?.getParent(node);
  }

  /** See {@link OrganizationsView.reveal}. */
  async reveal(target: AccessTarget, focus = true): Promise<void> {
    await (await this.#makeContents()).reveal(target, focus);
  }

  async #makeContents(): Promise<OrganizationsView> {
    const { OrganizationsView } = await import('./organizationsView.ts');
    if (this.#isDisposed) throw cancelled();
    const { data, state, now } = this.#deps;
    const view = { view: this.#view, changed: this.#changed };
    this.#contents ??= new OrganizationsView(data, state, view, now ?? Date.now);
    return this.#contents;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#contents?.dispose();
    vscode.Disposable.from(this.#subscription, this.#view, this.#changed).dispose();
  }
}
