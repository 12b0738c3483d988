import path from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import { attempt, runCommand } from './actions.ts';

/** The chat view, wherever it stands; a chat opened as an editor is another one. */
const panel = '.part:not(.editor) .interactive-session';

/** Focuses the chat view's input, opening the view when it is closed. */
export async function openChat(page: Page): Promise<Locator> {
  const input = page.locator(`${panel} .interactive-input-part .monaco-editor`).first();
  await attempt(async (quickly) => {
    // The command of that name in the palette opens a chat as an editor; the keys open the view.
    if (!(await input.isVisible())) await page.keyboard.press('Control+Alt+I');
    await input.getByRole('textbox').first().focus(quickly); // A click would meet the notifications above it.
    await expect(input).toHaveClass(/focused/, quickly);
  });
  return input;
}

/** Begins a new chat, without a participant in its input. */
export async function newChat(page: Page): Promise<void> {
  const asked = page.locator(`${panel} .interactive-request`);
  await attempt(async (quickly) => {
    await openChat(page);
    await page.keyboard.press('Control+N');
    await expect(asked).toHaveCount(0, quickly);
  });
}

/** Opens the chat and waits until the extension has told the editor its models. */
export async function waitForModels(page: Page): Promise<void> {
  await openChat(page);
  await expect(page.locator(`${panel} .model-picker-name`)).toHaveText('Rolecall');
}

/** Waits until the chat is open with this prompt in its input, ready to be sent. */
export async function promptReady(page: Page, prompt: RegExp): Promise<void> {
  await expect(page.locator(`${panel} .interactive-input-part .view-lines`).first()).toHaveText(prompt);
}

/**
 * Types a message into the chat view and sends it; resolves when its answer has a row, without waiting for the answer.
 * After an answer the view begins the next message with the same participant: a text that names one replaces that, any
 * other text follows it.
 *
 * @param attached name of a file of the folder, attached with `#`.
 */
export async function send(page: Page, text: string, attached?: string): Promise<void> {
  const newest = page.locator(`${panel} .monaco-list-row`, { has: page.locator('.chat-most-recent-response') });
  const before = await newest.evaluateAll((all) => all[0]?.getAttribute('data-index'));
  const written = (input: Locator) => expect(input.locator('.view-lines'));
  await attempt(async (quickly) => {
    const input = await openChat(page);
    if (text.startsWith('@')) {
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Delete');
      await written(input).toHaveText('', quickly);
    }
    await page.keyboard.insertText(text);
    await written(input).toContainText(plain(text), quickly);
  });
  if (attached !== undefined) await attach(page, attached);
  // Until its answer has a row, the newest answer is the previous one.
  const next = page.locator(`${panel} .monaco-list-row:not([data-index="${before}"])`, {
    has: page.locator('.chat-most-recent-response'),
  });
  // A list of participants or files may be open over the input, and Enter would choose from it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page
    .locator(`${panel} .interactive-request`)
    .filter({ hasText: plain(text) })
    .last()
    .waitFor();
  await next.waitFor();
}

/** Types a message without a participant into the chat view and sends it: it is asked. The editor may ask something first. */
export async function sendWithoutParticipant(page: Page, text: string): Promise<void> {
  const asked = questions(page).filter({ hasText: text });
  await attempt(async (quickly) => {
    if ((await asked.count()) > 0) return;
    await write(page, text, quickly);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    // While the editor starts what answers, it may begin the chat anew and forget what was typed.
    await asked.first().waitFor(quickly);
  });
}

/** Writes a text into the chat's input, replacing its content. */
export async function write(page: Page, text: string, limit?: { readonly timeout: number }): Promise<Locator> {
  const input = await openChat(page);
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await expect(input.locator('.view-lines')).toHaveText('', limit);
  await page.keyboard.insertText(text);
  await expect(input.locator('.view-lines')).toHaveText(text.replaceAll(' ', '\u00a0'), limit);
  return input;
}

async function attach(page: Page, file: string): Promise<void> {
  await page.keyboard.insertText(' ');
  await page.keyboard.type(`#${path.parse(file).name}`); // Only what is typed opens the list of files.
  const row = page.locator('.suggest-widget.visible .monaco-list-row.focused', { hasText: file });
  await attempt(async (quickly) => {
    // While the editor is busy the list may come late, and then closes at once.
    if (!(await row.isVisible())) await page.keyboard.press('Control+Space');
    await row.waitFor(quickly);
  });
  await page.keyboard.press('Tab');
  await page.locator(`${panel} .chat-attached-context`, { hasText: file }).waitFor();
}

/** Presses the chat's own Stop: the answer counts as complete. */
export async function stop(page: Page): Promise<void> {
  await page.locator(`${panel} .chat-execute-toolbar .codicon-stop-circle`).click();
  await completeAnswer(page).waitFor();
}

/** The questions that are in sight. */
export function questions(page: Page): Locator {
  return page.locator(`${panel} .interactive-request`);
}

/** The suggestions below the newest answer. */
export function suggestions(page: Page): Locator {
  return page.locator(`${panel} .interactive-session-followups .monaco-button`);
}

/** Switches the chat view's mode. The picker no longer offers Ask, but the palette does. */
export async function useMode(page: Page, mode: 'Agent' | 'Ask'): Promise<void> {
  const picked = page.locator(`${panel} .chat-mode-picker-item`, { hasText: mode });
  await attempt(async (quickly) => {
    await runCommand(page, `Chat: Open Chat (${mode})`);
    await picked.waitFor(quickly);
  });
}

/** Opens the list of models, all groups unfolded, and gives the labels as they are read aloud. Escape closes it. */
export async function openModelPicker(page: Page): Promise<string[]> {
  await openChat(page);
  const rows = pickerList(page).locator('.monaco-list-row.action');
  const group = rows.filter({ hasText: 'Other Models' });
  await attempt(async (quickly) => {
    // VS Code loses the whole list when the input beneath is drawn anew meanwhile, or leaves it open without its rows, where
    // only a key within closes it; the group may be open or folded.
    const list = pickerList(page).first();
    const search = list.locator('input');
    if (await list.isVisible())
      await ((await search.count()) > 0 ? search.first() : page.locator('body')).press('Escape', quickly);
    await list.waitFor({ state: 'hidden', ...quickly });
    await page.locator(`${panel} .model-picker-name`).click(quickly);
    await rows.first().waitFor(quickly);
    if ((await group.count()) === 0) return;
    const before = await rows.count();
    await group.click(quickly);
    await rows.nth(before).waitFor(quickly);
  });
  return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
}

/** The list alone: the description of the row under the pointer is a widget of the same kind, with rows of its own. */
function pickerList(page: Page): Locator {
  return page.locator('.action-widget:not(.action-list-submenu-panel)');
}

/** Picks a model by its name in that list. */
export async function pickModel(page: Page, name: string): Promise<void> {
  await attempt(async (quickly) => {
    await openModelPicker(page);
    const option = pickerList(page).getByRole('option', { name: new RegExp(`^${name}(,|$)`) });
    await option.click(quickly);
    await page.locator(`${panel} .model-picker-name`, { hasText: name }).waitFor(quickly);
  });
}

/** The newest answer, also while it is being written. */
export function newestAnswer(page: Page): Locator {
  return page.locator(`${panel} .interactive-response.chat-most-recent-response`);
}

function completeAnswer(page: Page): Locator {
  return page.locator(`${panel} .interactive-response.chat-most-recent-response:not(.chat-response-loading)`);
}

/** The text of the newest answer once it is complete, without headers and buttons. */
export async function answer(page: Page): Promise<string> {
  const done = completeAnswer(page);
  await done.waitFor();
  // The editor writes some words a second, also of an answer that is complete: until nothing is added.
  let text = '';
  const grows = async () => {
    const before = text;
    text = (await done.locator('.value').allInnerTexts()).join('\n');
    return text !== before;
  };
  await expect.poll(grows, { intervals: [50] }).toBe(false);
  return text;
}

/** Sends a message and gives the complete answer. */
export async function chat(page: Page, text: string, attached?: string): Promise<string> {
  await send(page, text, attached);
  return answer(page);
}

/** A text is shown with its Markdown rendered: its first words, up to any markup, are enough to find it. */
function plain(text: string): string {
  const words = text.replace(/^@\w+\s+(?:\/\w+\s+)?/, '').slice(0, 20);
  return words.replace(/[`*[<\n{][\s\S]*/, '').trim();
}
