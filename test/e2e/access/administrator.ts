import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { dialog, notification, pressDialog, quickInput, runCommand } from '../../harness/actions.ts';
import { answer, send } from '../../harness/chat.ts';
import { counter } from '../../harness/sandboxControl.ts';
import { expand, extensionPage, treeRow, treeText } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

/** An administrator looks at who may do what: lets an agent know, browses, filters, asks, reviews and compares. */
test.describe('an administrator', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
  });

  const reads = () => counter(workbench.sandbox, 'identity GET /api/v1/organizations/meridian/groups');
  const question = /Share who can do what in "meridian" with [\s\S]*email addresses/;

  // Another agent asks Rolecall's tools for people's names. The editor lets such calls pass without a question of its own, as
  // it does after "Allow in this Session".
  test('is asked by Rolecall itself before another agent is told: the organization is named, nothing is read yet', async () => {
    await send(page, '@outsider meridian');
    await expect(dialog(page)).toHaveText(question);
    assert.equal(await reads(), 0);
    await workbench.screenshot('sharing-consent');
    await pressDialog(page, 'Cancel');
    assert.match(await answer(page), /did not allow this\. Nothing was read/);
    assert.equal(await reads(), 0);
  });

  test('is asked again, each time, and what is allowed is read once', async () => {
    await send(page, '@outsider meridian');
    await expect(dialog(page)).toHaveText(question);
    assert.equal(await reads(), 0);
    await pressDialog(page, 'Allow Once');
    assert.match(await answer(page), /It was given: Groups of meridian: 12\./);
    assert.equal(await reads(), 1);
  });

  test('sees at a glance what is not well: in words, in the badge, in the tooltip', async () => {
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await expect.poll(() => treeText(page)).toMatch(/^administrators[\s\S]*Degraded/m);
    await page.locator('.activitybar .action-item', { hasText: /^\d+$/ }).first().waitFor();
    await workbench.screenshot('tree');
  });

  test('filters over everything that was read, sees the filter in the view, and clears it', async () => {
    await runCommand(page, 'Rolecall: Filter…');
    await page.locator('.quick-input-title', { hasText: /^Filter$/ }).waitFor();
    await quickInput(page).locator('input').fill('helth:degraded');
    await page.locator('.quick-input-message', { hasText: 'Did you mean "health:"?' }).waitFor();
    await workbench.screenshot('filter-unknown-key');
    await quickInput(page).locator('input').fill('health:degraded');
    await page.locator('.quick-input-message', { hasText: /\d+ groups?/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.part.sidebar .message', { hasText: 'health:degraded' }).waitFor();
    await page.locator('.part.sidebar .monaco-list-row[aria-label^="administrators"]').waitFor({ state: 'detached' });
    await treeRow(page, 'site-reliability').waitFor();
    assert.doesNotMatch(await treeText(page), /^administrators/m);
    await workbench.screenshot('filter');
    await runCommand(page, 'Rolecall: Clear Filter');
    await treeRow(page, 'administrators').waitFor();
  });

  test('asks who has a role, and gets every holder with the path', async () => {
    await runCommand(page, 'Rolecall: Who Has This Role?', 'meridian', 'administrator');
    await page.locator('.tab', { hasText: 'Who has administrator' }).waitFor();
    const rendered = extensionPage(page);
    const row = rendered.getByRole('row', { name: /^ada\.moreau@meridian\.example subject administrators/ });
    await row.waitFor();
    await workbench.screenshot('who-has');
    await row.getByRole('link', { name: 'administrators' }).click();
    await expect(treeRow(page, 'administrators')).toHaveAttribute('aria-selected', 'true');
    await workbench.screenshot('who-has-revealed');
  });

  test('sees what one person can reach, and through which group', async () => {
    await runCommand(page, 'Rolecall: Show Effective Access', 'meridian');
    await quickInput(page).locator('input').fill('ada.moreau');
    await page.keyboard.press('Enter');
    await page.locator('.tab', { hasText: 'Effective access of ada.moreau' }).waitFor();
    await extensionPage(page)
      .getByRole('row', { name: /^administrator administrators/ })
      .waitFor();
    await workbench.screenshot('effective-access');
  });

  test('reads a review, and takes it along as a file', async () => {
    await runCommand(page, 'Rolecall: Show Access Review', 'meridian');
    const rendered = extensionPage(page);
    await rendered.getByRole('heading', { name: 'Administrators', exact: true }).waitFor();
    await workbench.screenshot('review');
    await runCommand(page, 'Rolecall: Copy as Markdown');
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await expect.poll(copied).toMatch(/^# Access review of meridian\n/);
  });

  test('exports a review', async () => {
    await runCommand(page, 'Rolecall: Export Access Review…', 'meridian', 'Markdown, for reading');
    await quickInput(page).locator('input').waitFor();
    await page.keyboard.press('Enter'); // The name that is offered, in the workspace.
    await notification(page, 'Access review saved to access-review-meridian');
    const { folder } = workbench;
    const name = fs.readdirSync(folder).find((each) => /^access-review-meridian-[\d-]+\.md$/.test(each)) ?? '';
    const file = path.join(folder, name);
    const text = fs.readFileSync(file, 'utf8');
    assert.match(text, /meridian/);
    assert.match(text, /ada\.moreau@meridian\.example/);
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  test('keeps a snapshot and compares with it', async () => {
    await runCommand(page, 'Rolecall: Save Snapshot of Access', 'meridian');
    await notification(page, /snapshot/i);
    await runCommand(page, 'Notifications: Clear All Notifications');
    await runCommand(page, 'Rolecall: Compare with Snapshot…', 'meridian', /./);
    await page
      .locator('.notification-toast, .tab')
      .filter({ hasText: /no(thing)? .*chang|difference|changes/i })
      .first()
      .waitFor();
    await workbench.screenshot('compare');
  });
});
