import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { at } from '../../scripts/paths.ts';
import { answerInput, dialogText, openFile, pressDialog, runCommand } from '../harness/actions.ts';
import { answer, chat, newestAnswer, openChat, promptReady, send } from '../harness/chat.ts';
import { firstPrompt, signInAs } from '../harness/signIn.ts';
import { expand, extensionPage, openView, treeRow, treeRows, waitForExtension } from '../harness/views.ts';
import { openWorkbench, type Workbench } from '../harness/workbench.ts';

/** The first minute of a newcomer in a fresh profile: no account, no network, no GitHub sign-in, no Copilot. */
describe('a newcomer', () => {
  let workbench: Workbench;

  before(async () => {
    workbench = await openWorkbench({ folder: at('examples', 'workspace') });
    await waitForExtension(workbench.page);
  });

  after(() => workbench?.stop());

  it('is offered the sandbox in the empty view', async () => {
    const side = await openView(workbench.page);
    await side.getByRole('button', { name: 'Try the Sandbox' }).waitFor();
    await side.getByRole('button', { name: 'Configure Your Cloud' }).waitFor();
    await workbench.screenshot('welcome');
  });

  it('signs in to the sandbox on the provider’s page', async () => {
    const { page } = workbench;
    const side = await openView(page);
    await signInAs(workbench, 'Ada Moreau', () => side.getByRole('button', { name: 'Try the Sandbox' }).click());
    await page.bringToFront();
    await treeRow(page, 'meridian');
  });

  it('sees the organization’s groups and roles, with members and states in words', async () => {
    const { page } = workbench;
    await expand(page, 'meridian');
    await expand(page, 'Roles');
    await treeRow(page, 'administrator');
    await expand(page, 'Groups');
    await expand(page, 'platform-engineers');
    await workbench.screenshot('tree');
    const rows = (await treeRows(page)).join('\n');
    assert.match(rows, /site-reliability, health: degraded|site-reliability.*degraded/);
    assert.match(rows, /Roles granted 4/);
    assert.match(rows, /not listed/);
    assert.match(rows, /@meridian\.example/);
  });

  it('only has to send the prompt that stands in the chat to get an answer that used a tool', async () => {
    const { page } = workbench;
    await promptReady(page, firstPrompt);
    await workbench.screenshot('first-prompt');
    await openChat(page);
    await page.keyboard.press('Enter');
    const said = await answer(page);
    await workbench.screenshot('first-answer');
    assert.match(said, /Result.of.who_has_role/);
    assert.match(said, /ada\.moreau@meridian\.example/);
  });

  it('gets an answer with a workspace tool, after allowing exactly that', async () => {
    const { page } = workbench;
    await send(page, '@rolecall use the count_words tool on `handover.md`');
    const question = await dialogText(page);
    await workbench.screenshot('tool-consent');
    assert.match(question, /count_words/);
    assert.match(question, /Argument: "handover\.md"/);
    await pressDialog(page, 'Allow Once');
    const said = await answer(page);
    // The editor folds what was done on the way; the answer says whose it is.
    assert.match(said, /Completed.\d+.steps/);
    assert.match(said, /Result.of.count_words/);
    const words = fs
      .readFileSync(path.join(workbench.folder ?? '', 'handover.md'), 'utf8')
      .split(/\s+/)
      .filter((word) => word !== '').length;
    assert.match(said, new RegExp(`${words}.handover\\.md`));
    await workbench.screenshot('chat-tool');
  });

  it('asks about a selection and gets the answer, rendered, beside', async () => {
    const { page } = workbench;
    await openFile(page, 'rotate.py');
    await page.keyboard.press('Control+A');
    await runCommand(page, 'Rolecall: Ask About Selection…');
    await answerInput(page, 'What does this rotate?');
    const beside = extensionPage(page);
    await beside.locator('main[aria-busy="false"]').getByText('sandbox').first().waitFor();
    await page.locator('.notification-toast', { hasText: 'is answering' }).waitFor({ state: 'hidden' });
    await workbench.screenshot('ask-about-selection');
    assert.equal(await beside.locator('h1').innerText(), 'What does this rotate?');
  });

  it('is still signed in to the sandbox after a reload, and in a second window without another sign-in', async () => {
    const { page } = workbench;
    await page.reload();
    await waitForExtension(page);
    await openView(page);
    await treeRow(page, 'meridian');
    const second = await workbench.openWindow();
    await waitForExtension(second);
    const side = await openView(second);
    // The same folder: the editor keeps for both that they are in the sandbox.
    await treeRow(second, 'meridian');
    assert.equal(await side.getByRole('button', { name: 'Try the Sandbox' }).count(), 0);
    await second.close();
  });
});

describe('a newcomer who goes straight to chat', () => {
  let workbench: Workbench;

  before(async () => {
    workbench = await openWorkbench({ folder: at('examples', 'workspace') });
    await waitForExtension(workbench.page);
  });

  after(() => workbench?.stop());

  it('is asked by @rolecall to sign in, in the very first message', async () => {
    const { page } = workbench;
    const said = await chat(page, '@rolecall hello');
    await newestAnswer(page).getByRole('button', { name: 'Try the Sandbox' }).waitFor();
    await workbench.screenshot('first-message-signed-out');
    assert.match(said, /Rolecall does not know your cloud yet/);
  });
});
