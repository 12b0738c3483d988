import { type BrowserContext, expect, type Locator, type Page } from '@playwright/test';

/*
 * What users do in a workbench. Each action names the state that it leads to, and is repeated until that holds; none
 * sleeps. To wait for something to be visible, use `waitFor`: `expect` takes an accessibility snapshot of the whole
 * window at each look.
 */

/** How long one of several attempts may take. */
const oneAttempt = { timeout: 5000 } as const;

/** Repeats `act` until it succeeds. `quickly` keeps each attempt short. */
export async function attempt(act: (quickly: typeof oneAttempt) => Promise<void>): Promise<void> {
  await expect(() => act(oneAttempt)).toPass({ intervals: [100], timeout: 120_000 });
}

/**
 * Opens the command palette, runs the command whose whole title this is, as in `Rolecall: Sign In`, and answers the quick
 * picks that it opens, each by the label of a row.
 */
export async function runCommand(page: Page, title: string, ...choices: readonly (string | RegExp)[]): Promise<void> {
  // The whole label: what was typed is highlighted in a longer one too, as a text of its own.
  const whole = new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
  await attempt(async (quickly) => {
    await quickOpen(page, `>${title}`, { has: page.locator('.label-name', { hasText: whole }) }, quickly);
    for (const label of choices) await rowLabelled(page, label).click(quickly);
  });
}

/**
 * Types into the editor's one search box and clicks the row that it offers. The palette lists the commands known when it was
 * opened: an extension's come later in a fresh window. And while a window or an editor is opening, it may take the focus and
 * close the palette.
 */
async function quickOpen(
  page: Page,
  text: string,
  wanted: Parameters<Locator['filter']>[0],
  quickly: typeof oneAttempt,
): Promise<void> {
  // An earlier attempt may have left one open. Only then: the key would also undo a selection.
  if (await quickInput(page).isVisible()) await page.keyboard.press('Escape');
  await page.keyboard.press('F1');
  const input = quickInput(page).locator('input');
  // Without keys, like `fill`: an editor that takes the focus meanwhile would receive them.
  await input.evaluate((element, value) => void Object.assign(element, { value }), text, quickly);
  await input.dispatchEvent('input', { bubbles: true }, quickly);
  await quickPickRows(page).filter(wanted).first().click(quickly);
}

/** The quick pick or input box that is open. */
export function quickInput(page: Page): Locator {
  return page.locator('.quick-input-widget:visible');
}

export function quickPickRows(page: Page): Locator {
  return quickInput(page).locator('.quick-input-list .monaco-list-row');
}

/** The labels of the open quick pick's visible rows. */
export function quickPickLabels(page: Page): Locator {
  return quickPickRows(page).locator('.quick-input-list-row:first-child .label-name');
}

function rowLabelled(page: Page, label: string | RegExp): Locator {
  return quickPickRows(page)
    .filter({ has: page.getByText(label, { exact: true }) })
    .first();
}

/** Chooses the row of the open quick pick that has this label. */
export async function choose(page: Page, label: string): Promise<void> {
  await rowLabelled(page, label).click();
}

/** Types into the open input box and confirms. */
export async function answerInput(page: Page, text: string, limit?: typeof oneAttempt): Promise<void> {
  await quickInput(page).locator('input').fill(text, limit);
  await page.keyboard.press('Enter');
}

/** Chooses from the menu that is open. It takes no clicks in the moment in which it opens, but keys. */
export async function chooseMenuItem(page: Page, label: string | RegExp): Promise<void> {
  await page.locator('.monaco-menu .action-item', { hasText: label }).hover();
  await page.locator('.monaco-menu .action-item.focused', { hasText: label }).waitFor();
  await page.keyboard.press('Enter');
}

/** The text of the open modal dialog. */
export function dialog(page: Page): Locator {
  return page.locator('.monaco-dialog-box .dialog-message-container');
}

/** Presses a button of the modal dialog. */
export async function pressDialog(page: Page, button: string): Promise<void> {
  await page.locator('.monaco-dialog-box .monaco-button').filter({ hasText: button }).first().click();
}

/**
 * The notification with this text: the pop-up, or its entry in the list of all, because a pop-up is hidden after a
 * while or at once.
 */
export async function notification(page: Page, text: string | RegExp): Promise<Locator> {
  const item = page.locator('.notification-list-item').filter({ hasText: text }).filter({ visible: true }).first();
  await attempt(async (quickly) => {
    const isSeen = await item.waitFor(quickly).then(
      () => true,
      () => false,
    );
    if (!isSeen) {
      await runCommand(page, 'Notifications: Show Notifications');
      await item.waitFor(quickly);
    }
  });
  return item;
}

/** Presses a button of the notification with this text. */
export async function pressNotification(page: Page, text: string | RegExp, button: string): Promise<void> {
  await attempt(async (quickly) => {
    const item = await notification(page, text);
    await item.hover(quickly);
    await item.locator('.monaco-button', { hasText: button }).first().click(quickly);
  });
}

/** The tab that `action` opens in the browser. */
export async function captureTab(context: BrowserContext, action: () => Promise<void>): Promise<Page> {
  const opened = context.waitForEvent('page');
  await action();
  return opened;
}

/**
 * Opens a file of the folder by name and focuses its editor. `search` distinguishes files of one name: the whole path.
 */
export async function openFile(page: Page, name: string, search = name): Promise<void> {
  const tab = page.locator('.editor-group-container.active .tab.active', { hasText: name });
  const editor = page.locator('.editor-group-container.active .editor-instance .monaco-editor').first();
  await attempt(async (quickly) => {
    await quickOpen(page, search, { hasText: name }, quickly);
    await tab.waitFor(quickly);
    // A click in the middle of a long file may scroll it.
    await editor.locator('.native-edit-context').focus(quickly);
    await expect(editor).toHaveClass(/focused/, quickly);
  });
}

/** Closes what earlier tests have left open. */
export async function tidyUp(page: Page): Promise<void> {
  await runCommand(page, 'View: Close All Editors');
  await runCommand(page, 'Notifications: Clear All Notifications');
}

/**
 * Counts the user's actions from now on: each press of a button or a key, in every window of the browser. The windows
 * themselves report it, so that no helper can do something uncounted; only text that is inserted as a whole is not
 * counted.
 */
export async function countActions(context: BrowserContext): Promise<() => number> {
  let count = 0;
  await context.exposeBinding('countAction', () => {
    count += 1;
  });
  await context.addInitScript(
    `for (const type of ['pointerdown', 'keydown']) {
      addEventListener(type, ({ isTrusted }) => isTrusted && countAction(), true);
    }`,
  );
  return () => count;
}
