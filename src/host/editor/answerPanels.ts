import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { answerPanel } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import { ownerOf } from '../ownerOf.ts';
import { pageHtml, pageRoots } from '../pageHtml.ts';
import type { AnswerHead, AnswerPlace } from './answer.ts';
import { answerColumn } from './answerColumn.ts';
import { AnswerPanel } from './answerPanel.ts';

interface AnswerPanelsDeps {
  readonly clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
}

/** Rendered answers in tabs. They belong to the account that asked: when another one is on the stage, or none, they close. */
export class AnswerPanels implements vscode.Disposable {
  readonly #deps: AnswerPanelsDeps;
  readonly #open = new Set<AnswerPanel>();
  readonly #subscription: vscode.Disposable;
  #owner: string;

  constructor(deps: AnswerPanelsDeps) {
    this.#deps = deps;
    this.#owner = ownerOf(deps.clouds);
    this.#subscription = deps.clouds.onDidChange(() => this.#follow());
  }

  /** Opens an empty tab beside the active editor, which keeps the focus; where none is open, in its place. */
  open(title: string, head?: AnswerHead): AnswerPlace {
    const { extensionUri, log } = this.#deps;
    const column = { viewColumn: answerColumn(), preserveFocus: true };
    const panel = vscode.window.createWebviewPanel(answerPanel, title, column, {
      enableScripts: true,
      enableForms: false,
      enableFindWidget: true,
      localResourceRoots: pageRoots(extensionUri),
    });
    panel.iconPath = new vscode.ThemeIcon('comment-discussion');
    const answer = new AnswerPanel(panel, log, head);
    this.#open.add(answer);
    panel.onDidDispose(() => this.#open.delete(answer));
    panel.webview.html = pageHtml(panel.webview, extensionUri, {
      name: 'answer',
      body: '<header><h1></h1><p id="about"></p></header><main role="log" aria-busy="true"></main>',
    });
    return answer;
  }

  /** Markdown of the answer that is looked at. */
  get activeText(): string | undefined {
    return [...this.#open].find(({ isActive }) => isActive)?.text;
  }

  #follow(): void {
    const owner = ownerOf(this.#deps.clouds);
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#closeAll();
  }

  #closeAll(): void {
    for (const answer of [...this.#open]) answer.close();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#closeAll();
  }
}
