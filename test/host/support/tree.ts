import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Cloud } from '../../../src/host/cloud.ts';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { OrganizationsView } from '../../../src/host/tree/organizationsView.ts';
import { Patches } from './patches.ts';
import type { PersonName } from './sandbox.ts';
import { type Scene, signInAs } from './scene.ts';

/** The organizations view as a person goes through it. */
export class Tree {
  readonly view: OrganizationsView;
  /** Messages that stood above the tree, the present one last. */
  readonly messages: string[] = [];
  /** Stands in for VS Code's tree view, whose id belongs to the running extension. */
  readonly shown: { message: string; description: string; dispose(): void };
  readonly #scene: Scene;

  constructor(scene: Scene) {
    const { messages } = this;
    this.#scene = scene;
    this.shown = {
      description: '',
      get message() {
        return messages.at(-1) ?? '';
      },
      set message(text: string) {
        messages.push(text);
      },
      dispose: () => {},
    };
    const patches = new Patches();
    patches.set(vscode.window, 'createTreeView', () => this.shown);
    this.view = scene.own(new OrganizationsView(scene.clouds, scene.settings));
    patches.restore();
  }

  /** What is below a path of labels, as `('meridian', 'Groups')`; the roots without one. */
  async open(...path: string[]): Promise<Node[]> {
    let nodes = await this.view.getChildren();
    for (const label of path) {
      const node = nodes.find((each) => this.text(each) === label);
      assert.ok(node, `${label} among ${nodes.map(this.text).join(', ')}`);
      nodes = await this.view.getChildren(node);
    }
    return nodes;
  }

  readonly text = (node: Node | undefined): string => String(this.item(node).label);

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
