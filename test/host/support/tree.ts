import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { AccessData } from '../../../src/host/accessData.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { OrganizationsTree } from '../../../src/host/tree/organizationsTree.ts';
import { ViewState } from '../../../src/host/tree/viewState.ts';
import { FakeMemento } from './fakes.ts';
import { Patches } from './patches.ts';
import type { PersonName } from './sandbox.ts';
import { type Scene, signInAs } from './scene.ts';

/** What VS Code shows of a tree view. */
interface ShownView {
  message: string;
  description: string;
  badge: vscode.ViewBadge | undefined;
  visible: boolean;
  revealed: Node[];
  readonly onDidExpandElement: vscode.Event<vscode.TreeViewExpansionEvent<Node>>;
  readonly onDidCollapseElement: vscode.Event<vscode.TreeViewExpansionEvent<Node>>;
  reveal(node: Node): Promise<void>;
  dispose(): void;
}

/** The organizations view as a person goes through it. */
export class Tree {
  readonly data: AccessData;
  readonly state: ViewState;
  readonly view: OrganizationsTree;
  /** Stands in for VS Code's tree view, whose id belongs to the running extension. */
  readonly shown: ShownView = {
    message: '',
    description: '',
    badge: undefined,
    visible: true,
    revealed: [],
    onDidExpandElement: (...listener) => this.#expanded.event(...listener),
    onDidCollapseElement: (...listener) => this.#collapsed.event(...listener),
    reveal: async (node) => void this.shown.revealed.push(node),
    dispose: () => {},
  };
  /** What the clock of the view says, in milliseconds since 1970. */
  now = Date.now();
  readonly #expanded = new vscode.EventEmitter<vscode.TreeViewExpansionEvent<Node>>();
  readonly #collapsed = new vscode.EventEmitter<vscode.TreeViewExpansionEvent<Node>>();
  readonly #scene: Scene;
  /** Of the window, kept when it is reloaded. */
  readonly memento = new FakeMemento();

  constructor(scene: Scene) {
    this.#scene = scene;
    const clock = () => this.now;
    this.data = scene.own(new AccessData(scene.clouds, scene.settings, this.memento, scene.log, clock));
    this.state = scene.own(new ViewState(new FakeMemento(), new FakeMemento()));
    const patches = new Patches();
    patches.set(vscode.window, 'createTreeView', () => this.shown);
    const { clouds, log } = scene;
    this.view = scene.own(new OrganizationsTree({ clouds, data: this.data, state: this.state, log, now: clock }));
    patches.restore();
  }

  /** What is below a path of labels, as `('meridian', 'Groups')`; the roots without one. */
  async open(...path: string[]): Promise<Node[]> {
    let nodes = await this.view.getChildren();
    for (const label of path) nodes = await this.view.getChildren(this.#labelled(nodes, label));
    return nodes;
  }

  /** The node at the end of a path of labels. */
  async node(...path: string[]): Promise<Node> {
    return this.#labelled(await this.open(...path.slice(0, -1)), path.at(-1) ?? '');
  }

  collapse(element: Node): void {
    this.#collapsed.fire({ element });
  }

  expand(element: Node): void {
    this.#expanded.fire({ element });
  }

  #labelled(nodes: readonly Node[], label: string): Node {
    const node = nodes.find((each) => this.text(each) === label);
    assert.ok(node, `${label} among ${nodes.map(this.text).join(', ')}`);
    return node;
  }

  readonly text = (node: Node | undefined): string => String(this.item(node).label);
  readonly description = (node: Node | undefined): string => String(this.item(node).description);

  item(node: Node | undefined): vscode.TreeItem {
    return this.view.getTreeItem(node ?? assert.fail('there is no such node'));
  }

  async texts(...path: string[]): Promise<string[]> {
    return (await this.open(...path)).map(this.text);
  }

  /** The configured services, signed in to, with these organizations in the settings. */
  async serviceOf(name: PersonName, ...organizations: string[]): Promise<Cloud> {
    this.#scene.settings.ids = organizations;
    const cloud = await this.#scene.startService();
    await signInAs(cloud, name);
    return cloud;
  }
}

/** A tree of its own for each test of the `describe` that calls this. */
export function useTree(scene: () => Scene): () => Tree {
  let tree: Tree | undefined;
  beforeEach(() => {
    tree = new Tree(scene());
  });
  return () => tree ?? assert.fail('there is no tree outside of a test');
}
