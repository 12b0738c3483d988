import * as vscode from 'vscode';

/** Of the built-in extension `vscode.markdown-language-features`, which is activated by it. */
const RENDER = 'markdown.api.render';

/** Whether the editor renders Markdown: its extension for that can be switched off, and may run on another machine. */
export async function canRender(): Promise<boolean> {
  try {
    return typeof (await render('')) === 'string';
  } catch {
    return false;
  }
}

/** Markdown as HTML, as untrusted as the Markdown: VS Code's renderer lets any HTML through. */
export async function render(markdown: string): Promise<string> {
  return vscode.commands.executeCommand<string>(RENDER, markdown);
}
