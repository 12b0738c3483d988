import type { FrameLocator, Locator, Page } from 'playwright-core';
import { runCommand } from './actions.ts';

/** The title of the view container in the activity bar. */
const container = 'Rolecall';

/** Waits until the extension host runs Rolecall: a command of its has had its effect. The panel is closed again. */
export async function waitForExtension(page: Page): Promise<void> {
  await showLog(page);
  await runCommand(page, 'View: Hide Panel');
}

/** Shows Rolecall's side bar and gives it. */
export async function openView(page: Page): Promise<Locator> {
  const tab = page.locator('.activitybar .action-item', { has: page.locator(`[aria-label^="${container}"]`) }).first();
  const side = page.locator('.part.sidebar');
  if ((await side.locator('.composite.title', { hasText: new RegExp(container, 'i') }).count()) === 0) {
    await tab.click();
  }
  await side.locator('.composite.title', { hasText: new RegExp(container, 'i') }).waitFor();
  return side;
}

/** The rows of the tree that are in sight: label and description as they are read aloud. */
export async function treeRows(page: Page): Promise<string[]> {
  const rows = page.locator('.part.sidebar .monaco-list-row');
  return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
}

/** The tree's row whose label starts with this, waited for. */
export async function treeRow(page: Page, label: string): Promise<Locator> {
  const row = page.locator(rowSelector(label)).first();
  await row.waitFor();
  return row;
}

/** Opens a row of the tree that is closed. Its children may still be loading afterwards: wait for them with `treeRow`. */
export async function expand(page: Page, label: string): Promise<void> {
  const row = await treeRow(page, label);
  if ((await row.getAttribute('aria-expanded')) === 'false') {
    await row.locator('.monaco-tl-twistie').click();
    await page
      .locator(`${rowSelector(label)}[aria-expanded="true"]`)
      .first()
      .waitFor();
  }
}

function rowSelector(label: string): string {
  return `.part.sidebar .monaco-list-row[aria-label^=${JSON.stringify(label)}]`;
}

/** Every line of Rolecall's output channel. Shows the panel. */
export async function outputLines(page: Page): Promise<string[]> {
  await showLog(page);
  const text = await textOfEditor(page, page.locator('.part.panel .monaco-editor').first());
  return text.split('\n').filter((line) => line !== '');
}

/** The whole text of an editor, also what is scrolled out of sight: it is copied, as a person would. */
export async function textOfEditor(page: Page, editor: Locator): Promise<string> {
  await editor.locator('.view-lines').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+C');
  return page.evaluate('navigator.clipboard.readText()');
}

async function showLog(page: Page): Promise<void> {
  const lines = page.locator('.part.panel .monaco-editor .view-lines');
  const late = Date.now() + 45_000;
  do {
    await runCommand(page, 'Rolecall: Show Log');
    // A window that restores its layout meanwhile may close the panel again: then the command is given once more.
    const isShown = await lines.waitFor({ timeout: 8000 }).then(
      () => true,
      () => false,
    );
    if (isShown) {
      return;
    }
  } while (Date.now() < late);
  throw new Error('Rolecall: Show Log opened no output.');
}

/** The page of an extension that is in sight: VS Code shows such pages inside two frames. */
export function extensionPage(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview.ready:visible').frameLocator('iframe#active-frame');
}
