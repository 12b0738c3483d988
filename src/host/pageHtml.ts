import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** A page of ours: `dist/<name>.js` and `dist/<name>.css`, and its content before its script runs. */
export interface Page {
  readonly name: string;
  /** The same for everybody. */
  readonly body: string;
}

/** The files that a page may load: its own script and style sheet, from the installed extension. */
export function pageRoots(extensionUri: vscode.Uri): readonly vscode.Uri[] {
  return [vscode.Uri.joinPath(extensionUri, 'dist')];
}

/**
 * The page without any data, which comes in messages. Its policy names no host: only elements with this page's own
 * nonce run or style anything, and nothing can be fetched, framed or sent.
 */
export function pageHtml(
  webview: Pick<vscode.Webview, 'asWebviewUri'>,
  extensionUri: vscode.Uri,
  { name, body }: Page,
): string {
  const nonce = randomBytes(16).toString('base64url');
  const at = (file: string) =>
    attribute(webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', file)).toString());
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${attribute(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title></title>
<link rel="stylesheet" nonce="${nonce}" href="${at(`${name}.css`)}">
</head>
<body>
${body}
<script nonce="${nonce}" src="${at(`${name}.js`)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
