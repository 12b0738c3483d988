import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import {
  answerInput,
  attempt,
  chooseMenuItem,
  notification,
  openFile,
  quickInput,
  runCommand,
  tidyUp,
} from '../../harness/actions.ts';
import { answerWith, goOn } from '../../harness/sandboxControl.ts';
import { expand, extensionPage, treeRow } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

const RULES = `format: rolecall.access-rules
version: 1
organization: meridian
identity: { userIds: duplicates }
rules:
  - id: operators-do-not-audit
    kind: separation-of-duties
    roles: [cluster-operator, secrets-auditor]
    why: Whoever runs clusters does not audit their secrets.
    severity: error
`;

/** Access is kept as rules in a file. */
test.describe('access as code', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;
  const file = () => path.join(workbench.folder, 'meridian.access.yaml');

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    await tidyUp(page);
    await runCommand(page, 'View: Hide Secondary Side Bar');
  });

  /** For README: of a smaller window, so that it can be read there. */
  const picture = async (name: string) => {
    const whole = page.viewportSize() ?? assert.fail();
    await page.setViewportSize({ width: 1360, height: 720 });
    await expect.poll(async () => (await page.locator('.monaco-workbench').boundingBox())?.width).toBe(1360);
    await workbench.screenshot(name);
    await page.setViewportSize(whole);
  };
  const problems = () => page.locator('.markers-panel');

  test('a finding stands in Problems at its rule, and the tree filters by it', async () => {
    fs.writeFileSync(file(), RULES);
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await openFile(page, 'meridian.access.yaml');
    await runCommand(page, 'Problems: Focus on Problems View');
    await expect(problems()).toContainText(
      'dora.haddad@meridian.example has both cluster-operator and secrets-auditor',
    );
    await runCommand(page, 'Rolecall: Filter…');
    await answerInput(page, 'is:finding');
    await expect(treeRow(page, 'administrators')).toHaveCount(0);
    await treeRow(page, 'security-auditors').waitFor();
    await picture('access-rules');
  });

  test('it is waived by a quick fix, with a reason, an owner and a last day', async () => {
    const peek = page.locator('.zone-widget .marker-widget');
    await attempt(async (quickly) => {
      await openFile(page, 'meridian.access.yaml');
      await runCommand(page, 'Go to Next Problem (Error, Warning, Info)');
      await peek.waitFor(quickly);
      await page.keyboard.press('Escape');
      await peek.waitFor({ state: 'hidden', ...quickly });
      await page.keyboard.press('Control+.');
      await page.locator('.action-widget .monaco-list-row', { hasText: 'Add Waiver…' }).click(quickly);
    });
    // Each box looks like the one before.
    const answer = async (question: string, text?: string) => {
      await quickInput(page).getByText(question).waitFor();
      if (text !== undefined) await quickInput(page).locator('input').fill(text);
      await page.keyboard.press('Enter');
    };
    await answer('Why is this acceptable?', 'TCK-12');
    await answer('Who is responsible for the waiver?', 'ada.moreau@meridian.example');
    await answer('What is the last day of the waiver');
    await page.locator('.tab.active.dirty', { hasText: 'meridian.access.yaml' }).waitFor();
    await runCommand(page, 'File: Save');
    await expect(problems()).toContainText('waived until');
    assert.match(
      fs.readFileSync(file(), 'utf8'),
      /waivers:\n {2}- \{ rule: operators-do-not-audit, for: dora\.haddad@meridian\.example, owner: ada/,
    );
    await expect(treeRow(page, 'security-auditors')).toHaveCount(0);
    await workbench.screenshot('access-waived');
  });

  test('it is a finding again when the waiver has expired, and gone once nobody has both roles', async () => {
    const { sandbox } = workbench;
    const text = fs.readFileSync(file(), 'utf8').replace(/until: [\d-]+/, 'until: 2026-01-31');
    fs.writeFileSync(file(), text);
    await expect(problems()).toContainText('expired');
    await expect(problems()).not.toContainText('waived until');
    await treeRow(page, 'security-auditors').waitFor();
    await workbench.screenshot('access-expired');
    const metadata = {
      id: '0b6f7c1e-0000-4000-8000-000000000001',
      name: 'security-auditors',
      organizationId: 'meridian',
      creationTime: '2026-01-01T00:00:00Z',
      provisioningStatus: 'provisioned',
      healthStatus: 'healthy',
    };
    const spec = { userIDs: [], subjects: [], serviceAccountIDs: [], roleIDs: [] };
    await answerWith(sandbox, '/groups$', [{ metadata, spec }]);
    try {
      await runCommand(page, 'Rolecall: Refresh');
      await expect(problems()).not.toContainText('dora.haddad@meridian.example has');
      await expect(treeRow(page, 'security-auditors')).toHaveCount(0);
      await workbench.screenshot('access-fixed');
    } finally {
      await goOn(sandbox);
    }
    await runCommand(page, 'Rolecall: Clear Filter');
    await runCommand(page, 'Rolecall: Refresh');
    await expect(problems()).toContainText('dora.haddad@meridian.example has');
  });

  test('the check is a report, and what is granted a graph', async () => {
    await runCommand(page, 'Rolecall: Show Access Check');
    await extensionPage(page).getByText('operators-do-not-audit').first().waitFor();
    await workbench.screenshot('access-check');
    await treeRow(page, 'security-auditors').click({ button: 'right' });
    await chooseMenuItem(page, 'Show Access Graph');
    const drawn = extensionPage(page).locator('.mermaid svg');
    await drawn.getByText('security-auditors').waitFor();
    await drawn.getByText('dora.haddad@meridian.example').waitFor();
    await workbench.screenshot('access-graph');
  });

  test('the matrix marks what has findings', async () => {
    await runCommand(page, 'Rolecall: Show Access Matrix', 'meridian');
    const row = extensionPage(page).getByRole('rowheader', {
      name: /^security-auditors, .* has both cluster-operator/,
    });
    await row.getByText('F', { exact: true }).waitFor();
    await workbench.screenshot('access-matrix');
    await tidyUp(page);
  });

  test('a review is begun, and decided membership by membership', async () => {
    await runCommand(page, 'Rolecall: Start Review', 'Meridian');
    const lenses = page.locator('.codelens-decoration');
    await lenses.filter({ hasText: 'Keep' }).first().waitFor();
    await workbench.screenshot('access-review-begun');
    await lenses.filter({ hasText: 'Keep' }).first().getByText('Keep', { exact: true }).click();
    const member = lenses.filter({ hasText: '7e1c0000-5a5e-4000-8000-000000000001 in administrators' });
    // The lenses move down while the decision above them arrives in the text.
    await attempt(async (quickly) => {
      await member.getByText('Revoke…').click(quickly);
      await answerInput(page, 'Left in October', quickly);
    });
    await member.filter({ hasText: 'To be revoked: decided by ada.moreau@meridian.example' }).waitFor();
    await lenses.filter({ hasText: /^2 of \d+ decided/ }).waitFor();
    await runCommand(page, 'File: Save');
    const [name = ''] = fs.readdirSync(workbench.folder).filter((each) => each.endsWith('.review.yaml'));
    await expect.poll(() => fs.readFileSync(path.join(workbench.folder, name), 'utf8')).toMatch(/ {4}decision: keep\n/);
    await expect(problems()).toContainText('is still in administrators, although this membership was revoked.');
    await expect(treeRow(page, 'meridian')).toHaveAttribute('aria-label', /review: 2 of \d+ decided/);
    await runCommand(page, 'View: Hide Panel');
    await picture('access-review');
    await tidyUp(page);
  });

  test('a later review takes its decision over, and says so', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const [review, earlier] = [today, '2026-01-05'].map((day) =>
      path.join(workbench.folder, `meridian.${day}.review.yaml`),
    ) as [string, string];
    fs.writeFileSync(earlier, fs.readFileSync(review, 'utf8').replaceAll(today, '2026-01-05'));
    fs.rmSync(review);
    await expect(treeRow(page, 'meridian')).toHaveAttribute('aria-label', /review: 2 of \d+ decided/);
    await runCommand(page, 'Rolecall: Start Review', 'Meridian');
    await notification(page, 'Decisions carried over from meridian.2026-01-05.review.yaml: 2.');
    const lenses = page.locator('.codelens-decoration');
    await lenses
      .filter({ hasText: 'Kept by ada.moreau@meridian.example on 2026-01-05, in an earlier review' })
      .waitFor();
    await workbench.screenshot('access-review-later');
    await tidyUp(page);
    for (const each of [file(), earlier, review]) fs.rmSync(each); // Others share the folder.
    await expect(treeRow(page, 'meridian')).not.toHaveAttribute('aria-label', /review/);
  });
});
