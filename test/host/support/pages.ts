import * as vscode from 'vscode';
import { type OpenPages, Pages } from '../../../src/host/pages.ts';
import { type PageLine, type PagePart, PROTOCOL_VERSION, type ToPage } from '../../../src/webview/page/protocol.ts';
import type { FakeLog } from './fakes.ts';
import type { Patches } from './patches.ts';

/** A tab of the editor without its page: what would be posted to that is kept. */
export class FakePanel {
  readonly posted: ToPage[] = [];
  readonly received = new vscode.EventEmitter<unknown>();
  readonly viewState = new vscode.EventEmitter<void>();
  readonly disposed = new vscode.EventEmitter<void>();
  readonly onDidChangeViewState = this.viewState.event;
  readonly onDidDispose = this.disposed.event;
  visible = true;
  active = false;
  isDisposed = false;
  revealed = 0;
  readonly webview = {
    html: '',
    onDidReceiveMessage: this.received.event,
    postMessage: async (message: ToPage) => this.posted.push(message),
    asWebviewUri: (uri: vscode.Uri) => uri,
  };
  readonly opened: readonly unknown[];

  constructor(opened: readonly unknown[]) {
    this.opened = opened;
  }

  get title(): unknown {
    return this.opened[1];
  }

  begin(): void {
    this.received.fire({ version: PROTOCOL_VERSION, type: 'ready' });
  }

  reveal(): void {
    this.revealed += 1;
  }

  dispose(): void {
    this.isDisposed = true;
    this.disposed.fire();
  }

  get newest(): ToPage | undefined {
    return this.posted.at(-1);
  }

  /** What its page shows, a line for each thing. */
  get text(): string {
    const { newest } = this;
    if (newest === undefined) return '';
    return [newest.heading, textOf(newest.about), ...newest.parts.flatMap(linesOf)].join('\n');
  }

  /** Chooses the link with these words. */
  follow(words: string): void {
    const { newest } = this;
    const links = [newest?.about ?? [], ...(newest?.parts ?? []).flatMap(pieces)].flat();
    const link = links.find((each) => typeof each === 'object' && 'link' in each && each.text === words);
    if (typeof link !== 'object' || !('link' in link)) throw new Error(`There is no link "${words}".`);
    const revision = newest?.revision;
    this.received.fire({ version: PROTOCOL_VERSION, type: 'follow', revision, link: link.link });
  }
}

/**
 * The tabs that each test of the `describe` opens, the running extension's too; closed after it.
 *
 * @param begins whether their pages begin at once.
 */
export function usePanels(patches: Patches, begins = true): FakePanel[] {
  const panels: FakePanel[] = [];
  beforeEach(() => {
    patches.set(vscode.window, 'createWebviewPanel', (...opened: unknown[]) => {
      const panel = new FakePanel(opened);
      panels.push(panel);
      if (begins) queueMicrotask(() => panel.begin());
      return panel;
    });
  });
  afterEach(() => {
    for (const panel of panels.splice(0)) if (!panel.isDisposed) panel.dispose();
  });
  return panels;
}

/** Pages as features are given them. */
export function pagesFor(log: FakeLog): OpenPages & { dispose(): void } {
  const pages = new Pages({ extensionUri: vscode.Uri.file('/extension'), log });
  return Object.assign(async () => pages, { dispose: () => pages.dispose() });
}

function textOf(line: PageLine): string {
  return line
    .map((each) => {
      if (typeof each === 'string') return each;
      if ('strong' in each) return each.strong;
      return 'small' in each ? each.small : each.text;
    })
    .join('');
}

function linesOf(part: PagePart): string[] {
  if ('html' in part) return [part.html];
  if ('plain' in part) return [part.plain];
  if ('own' in part) return [`own: ${part.own}`];
  return part.blocks.flatMap((block) => {
    if (block.kind === 'paragraph') return [textOf(block.line)];
    if (block.kind === 'list') return block.lines.map((line) => `- ${textOf(line)}`);
    if (block.kind === 'table')
      return [block.columns.join(' | '), ...block.rows.map((row) => row.map(textOf).join(' | '))];
    return [block.kind === 'heading' ? `## ${block.text}` : `! ${block.text}`];
  });
}

function pieces(part: PagePart): PageLine[] {
  if (!('blocks' in part)) return [];
  return part.blocks.flatMap((block) => {
    if (block.kind === 'paragraph') return [block.line];
    if (block.kind === 'list') return block.lines;
    return block.kind === 'table' ? block.rows.flat() : [];
  });
}
