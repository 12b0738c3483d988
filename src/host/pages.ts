import * as vscode from 'vscode';
import { documentMarkdown, type Line, type PageDocument } from '../core/access/pageDocument.ts';
import { cancelled } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { oneLine } from '../core/base/text.ts';
import { answerPanel, commands, type documentPanel } from '../ids.ts';
import {
  type PageBlock,
  type PageLine,
  type PagePart,
  readToHost,
  type ToPage,
  versioned,
} from '../webview/page/protocol.ts';
import type { Handlers } from './commands.ts';
import { showInformationMessage } from './dialogs.ts';
import { closingFence, escapeMarkdown } from './markdown.ts';
import { pageHtml, pageRoots } from './pageHtml.ts';
import { describeError, showError } from './showError.ts';

/** A piece of an answer: Markdown of a model, or a line of Rolecall's own. The text itself never decides which. */
export type AnswerPiece = { readonly markdown: string } | { readonly own: string };

/** The content of a page: Markdown that is not trusted, or a document without markup. */
export type PageContent<L> =
  | {
      /** Plain text; empty if there are only pieces. */
      readonly heading: string;
      readonly about: string;
      readonly pieces: readonly AnswerPiece[];
      /** False while more is expected. */
      readonly isWhole: boolean;
    }
  | { readonly document: PageDocument<L> };

export interface PageOptions<L> {
  /** If a page with this key is open, it is brought to the front instead of opening another. */
  readonly key?: string;
  readonly kind: typeof answerPanel | typeof documentPanel;
  readonly title: string;
  readonly icon: string;
  /** `beside` the active editor, which keeps the focus; if none is open, in its place. */
  readonly column: 'beside' | 'active';
  /** The effect of a document's link, as its tooltip. */
  linkTitle?(link: L): string;
  follow?(link: L): Promise<void>;
  /** Brings the content up to date. */
  refresh?(): Promise<void>;
  /** Without it, Save writes what Copy copies. */
  save?(): Promise<void>;
  /** Called when the tab is visible again. */
  seen?(): void;
}

interface PagesDeps {
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
}

/** The most rows of one table that a page draws; the file has all. */
const MAX_ROWS = 2000;
/** A command of the built-in extension `vscode.markdown-language-features`, which can be disabled, and is activated by it. */
const RENDER = 'markdown.api.render';

/**
 * Answers and documents in tabs, rendered by a page of ours. VS Code's own preview would not do: it fetches every https
 * picture in a text, again with each change of the text, and the text here is a model's or a server's. Whoever opens a
 * page closes it when nobody may see it any more.
 */
export class Pages implements vscode.Disposable {
  readonly #deps: PagesDeps;
  readonly #open = new Set<OpenPage<unknown>>();

  constructor(deps: PagesDeps) {
    this.#deps = deps;
  }

  /** Opens an empty page, or returns the one that is open with that key. */
  open<L>(options: PageOptions<L>): OpenPage<L> {
    const { key } = options;
    const openPage = key === undefined ? undefined : [...this.#open].find((page) => page.key === key);
    if (openPage) {
      openPage.reveal();
      return openPage as OpenPage<L>; // A key is used for one kind of links.
    }
    const { extensionUri, log } = this.#deps;
    const isAnswer = options.kind === answerPanel;
    const isBeside = options.column === 'beside' && vscode.window.tabGroups.activeTabGroup.tabs.length > 0;
    const panel = vscode.window.createWebviewPanel(
      options.kind,
      options.title,
      {
        viewColumn: isBeside ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active,
        preserveFocus: options.column === 'beside',
      },
      {
        enableScripts: true,
        enableForms: false,
        enableFindWidget: true,
        localResourceRoots: pageRoots(extensionUri),
      },
    );
    panel.iconPath = new vscode.ThemeIcon(options.icon);
    const page = new OpenPage<L>(panel, log, options);
    this.#open.add(page);
    panel.onDidDispose(() => this.#open.delete(page));
    panel.webview.html = pageHtml(panel.webview, extensionUri, {
      name: 'page',
      // A model's text is read aloud as it arrives.
      body: `<header><h1></h1><p id="about"></p></header><main aria-busy="true"${isAnswer ? ' role="log"' : ''}></main>`,
    });
    return page;
  }

  /** Copy as Markdown, Save As… and Refresh, for the active page. */
  get commands() {
    const active = () => [...this.#open].find(({ isActive }) => isActive);
    return {
      [commands.copyPage]: async () => {
        const page = active();
        if (page) await vscode.env.clipboard.writeText(page.markdown);
      },
      [commands.savePage]: () => active()?.save(),
      [commands.refreshPage]: () => active()?.refresh(),
    } satisfies Partial<Handlers>;
  }

  dispose(): void {
    for (const page of [...this.#open]) page.close();
  }
}

/** Creates them when they are first needed. */
export type OpenPages = () => Promise<Pages>;

/** One tab. */
export class OpenPage<L> {
  readonly #panel: vscode.WebviewPanel;
  readonly #log: Log;
  readonly #options: PageOptions<L>;
  readonly #closed = new AbortController();
  /** Aborts when the page is closed. */
  readonly closed = this.#closed.signal;
  /** VS Code unloads the page while it is hidden; the page announces when it has loaded again. */
  #isReady = false;
  #isRendering = false;
  #canRender = true;
  #wanted: PageContent<L> = { heading: '', about: '', pieces: [], isWhole: false };
  /** The rendered pieces of the last update: only the last piece grows. */
  #rendered: readonly { readonly piece: AnswerPiece; readonly part: PagePart }[] = [];
  #posted: ToPage | undefined;
  /** The targets of the content's links, by their number. */
  #links: readonly L[] = [];
  #revision = 0;

  constructor(panel: vscode.WebviewPanel, log: Log, options: PageOptions<L>) {
    this.#panel = panel;
    this.#log = log;
    this.#options = options;
    panel.onDidDispose(() => this.#closed.abort());
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#isReady = false;
      else options.seen?.();
    });
    panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message));
  }

  get key(): string | undefined {
    return this.#options.key;
  }

  get isActive(): boolean {
    return this.#panel.active;
  }

  get isVisible(): boolean {
    return this.#panel.visible;
  }

  /** The content as Markdown. */
  get markdown(): string {
    const content = this.#wanted;
    return 'document' in content ? documentMarkdown(content.document) : markdownOf(content.pieces);
  }

  /** Replaces the content. */
  show(content: PageContent<L>): void {
    this.#wanted = content;
    void this.#render(); // Never rejects.
  }

  /** Brings the tab to the front. */
  reveal(): void {
    this.#panel.reveal();
  }

  async refresh(): Promise<void> {
    await this.#options.refresh?.();
  }

  async save(): Promise<void> {
    if (this.#options.save) return this.#options.save();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const words = this.#options.title.match(/[\p{L}\p{N}.@_-]+/gu) ?? [];
    const name = `${words.join('-')}.md`;
    const uri = await vscode.window.showSaveDialog({
      title: vscode.l10n.t('Save Page As'),
      filters: { Markdown: ['md'] },
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
    });
    if (!uri) return;
    if (this.closed.aborted) throw cancelled(); // Signed out while the dialog was open.
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(this.markdown));
    const open = vscode.l10n.t('Open');
    const chosen = await showInformationMessage(
      vscode.l10n.t('Page saved to {0}.', uri.path.split('/').at(-1) ?? ''),
      open,
    );
    if (chosen === open) await vscode.window.showTextDocument(uri);
  }

  /** Emptied first: a tab can take a moment to close. */
  close(): void {
    this.#closed.abort();
    this.#posted = undefined;
    this.#links = [];
    this.#panel.webview.html = '';
    this.#panel.dispose();
  }

  #receive(data: unknown): void {
    const message = readToHost(data);
    if (message?.type === 'ready') {
      this.#isReady = true;
      this.#post();
    }
    // Otherwise the numbers belong to other content.
    if (message?.type !== 'follow' || message.revision !== this.#revision) return;
    const link = this.#links[message.link];
    if (link === undefined) return;
    void this.#options.follow?.(link).catch((error: unknown) => showError(error, this.#log));
  }

  /** Renders the newest content until there is none newer: updates during a rendering become one. */
  async #render(): Promise<void> {
    if (this.#isRendering) return;
    this.#isRendering = true;
    let rendered: PageContent<L> | undefined;
    while (rendered !== this.#wanted && !this.closed.aborted) {
      rendered = this.#wanted;
      const links: L[] = [];
      const shown =
        'document' in rendered ? ofDocument(rendered.document, links, this.#options) : await this.#ofAnswer(rendered);
      if (this.closed.aborted) break;
      this.#links = links;
      this.#revision += 1;
      const words = { picture: vscode.l10n.t('Picture: {0}', '{0}') };
      this.#posted = { type: 'content', revision: this.#revision, words, ...shown };
      this.#post();
    }
    this.#isRendering = false;
  }

  async #ofAnswer({ heading, about, pieces, isWhole }: Exclude<PageContent<L>, { document: unknown }>) {
    this.#rendered = await Promise.all(pieces.map(async (piece, at) => this.#partOf(piece, at)));
    const parts = this.#rendered.map(({ part }) => part);
    return { heading, about: about === '' ? [] : [about], parts, isWhole };
  }

  async #partOf(piece: AnswerPiece, at: number) {
    const before = this.#rendered[at];
    if (before?.piece === piece) return before;
    return { piece, part: 'own' in piece ? piece : await this.#partOfMarkdown(piece.markdown) };
  }

  /**
   * Not trusted either, like the Markdown: VS Code's renderer lets any HTML through. Without it the text is shown
   * unrendered.
   */
  async #partOfMarkdown(markdown: string): Promise<PagePart> {
    try {
      return { html: await vscode.commands.executeCommand<string>(RENDER, markdown) };
    } catch (error) {
      if (this.#canRender) this.#log.warn(`Markdown is shown as plain text: ${describeError(error)}`);
      this.#canRender = false;
      return { plain: markdown };
    }
  }

  #post(): void {
    if (!this.#isReady || this.#posted === undefined) return;
    void this.#panel.webview.postMessage(versioned(this.#posted)); // A closed page gets nothing; a new one asks again.
  }
}

/** An answer as one text, in which lines of Rolecall's own are in italics. */
export function markdownOf(pieces: readonly AnswerPiece[]): string {
  let text = '';
  let last = '';
  for (const piece of pieces) {
    if ('markdown' in piece) text += piece.markdown;
    // Not into a block of code that the model has left open.
    else text += `${closingFence(last)}\n\n*${escapeMarkdown(piece.own.replace(/\s+/g, ' '))}*\n\n`;
    last = 'own' in piece ? '' : piece.markdown;
  }
  return text;
}

/** A document in the page's format: each link is a number, and its target stays here. */
function ofDocument<L>({ title, about, blocks }: PageDocument<L>, links: L[], { linkTitle }: PageOptions<L>) {
  const lineOf = (line: Line<L>): PageLine =>
    line.map((piece) => {
      if (typeof piece === 'string') return oneLine(piece);
      if ('strong' in piece) return { strong: oneLine(piece.strong) };
      if ('small' in piece) return { small: oneLine(piece.small) };
      const link = links.push(piece.link) - 1;
      return { text: oneLine(piece.text), link, title: linkTitle?.(piece.link) ?? '' };
    });
  const blocksOf = (block: PageDocument<L>['blocks'][number]): PageBlock[] => {
    switch (block.kind) {
      case 'paragraph':
        return [{ kind: 'paragraph', line: lineOf(block.line) }];
      case 'list':
        return [{ kind: 'list', lines: block.lines.map(lineOf) }];
      case 'table': {
        const { kind, columns, rows } = block;
        const shown = rows.slice(0, MAX_ROWS).map((cells) => cells.map(lineOf));
        const remaining = rows.length - shown.length;
        const more = vscode.l10n.t('{0} more rows are not shown. Save this document to see all of them.', remaining);
        return [
          { kind, columns: [...columns], rows: shown },
          ...(remaining > 0 ? [{ kind: 'notice', text: more } as const] : []),
        ];
      }
      default:
        return [{ kind: block.kind, text: oneLine(block.text) }];
    }
  };
  const parts = [{ blocks: blocks.flatMap(blocksOf) }];
  return { heading: oneLine(title), about: lineOf(about), parts, isWhole: true };
}
