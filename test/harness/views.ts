import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test';
import { attempt, runCommand } from './actions.ts';

/** Rolecall's item in the status bar, which is there while a cloud is known. */
export function statusBar(page: Page, text: string | RegExp = ''): Locator {
  return page.locator('.statusbar-item[id="rolecall.rolecall.rolecall.session"]').filter({ hasText: text });
}

/** Shows Rolecall's side bar and returns it, once it has content, which it has as soon as the extension runs. */
export async function showOwnView(page: Page): Promise<Locator> {
  const side = page.locator('.part.sidebar');
  const tab = page.locator('.activitybar .action-item', { has: page.locator('[aria-label^="Rolecall"]') }).first();
  const title = side.locator('.composite.title', { hasText: /Rolecall/i });
  await attempt(async (quickly) => {
    if (!(await title.isVisible())) await tab.click(quickly);
    await title.waitFor(quickly);
  });
  await side.locator('.monaco-list-row, .welcome-view-content > *').first().waitFor();
  return side;
}

/** The tree's row whose label starts with this. */
export function treeRow(page: Page, label: string): Locator {
  return page.locator(`.part.sidebar .monaco-list-row[aria-label^=${JSON.stringify(label)}]`).first();
}

/** The rows of the tree that are in sight, one a line: label and description as they are read aloud. */
export async function treeText(page: Page): Promise<string> {
  const rows = page.locator('.part.sidebar .monaco-list-row');
  return (await rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''))).join('\n');
}

/** Expands a row of the tree, and waits until the first row below it is one of its own. */
export async function expand(page: Page, label: string): Promise<void> {
  const row = treeRow(page, label);
  await row.waitFor();
  await attempt(async (quickly) => {
    if ((await row.getAttribute('aria-expanded', quickly)) === 'false') {
      await row.locator('.monaco-tl-twistie').click(quickly);
    }
    await expect(row).toHaveAttribute('aria-expanded', 'true', quickly);
    const level = Number(await row.getAttribute('aria-level', quickly));
    const index = Number(await row.getAttribute('data-index', quickly));
    const below = page.locator(`.part.sidebar .monaco-list-row[data-index="${index + 1}"]`);
    await expect(below).toHaveAttribute('aria-level', String(level + 1), quickly);
  });
}

/** Every line of Rolecall's output channel. Shows the panel. */
export async function outputLines(page: Page): Promise<string[]> {
  const editor = page.locator('.part.panel .monaco-editor').first();
  await attempt(async (quickly) => {
    // A window that restores its layout meanwhile may close the panel again.
    if (!(await editor.isVisible())) await runCommand(page, 'Rolecall: Show Log');
    await editor.locator('.view-lines').waitFor(quickly);
  });
  const text = await textOfEditor(page, editor);
  return text.split('\n').filter((line) => line !== '');
}

/** The whole text of an editor, including what is scrolled out of view: it is copied, as a user would. */
export async function textOfEditor(page: Page, editor: Locator): Promise<string> {
  const before = `not copied yet ${Math.random()}`;
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(before)})`);
  let text = before;
  await attempt(async (quickly) => {
    // Not clicked: a long line may be scrolled out of view, and text that is written meanwhile moves it.
    await editor.getByRole('textbox').first().focus(quickly);
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+C');
    await expect
      .poll(async () => {
        text = await page.evaluate<string>('navigator.clipboard.readText()');
        return text;
      }, quickly)
      .not.toBe(before);
  });
  return text;
}

/** The page of an extension that is in sight: VS Code shows such pages inside two frames. */
export function extensionPage(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview.ready:visible').frameLocator('iframe#active-frame');
}

/** Trusts the open folder, as a person does in Restricted Mode. The window and its extension host stay. */
export async function trustWorkspace(page: Page): Promise<void> {
  await runCommand(page, 'Workspaces: Manage Workspace Trust');
  const trust = page.locator('.workspace-trust-editor .monaco-button:visible', { hasText: /^Trust$/ }).first();
  const trusted = page.locator('.workspace-trust-editor', { hasText: 'You trust this folder' });
  await attempt(async (quickly) => {
    if (!(await trusted.isVisible())) await trust.click(quickly);
    await trusted.waitFor(quickly);
  });
  await runCommand(page, 'View: Close Editor');
}
