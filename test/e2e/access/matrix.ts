import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test';
import { choose, pressDialog, quickInput, runCommand } from '../../harness/actions.ts';
import { extensionPage } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

const GROUPS = 10_000;
const ROLES = 200;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds in the page that is serious or critical, and how many rules it could hold against it. */
async function audit(frame: FrameLocator): Promise<{ faults: string[]; passed: number }> {
  const body = frame.locator('body');
  await body.evaluate(`${axe}; undefined`);
  const { violations, passed } = (await body.evaluate(
    'axe.run().then(({ violations, passes }) => ({ violations, passed: passes.length }))',
  )) as { violations: Violation[]; passed: number };
  const faults = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  return { faults, passed };
}

test.describe('the access matrix', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;
  let matrix: FrameLocator;
  let grid: Locator;
  /** What the browser refused because of a policy, and what it asked for beyond the editor. */
  const refused: string[] = [];
  const requests: string[] = [];

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    matrix = extensionPage(page);
    grid = matrix.getByRole('grid');
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) refused.push(message.text());
    });
    page.on('request', (request) => requests.push(request.url()));
    // Not in a test: each of them has something to look at when it is run alone, with `--grep`.
    await runCommand(page, 'Rolecall: Show Access Matrix', 'meridian');
    await rowHeader(/^platform-engineers, roles: 4/).waitFor();
  });

  const rowNamed = (name: RegExp) => grid.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  const rowHeader = (name: RegExp) => grid.getByRole('rowheader', { name });
  const columnHeader = (name: RegExp) => grid.getByRole('columnheader', { name });
  /** Where the focus is, by the grid's own indices. */
  const focus = async (): Promise<(string | null)[]> => {
    const cell = grid.locator(':focus');
    const row = await cell.locator('xpath=ancestor-or-self::*[@aria-rowindex]').getAttribute('aria-rowindex');
    return [row, await cell.getAttribute('aria-colindex')];
  };
  const counts = () => matrix.locator('#counts');
  const selectedInTree = (label: string) =>
    page.locator(`.part.sidebar .monaco-list-row.selected[aria-label^=${JSON.stringify(label)}]`);

  /** By its name in the picker; in high contrast the page's body says so itself. */
  async function useTheme(name: string, kind: string): Promise<void> {
    await runCommand(page, 'Preferences: Color Theme');
    await quickInput(page).locator('input').fill(name);
    await choose(page, name);
    await matrix.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
  }

  test('has a row for each group and a column for each role, and says when it was read', async () => {
    assert.equal(await grid.getAttribute('aria-rowcount'), '13');
    assert.equal(await grid.getAttribute('aria-colcount'), '11');
    assert.equal(await counts().innerText(), 'Groups: 12 · Roles: 10 · Grants: 21');
    assert.match(await matrix.locator('#read').innerText(), /^As of \d/);
    await workbench.screenshot('matrix');
  });

  test('shows the whole footer, also at 150 %', async () => {
    const { width, height } = page.viewportSize() ?? assert.fail();
    await page.setViewportSize({ width: width / 1.5, height: height / 1.5 });
    const isWhole = () =>
      matrix.locator('#footer').evaluate((footer) => {
        const { bottom } = footer.getBoundingClientRect();
        return (
          bottom <= footer.ownerDocument.documentElement.clientHeight &&
          footer.scrollWidth <= footer.clientWidth &&
          footer.scrollHeight <= footer.clientHeight
        );
      });
    await expect.poll(isWhole).toBe(true);
    await workbench.screenshot('matrix-150');
    await page.setViewportSize({ width, height });
  });

  test('says in words what a cell holds, and where the service does not list a role', async () => {
    const row = rowNamed(/^platform-engineers/);
    const said = await row.getByRole('gridcell').evaluateAll((cells) => cells.map((cell) => cell.ariaLabel));
    assert.deepEqual(new Set(said), new Set(['granted', 'granted, role not listed', 'not granted']));
    assert.equal(said.filter((each) => each !== 'not granted').length, 4);
    await rowHeader(/^site-reliability, degraded/).waitFor();
    await columnHeader(/not listed, groups: 2$/).waitFor();
  });

  test('is walked with the keyboard: one stop of Tab, arrows, Home and End', async () => {
    await matrix.getByRole('searchbox').focus();
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await focus(), ['2', '1']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await focus(), ['3', '3']);
    await matrix.getByText('platform-engineers has the user role').waitFor();
    await page.keyboard.press('Control+End');
    assert.deepEqual(await focus(), ['13', '11']);
    await page.keyboard.press('Home');
    assert.deepEqual(await focus(), ['13', '1']);
    await page.keyboard.press('Control+Home');
    assert.deepEqual(await focus(), ['1', '1']);
    await page.keyboard.press('ArrowUp');
    assert.deepEqual(await focus(), ['1', '1']);
    assert.equal(await grid.locator('[tabindex="0"]').count(), 1);
    await page.keyboard.press('Shift+Tab');
    assert.equal(await grid.locator(':focus').count(), 0);
    await page.keyboard.press('Tab');
    assert.deepEqual(await focus(), ['1', '1']);
  });

  test('shows in the tree what Enter or a click chooses', async () => {
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await selectedInTree('platform-engineers').waitFor();
    assert.deepEqual(await focus(), ['3', '1'], 'the focus stays in the matrix');
    await columnHeader(/^cluster-operator/).click();
    await selectedInTree('cluster-operator').waitFor();
    assert.equal((await focus())[0], '1', 'and after a click too');
    const row = rowNamed(/^finance/);
    await row.getByRole('gridcell', { name: 'granted', exact: true }).click();
    await selectedInTree('finance').waitFor();
  });

  test('shares its filter with the tree, both ways', async () => {
    await matrix.getByRole('searchbox').fill('role:cluster-operator');
    await counts().getByText('Groups: 3 of 12').waitFor();
    await page.locator('.part.sidebar').getByText('meridian filtered by "role:cluster-operator"').waitFor();
    assert.equal(await grid.getAttribute('aria-rowcount'), '4');
    await workbench.screenshot('matrix-filtered');
    await runCommand(page, 'Rolecall: Clear Filter');
    await counts().getByText('Groups: 12').waitFor();
    assert.equal(await matrix.getByRole('searchbox').inputValue(), '');
    await matrix.getByRole('searchbox').fill('nothing-is-called-so');
    await matrix.getByText('No matching groups').waitFor();
    await matrix.getByRole('searchbox').fill('');
    await rowHeader(/^finance/).waitFor();
  });

  test('turns to people, and says through which groups they have a role', async () => {
    await matrix.getByRole('radio', { name: 'People' }).check();
    await counts()
      .getByText(/^Members: \d+/)
      .waitFor();
    const person = rowNamed(/^dora\.haddad@/);
    await person.getByRole('gridcell', { name: 'granted', exact: true }).first().focus();
    await matrix.getByText(/^dora\.haddad@meridian\.example has user through [\w-]+/).waitFor();
    assert.equal(await grid.locator('[tabindex="0"]').count(), 1);
    await workbench.screenshot('matrix-people');
  });

  test('offers what the tree offers: who has this role', async () => {
    await columnHeader(/^cluster-operator/).click({ button: 'right' });
    await page.locator('.monaco-menu').getByText('Who Has This Role?').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(extensionPage(page).getByRole('heading', { level: 1 })).toHaveText('Who has cluster-operator');
    await runCommand(page, 'View: Close Editor');
  });

  for (const [theme, kind] of [
    ['Dark Modern', 'vscode-dark'],
    ['Light Modern', 'vscode-light'],
    ['Light High Contrast', 'vscode-high-contrast-light'],
    ['Dark High Contrast', 'vscode-high-contrast'],
  ] as const) {
    test(`has no serious fault of accessibility in ${theme}`, async () => {
      await useTheme(theme, kind);
      await rowHeader(/@meridian\.example/)
        .first()
        .waitFor();
      const { faults, passed } = await audit(matrix);
      await workbench.screenshot(`matrix-${theme.toLowerCase().replaceAll(' ', '-')}`);
      assert.deepEqual(faults, []);
      assert.ok(passed > 15, `${passed} rules passed`);
    });
  }

  test('shows marks and the focus where the system sets the colours', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    await matrix.getByRole('radio', { name: 'Groups' }).check();
    await rowHeader(/^finance/).waitFor();
    const { faults } = await audit(matrix);
    await workbench.screenshot('matrix-forced-colors');
    await page.emulateMedia({ forcedColors: 'none' });
    assert.deepEqual(faults, []);
    await useTheme('Dark Modern', 'vscode-dark');
  });

  test(`scrolls ${GROUPS} groups × ${ROLES} roles and draws only what is in sight`, async () => {
    await runCommand(page, 'Rolecall: Show Access Matrix', 'big-sky');
    await rowHeader(/-00001,/).waitFor();
    assert.equal(await grid.getAttribute('aria-rowcount'), String(GROUPS + 1));
    assert.equal(await grid.getAttribute('aria-colcount'), String(ROLES + 1));
    await counts().getByText('Groups: 10,000 · Roles: 200').waitFor();
    await workbench.screenshot('matrix-large');

    await rowHeader(/-00003,/).focus();
    await grid.hover();
    for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(300, 6000);
    await rowHeader(/-05001,/).waitFor(); // 20 × 6000 pixels, of which a row has 24.
    await columnHeader(/^role-0200/).waitFor();
    assert.match((await grid.locator(':focus').getAttribute('aria-label')) ?? '', /-00003,/, 'the focus is kept');
    const drawn = await grid.getByRole('gridcell').count();
    assert.ok(drawn > 500 && drawn < 6000, `${drawn} cells are drawn`);
    await workbench.screenshot('matrix-large-scrolled');

    const box = await grid.boundingBox();
    const corner = await columnHeader(/^Group$/).boundingBox();
    assert.deepEqual([corner?.x, corner?.y], [box?.x, box?.y], 'headers stay at the edges');

    await page.keyboard.press('Control+End');
    await rowHeader(/-10000,/).waitFor();
    assert.deepEqual(await focus(), [String(GROUPS + 1), String(ROLES + 1)]);
    await columnHeader(/^role-0200/).waitFor();
  });

  test('reaches nobody but the editor, and never ran into its own policy', () => {
    assert.ok(
      requests.some((url) => url.includes('/dist/matrix.js')),
      'requests are seen',
    );
    const hosts = new Set(requests.filter((url) => /^https?:/.test(url)).map((url) => new URL(url).host));
    const own = /^(?:127\.0\.0\.1:\d+|[\w.+-]*\.vscode-resource\.vscode-cdn\.net)$/; // The latter never leaves the browser.
    assert.deepEqual(
      [...hosts].filter((host) => !own.test(host)),
      [],
    );
    assert.deepEqual(refused, []);
  });

  test('closes when the user signs out', async () => {
    await runCommand(page, 'Rolecall: Sign Out');
    await pressDialog(page, 'Sign Out');
    await page.locator('iframe.webview').first().waitFor({ state: 'detached' });
    assert.equal(await page.locator('.tab', { hasText: 'Access Matrix' }).count(), 0);
  });
});
