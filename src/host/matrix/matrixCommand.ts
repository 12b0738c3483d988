import * as vscode from 'vscode';
import { matrixPanel } from '../../ids.ts';
import type { AccessChange, ReadOrganization } from '../accessData.ts';
import { pageHtml, pageRoots } from '../pageHtml.ts';
import { readPicked } from '../pickTarget.ts';
import { type MatrixDeps, MatrixPanel } from './matrixPanel.ts';

export interface MatrixCommandDeps extends MatrixDeps {
  readonly extensionUri: vscode.Uri;
}

interface Open {
  readonly matrix: MatrixPanel;
  readonly panel: vscode.WebviewPanel;
}

export interface Matrices extends vscode.Disposable {
  /** The matrix of the organization of `node`, else of one that the user picks. */
  show(node: unknown): Promise<void>;
}

/**
 * The access matrices that are open: one tab for each organization, closed when it is removed, the session ends or the account
 * changes. There is no serializer: a restarted window cannot restore such a tab, since no account is signed in yet.
 */
export function createMatrices(deps: MatrixCommandDeps): Matrices {
  const { data } = deps;
  const open = new Map<string, Open>();
  const closeAll = () => {
    for (const entry of [...open.values()]) close(entry);
  };
  const follow = (change: AccessChange): void => {
    switch (change.kind) {
      case 'session':
        closeAll();
        break;
      case 'removed': {
        const removed = open.get(change.organization);
        if (removed) close(removed);
        break;
      }
      case 'due':
        for (const [id, { matrix }] of open) {
          if (change.organization === undefined || change.organization === id) matrix.readAgain();
        }
        break;
      case 'organizations':
        for (const { matrix } of open.values()) matrix.showLabel();
        break;
      case 'read':
      case 'checked':
        open.get(change.organization)?.matrix.showRead();
    }
  };
  const show = (read: ReadOrganization): void => {
    const { organization } = read.model;
    const entry = open.get(organization);
    if (entry) {
      entry.matrix.show();
      return;
    }
    const panel = newPanel(deps.extensionUri);
    const matrix = new MatrixPanel(deps, panel, read);
    matrix.showLabel();
    open.set(organization, { matrix, panel });
    panel.onDidDispose(() => {
      matrix.dispose();
      open.delete(organization);
    });
    panel.webview.html = pageHtml(panel.webview, deps.extensionUri, { name: 'matrix', body: PAGE_BODY });
  };
  const subscription = data.onDidChange(follow);
  return {
    show: async (node) => show(await readPicked(data, node)),
    dispose: () => {
      subscription.dispose();
      closeAll();
    },
  };
}

/** Emptied first: a tab can take a moment to close. */
function close({ matrix, panel }: Open): void {
  matrix.dispose();
  panel.webview.html = '';
  panel.dispose();
}

function newPanel(extensionUri: vscode.Uri): vscode.WebviewPanel {
  const panel = vscode.window.createWebviewPanel(matrixPanel, '', vscode.ViewColumn.Active, {
    enableScripts: true,
    enableForms: false,
    localResourceRoots: pageRoots(extensionUri),
  });
  panel.iconPath = new vscode.ThemeIcon('table');
  return panel;
}

/** The empty parts of the page, the same for everybody. The page's script fills them with text. */
export const PAGE_BODY = `<h1 id="title" class="unseen"></h1>
<header id="toolbar" hidden>
<fieldset id="modes"><legend id="modes-name" class="unseen"></legend></fieldset>
<input id="filter" type="search" spellcheck="false" autocomplete="off">
<p id="counts" role="status"></p>
<p id="read"></p>
<button id="refresh" type="button"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13 8a5 5 0 1 1-1.7-3.75M13 2v3.2H9.8"/></svg></button>
</header>
<div id="notices" role="status"></div>
<p id="explanation" hidden></p>
<main>
<div id="grid" role="grid" aria-readonly="true" hidden></div>
<p id="empty" hidden></p>
</main>
<footer id="footer" hidden>
<p id="detail"></p>
<ul id="legend"></ul>
</footer>`;
