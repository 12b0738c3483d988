import type { BrowserContext, Locator, Page } from 'playwright-core';

/** What a person does in a workbench. Each function waits for its effect; none sleeps. */

/** Opens the command palette and runs the command whose whole title this is, as in `Rolecall: Sign In`. */
export async function runCommand(page: Page, title: string): Promise<void> {
  // The whole label: what was typed is highlighted in a longer one too, as a text of its own.
  const whole = new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
  await quickOpen(page, `>${title}`, { has: page.locator('.label-name', { hasText: whole }) });
}

/** Types into the editor's one search box and clicks the row that it offers. */
async function quickOpen(page: Page, text: string, wanted: Parameters<Locator['filter']>[0]): Promise<void> {
  const input = quickInput(page).locator('input');
  const row = quickPickRows(page).filter(wanted).first();
  const late = Date.now() + 30_000;
  while (true) {
    await page.keyboard.press('F1');
    const found = await offered(input, text, row);
    if (found || Date.now() > late) {
      await row.click();
      return;
    }
    // The palette lists the commands known when it was opened: an extension's come later in a fresh window. And while a
    // window or an editor is opening, it may take the focus and close the palette.
    await page.keyboard.press('Escape');
  }
}

async function offered(input: Locator, text: string, row: Locator): Promise<boolean> {
  try {
    await input.fill(text, { timeout: 2000 });
    await row.waitFor({ timeout: 2000 });
    return true;
  } catch {
    return false;
  }
}

/** The quick pick or input box that is open. */
export function quickInput(page: Page): Locator {
  return page.locator('.quick-input-widget:visible');
}

function quickPickRows(page: Page): Locator {
  return quickInput(page).locator('.quick-input-list .monaco-list-row');
}

/** The labels of the open quick pick's visible rows. */
export async function quickPickLabels(page: Page): Promise<string[]> {
  const rows = quickPickRows(page);
  await rows.first().waitFor();
  return rows.locator('.quick-input-list-row:first-child .label-name').allInnerTexts();
}

/** Chooses the row of the open quick pick that has this label. */
export async function choose(page: Page, label: string): Promise<void> {
  const rows = quickPickRows(page);
  await rows
    .filter({ has: page.getByText(label, { exact: true }) })
    .first()
    .click();
}

/** Types into the open input box and confirms. */
export async function answerInput(page: Page, text: string): Promise<void> {
  await quickInput(page).locator('input').fill(text);
  await page.keyboard.press('Enter');
}

/** The texts of the notifications that are shown. */
export async function notifications(page: Page): Promise<string[]> {
  return page.locator('.notification-toast .notification-list-item-message').allInnerTexts();
}

/** The notification with this text, waited for. */
export async function notification(page: Page, text: string | RegExp): Promise<Locator> {
  const toast = page.locator('.notification-toast').filter({ hasText: text }).first();
  await toast.waitFor();
  return toast;
}

/** Presses a button of the notification with this text. */
export async function pressNotification(page: Page, text: string | RegExp, button: string): Promise<void> {
  const toast = await notification(page, text);
  await toast.locator('.monaco-button', { hasText: button }).first().click();
}

/** The whole text of the modal dialog, waited for. */
export async function dialogText(page: Page): Promise<string> {
  return visibleText(page.locator('.monaco-dialog-box .dialog-message-container'));
}

/** What a person reads there, waited for. */
export async function visibleText(locator: Locator): Promise<string> {
  await locator.first().waitFor();
  return (await locator.allInnerTexts()).join('\n');
}

/** Presses a button of the modal dialog. */
export async function pressDialog(page: Page, button: string): Promise<void> {
  await page.locator('.monaco-dialog-box .monaco-button').filter({ hasText: button }).first().click();
}

/**
 * The tab that `action` opens in the browser. In a folder that is not trusted the editor asks before it opens an address of
 * a host it does not know; with `confirm` that dialog's Open is pressed.
 */
export async function captureTab(
  context: BrowserContext,
  action: () => Promise<void>,
  confirm?: { readonly in: Page },
): Promise<Page> {
  const opened = context.waitForEvent('page');
  await action();
  if (confirm !== undefined) {
    await pressDialog(confirm.in, 'Open');
  }
  return opened;
}

/** Opens a file of the folder by name and gives its editor the focus. `search` tells files of one name apart: the whole path. */
export async function openFile(page: Page, name: string, search = name): Promise<void> {
  await quickOpen(page, search, { hasText: name });
  const editor = page.locator(
    `.editor-instance[aria-label*=${JSON.stringify(name)}] .view-lines, .editor-instance .monaco-editor .view-lines`,
  );
  await editor.first().click();
}
