import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from '@playwright/test';
import { readManifest } from '../../scripts/paths.ts';
import { answerInput, dialog, openFile, pressDialog, runCommand } from '../harness/actions.ts';
import { answer, openChat, promptReady, send } from '../harness/chat.ts';
import { firstPrompt, signInAs } from '../harness/signIn.ts';
import { expand, extensionPage, showOwnView, treeRow, treeText } from '../harness/views.ts';
import { test, type Workbench } from '../harness/workbench.ts';

/** The first minute of a newcomer, who installs the VSIX in a fresh profile: no account, no network, no GitHub sign-in, no Copilot. */
test.describe('a newcomer', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.open({ vsix: true, builtin: 'all' });
  });

  function installedFiles(): string[] {
    const { publisher, name, version } = readManifest();
    const installed = `${publisher}.${name}-${version}`;
    const folder = fs.readdirSync(workbench.extensionsDir).find((entry) => entry.startsWith(installed));
    assert.ok(folder, `${installed} is installed`);
    const full = path.join(workbench.extensionsDir, folder);
    return fs
      .readdirSync(full, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(full, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  }

  test('gets with the VSIX the manifest, its strings, the bundles, the documents and media, and nothing else', () => {
    const files = installedFiles();
    const needed = [
      'package.json',
      'package.nls.json',
      'dist/extension.cjs',
      'dist/features.cjs',
      'dist/cli.cjs',
      'dist/sandbox.js',
      'dist/matrix.js',
      'dist/matrix.css',
      'dist/page.js',
      'dist/page.css',
      'dist/ThirdPartyNotices.txt',
      'readme.md',
      'changelog.md',
      'LICENSE.txt',
    ];
    assert.deepEqual(
      needed.filter((file) => !files.includes(file)),
      [],
    );
    // .vsixmanifest is the editor's own.
    const others = files.filter((file) => !needed.includes(file) && file !== '.vsixmanifest');
    assert.deepEqual(
      others.filter((file) => !/^(?:media|l10n)\//.test(file)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => /\.(?:ts|map|test\.js)$/.test(file)),
      [],
    );
  });

  test('is offered the sandbox in the empty view', async () => {
    const side = await showOwnView(workbench.page);
    await side.getByRole('button', { name: 'Try the Sandbox' }).waitFor();
    await side.getByRole('button', { name: 'Configure Your Cloud' }).waitFor();
    await workbench.screenshot('welcome');
  });

  test('signs in to the sandbox on the provider’s page', async () => {
    const { page } = workbench;
    const side = await showOwnView(page);
    const tryIt = side.getByRole('button', { name: 'Try the Sandbox' });
    await signInAs(workbench, 'Ada Moreau', () => tryIt.click());
    await treeRow(page, 'meridian').waitFor();
  });

  test('sees the organization’s groups and roles, with members and states in words', async () => {
    const { page } = workbench;
    await expand(page, 'meridian');
    await expand(page, 'Roles');
    await treeRow(page, 'administrator').waitFor();
    await expand(page, 'Groups');
    await expand(page, 'platform-engineers');
    for (const seen of [/site-reliability.*Degraded/, /Roles granted 4/, /not listed/, /@meridian\.example/]) {
      await expect.poll(() => treeText(page)).toMatch(seen);
    }
    await workbench.screenshot('tree');
  });

  test('only has to send the prompt that stands in the chat to get an answer that used a tool', async () => {
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

  test('gets an answer with a workspace tool, after allowing exactly that', async () => {
    const { page } = workbench;
    await send(page, '@rolecall use the count_words tool on `handover.md`');
    await expect(dialog(page)).toHaveText(/count_words[\s\S]*Argument: "handover\.md"/);
    await workbench.screenshot('tool-consent');
    await workbench.screenshot('dialog-contained', page.locator('.monaco-dialog-box'));
    await pressDialog(page, 'Allow Once');
    const said = await answer(page);
    // The editor folds what was done on the way; the answer says whose it is.
    assert.match(said, /Completed.\d+.steps/);
    assert.match(said, /Result.of.count_words/);
    const words = fs
      .readFileSync(path.join(workbench.folder, 'handover.md'), 'utf8')
      .split(/\s+/)
      .filter((word) => word !== '').length;
    assert.match(said, new RegExp(`${words}.handover\\.md`));
    await workbench.screenshot('chat-tool');
  });

  test('finds the steps that were done ticked in Get Started, which was not open meanwhile', async () => {
    const { page } = workbench;
    await runCommand(page, 'Rolecall: Get Started');
    const steps = page.locator('.getting-started-step');
    await expect(steps).toHaveCount(4);
    await expect(steps.locator('.codicon-getting-started-step-checked')).toHaveCount(4);
    await workbench.screenshot('walkthrough');
  });

  test('reads on the page of the extension what it is, without a broken picture', async () => {
    const { page } = workbench;
    await runCommand(page, 'Extensions: Show Installed Extensions');
    await page.locator('.extension-list-item', { hasText: 'Rolecall' }).first().click();
    const details = extensionPage(page);
    await details.getByRole('heading', { name: 'First minute' }).waitFor();
    await expect(details.locator('img:not([src^="https:"])')).toHaveCount(0);
    await workbench.screenshot('extension-page');
    await showOwnView(page);
  });

  test('asks about a selection and gets the answer, rendered, beside', async () => {
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

  test('is still signed in to the sandbox after a reload', async () => {
    const { page } = workbench;
    await page.reload();
    const side = await showOwnView(page); // The walkthrough, which may be open again, has the same button.
    await treeRow(page, 'meridian').waitFor();
    await expect(side.getByRole('button', { name: 'Try the Sandbox' })).toHaveCount(0);
  });
});
