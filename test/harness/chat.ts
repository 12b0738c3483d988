import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { runCommand } from './actions.ts';

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

/** Waits until the chat is open with this prompt in its input, ready to be sent. */
export async function promptReady(page: Page, prompt: RegExp): Promise<void> {
  await page.locator(`${panel} .interactive-input-part .view-lines`, { hasText: prompt }).first().waitFor();
}

/**
 * Types a message into the chat view and sends it. It does not wait for the answer. After an answer the view begins the next
 * message with the same participant: a text that names one replaces that, any other follows it.
 *
 * @param attached name of a file of the folder, attached with `#`.
 */
export async function send(page: Page, text: string, attached?: string): Promise<void> {
  await openChat(page);
  if (text.startsWith('@')) {
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
  }
  await page.keyboard.insertText(text);
  if (attached !== undefined) await attach(page, attached);
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

async function attach(page: Page, file: string): Promise<void> {
  await page.keyboard.insertText(' ');
  await page.keyboard.type(`#${path.parse(file).name}`); // Only what is typed opens the list of files.
  const row = page.locator('.suggest-widget.visible .monaco-list-row.focused', { hasText: file });
  const isOffered = () =>
    row.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  for (const late = Date.now() + 30_000; !(await isOffered()) && Date.now() < late; ) {
    await page.keyboard.press('Control+Space'); // While the editor is busy the list may come late, and then closes at once.
  }
  await page.keyboard.press('Tab');
  await page.locator(`${panel} .chat-attached-context`, { hasText: file }).waitFor();
}

/** Presses the chat's own Stop. */
export async function stop(page: Page): Promise<void> {
  await page.locator(`${panel} .chat-execute-toolbar .codicon-stop-circle`).click();
}

/** The suggestions below the newest answer. */
export function suggestions(page: Page): Locator {
  return page.locator(`${panel} .interactive-session-followups .monaco-button`);
}

/** Switches the chat view's mode; the picker offers Ask no more, the palette does. */
export async function useMode(page: Page, mode: 'Agent' | 'Ask'): Promise<void> {
  await runCommand(page, `Chat: Open Chat (${mode})`);
  await page.locator(`${panel} .chat-mode-picker-item`, { hasText: mode }).waitFor();
}

/** Opens the list of models, all groups unfolded, and gives the labels as they are read aloud. Escape closes it. */
export async function openModelPicker(page: Page): Promise<string[]> {
  await openChat(page);
  const rows = page.locator('.action-widget .monaco-list-row.action');
  const group = rows.filter({ hasText: 'Other Models' });
  const isUnfolded = async (): Promise<boolean> => {
    await page.locator(`${panel} .model-picker-name`).click();
    await rows.first().waitFor();
    if ((await group.count()) === 0) return true;
    const before = await rows.count();
    await group.click();
    return rows
      .nth(before)
      .waitFor({ timeout: 5_000 })
      .then(
        () => true,
        () => false,
      );
  };
  // The group may have been open, and VS Code loses the whole list when the input beneath is drawn anew meanwhile.
  for (const late = Date.now() + 45_000; !(await isUnfolded()) && Date.now() < late; ) {
    await page.keyboard.press('Escape');
    await rows.first().waitFor({ state: 'detached' });
  }
  return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
}

/** Picks a model by its name in that list. */
export async function pickModel(page: Page, name: string): Promise<void> {
  await openModelPicker(page);
  await page
    .locator('.action-widget')
    .getByRole('option', { name: new RegExp(`^${name}(,|$)`) })
    .click();
  await page.locator(`${panel} .model-picker-name`, { hasText: name }).waitFor();
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
export async function chat(page: Page, text: string, attached?: string): Promise<string> {
  await send(page, text, attached);
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

/** A request's text is shown with its Markdown rendered: its first words, up to any markup, are enough to find it. */
function plain(text: string): string {
  const words = text.replace(/^@\w+\s+(?:\/\w+\s+)?/, '').slice(0, 20);
  return words.replace(/[`*[<\n][\s\S]*/, '').trim();
}
