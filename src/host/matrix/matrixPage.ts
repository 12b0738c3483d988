import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** What the page may load: its own script and style sheet, from the installed extension. */
export function pageRoots(extensionUri: vscode.Uri): readonly vscode.Uri[] {
  return [vscode.Uri.joinPath(extensionUri, 'dist')];
}

/**
 * The page without any data: that comes in messages and is set as text. Its policy names no host at all: only what carries
 * this page's own nonce runs or styles, and nothing can be fetched, framed or sent.
 */
export function pageHtml(webview: Pick<vscode.Webview, 'asWebviewUri'>, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const at = (name: string) =>
    attribute(webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', name)).toString());
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${attribute(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title></title>
<link rel="stylesheet" nonce="${nonce}" href="${at('matrix.css')}">
</head>
<body>
<h1 id="title" class="unseen"></h1>
<header id="toolbar" hidden>
<fieldset id="modes"><legend id="modes-name" class="unseen"></legend></fieldset>
<input id="filter" type="search" spellcheck="false" autocomplete="off">
<p id="counts" role="status"></p>
<p id="read"></p>
<button id="refresh" type="button"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13 8a5 5 0 1 1-1.7-3.75M13 2v3.2H9.8"/></svg></button>
</header>
<div id="notices" role="status"></div>
<main>
<div id="grid" role="grid" aria-readonly="true" hidden></div>
<p id="empty" hidden></p>
</main>
<footer id="footer" hidden>
<p id="detail"></p>
<ul id="legend"></ul>
</footer>
<script nonce="${nonce}" src="${at('matrix.js')}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
