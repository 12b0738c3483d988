import type { Locator, Page } from 'playwright-core';

/** The chat view, wherever it stands; a chat opened as an editor is another one. */
const panel = '.part:not(.editor) .interactive-session';

/** Focuses the chat view's input, opening the view when it is closed. */
export async function openChat(page: Page): Promise<Locator> {
  const input = page.locator(`${panel} .interactive-input-part .monaco-editor`).first();
  const late = Date.now() + 30_000;
  while (!(await input.isVisible()) && Date.now() < late) {
    // The command of that name in the palette opens a chat as an editor; the keys open the view.
    await page.keyboard.press('Control+Alt+I');
    await input.waitFor({ timeout: 3000 }).catch(() => undefined);
  }
  await input.click();
  return input;
}

/**
 * Types a message into the chat view and sends it. It does not wait for the answer. After an answer the view begins the next
 * message with the same participant: a text that names one replaces that, any other follows it.
 */
export async function send(page: Page, text: string): Promise<void> {
  await openChat(page);
  if (text.startsWith('@')) {
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
  }
  await page.keyboard.insertText(text);
  const rows = page.locator(`${panel} .monaco-list-row`, { has: page.locator('.chat-most-recent-response') });
  const before = await rows.evaluateAll((all) => all[0]?.getAttribute('data-index'));
  // A list of participants or files may be open over the input, and Enter would choose from it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page
    .locator(`${panel} .interactive-request`)
    .filter({ hasText: plain(text) })
    .last()
    .waitFor();
  // Until its answer has a row, the newest answer is the one before.
  await page
    .locator(`${panel} .monaco-list-row:not([data-index="${before}"])`, {
      has: page.locator('.chat-most-recent-response'),
    })
    .waitFor();
}

/** The newest answer, also while it is being written. */
export function newestAnswer(page: Page): Locator {
  return page.locator(`${panel} .interactive-response.chat-most-recent-response`);
}

/** What the newest answer says once it is complete: headers and buttons left out. */
export async function answer(page: Page): Promise<string> {
  const done = page.locator(`${panel} .interactive-response.chat-most-recent-response:not(.chat-response-loading)`);
  await done.waitFor({ timeout: 60_000 });
  return (await done.locator('.value').allInnerTexts()).join('\n');
}

/** Sends a message and gives the complete answer. */
export async function chat(page: Page, text: string): Promise<string> {
  await send(page, text);
  return answer(page);
}

/**
 * Presses a button of the question in the chat whether a tool may run: `Allow Once`, `Skip`. The menu beside the first
 * button holds `Allow in this Session` and the like.
 */
export async function confirmTool(page: Page, button: string): Promise<void> {
  // The question is in the document twice, once invisible.
  const question = page.locator('.chat-confirmation-widget-container .monaco-button:visible');
  await question.filter({ hasText: button }).first().click();
}

/** A request's text is shown with its Markdown rendered: its first words are enough to find it. */
function plain(text: string): string {
  return text.replace(/^@\w+\s+(?:\/\w+\s+)?/, '').slice(0, 20);
}
