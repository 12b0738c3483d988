import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { at } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
import { choose, notification, quickInput, runCommand } from '../harness/actions.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, openView, textOfEditor, treeRow, treeRows, waitForExtension } from '../harness/views.ts';
import { openWorkbench, type Workbench } from '../harness/workbench.ts';

/** An administrator looks at who may do what: browses, filters, asks, reviews and compares. */
describe('an administrator', () => {
  let sandbox: RunningSandbox;
  let workbench: Workbench;
  let page: Page;

  before(async () => {
    sandbox = await startSandbox();
    workbench = await openWorkbench({ folder: at('examples', 'workspace'), sandbox });
    page = workbench.page;
    await waitForExtension(page);
    const side = await openView(page);
    await signInAs(workbench, 'Ada Moreau', () => side.getByRole('button', { name: 'Try the Sandbox' }).click());
    await page.bringToFront();
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await treeRow(page, 'administrators');
  });

  after(async () => {
    await workbench?.stop();
    await sandbox?.stop();
  });

  const editor = () => page.locator('.part.editor .editor-group-container.active .monaco-editor').first();

  it('sees at a glance what is not well: in words, in the badge, in the tooltip', async () => {
    const rows = (await treeRows(page)).join('\n');
    assert.match(rows, /degraded/);
    await page.locator('.activitybar .action-item', { hasText: /^\d+$/ }).first().waitFor();
    await workbench.screenshot('tree');
  });

  it('filters over everything that was read, sees the filter in the view, and clears it', async () => {
    await runCommand(page, 'Rolecall: Filter…');
    await page.locator('.quick-input-title', { hasText: /^Filter$/ }).waitFor();
    await quickInput(page).locator('input').fill('helth:degraded');
    await page.locator('.quick-input-message', { hasText: 'Did you mean “health:”?' }).waitFor();
    await workbench.screenshot('filter-unknown-key');
    await quickInput(page).locator('input').fill('health:degraded');
    await page.locator('.quick-input-message', { hasText: /\d+ groups?/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.part.sidebar .message', { hasText: 'health:degraded' }).waitFor();
    await page.locator('.part.sidebar .monaco-list-row[aria-label^="administrators"]').waitFor({ state: 'detached' });
    const filtered = await treeRows(page);
    assert.ok(
      filtered.some((row) => row.startsWith('site-reliability')),
      filtered.join('\n'),
    );
    assert.ok(!filtered.some((row) => row.startsWith('administrators')), filtered.join('\n'));
    await workbench.screenshot('filter');
    await runCommand(page, 'Rolecall: Clear Filter');
    await treeRow(page, 'administrators');
  });

  it('asks who has a role, and gets every holder with the path', async () => {
    await runCommand(page, 'Rolecall: Who Has This Role?');
    await pickOrganization();
    await choose(page, 'administrator');
    await page.locator('.tab', { hasText: 'Who has administrator' }).waitFor();
    const text = await textOfEditor(page, editor());
    assert.match(text, /ada\.moreau@meridian\.example.*administrators/);
    await workbench.screenshot('who-has');
  });

  it('sees what one person can reach, and through which group', async () => {
    await runCommand(page, 'Rolecall: Show Effective Access…');
    await pickOrganization();
    await quickInput(page).locator('input').fill('ada.moreau');
    await page.keyboard.press('Enter');
    await page.locator('.tab', { hasText: 'Effective access of ada.moreau' }).waitFor();
    assert.match(await textOfEditor(page, editor()), /administrator.*administrators/);
    await workbench.screenshot('effective-access');
  });

  it('exports a review', async () => {
    await runCommand(page, 'Rolecall: Export Access Review…');
    await pickOrganization();
    await choose(page, 'Markdown, to read');
    await quickInput(page).locator('input').waitFor();
    await page.keyboard.press('Enter'); // The name that is offered, in the workspace.
    await notification(page, 'The access review is written');
    const folder = workbench.folder ?? '';
    const name = fs.readdirSync(folder).find((each) => /^access-review-meridian-[\d-]+\.md$/.test(each)) ?? '';
    const file = path.join(folder, name);
    const text = fs.readFileSync(file, 'utf8').replaceAll('\\', ''); // What Markdown would take for markup is escaped.
    assert.match(text, /meridian/);
    assert.match(text, /ada\.moreau@meridian\.example/);
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  it('keeps a snapshot and compares with it', async () => {
    await runCommand(page, 'Rolecall: Save Snapshot of Access');
    await pickOrganization();
    await notification(page, /snapshot/i);
    await runCommand(page, 'Notifications: Clear All Notifications');
    await runCommand(page, 'Rolecall: Compare with Snapshot…');
    await pickOrganization();
    await quickInput(page).locator('.quick-input-list .monaco-list-row').first().click();
    await page
      .locator('.notification-toast, .tab')
      .filter({ hasText: /no(thing)? .*chang|difference|changes/i })
      .first()
      .waitFor();
    await workbench.screenshot('compare');
  });

  /** Commands ask for the organization where there are several. */
  async function pickOrganization(): Promise<void> {
    await choose(page, 'meridian');
  }
});
