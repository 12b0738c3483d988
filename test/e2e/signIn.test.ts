import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { expect, type Page } from '@playwright/test';
import {
  answerInput,
  captureTab,
  choose,
  notification,
  pressDialog,
  pressNotification,
  quickInput,
  quickPickLabels,
  runCommand,
} from '../harness/actions.ts';
import { counter } from '../harness/sandboxControl.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, statusBar, treeRow, treeText } from '../harness/views.ts';
import { test, type Workbench } from '../harness/workbench.ts';

const ADA = 'ada.moreau@meridian.example';

/** Each way in, two windows, and the way out; the sandbox plays the real services. */
test.describe('signing in', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;
  /** From the test that opens it to the sign-out in both. */
  let second: Page;

  test.beforeAll(async ({ desk }) => {
    // An access token lives 4 seconds, so that windows that are used renew it.
    const sandbox = ['--access-token-seconds', '4', '--groups', '10', '--roles', '4'];
    workbench = await desk.open({ sandbox, isConfigured: true });
    page = workbench.page;
  });

  const renewals = () => counter(workbench.sandbox, 'identity POST /oauth2/v2/token');

  async function signOut(): Promise<void> {
    await runCommand(page, 'Rolecall: Sign Out');
    await pressDialog(page, 'Sign Out');
    await statusBar(page, 'sign in').waitFor();
  }

  test('with the browser: the status bar says so before, meanwhile and after', async () => {
    await statusBar(page, 'Rolecall: sign in').waitFor();
    const tab = await captureTab(workbench.context, async () => {
      await statusBar(page, 'sign in').click();
      await answerInput(page, workbench.sandbox.descriptor.clients.loopback.secret);
    });
    await tab.getByRole('button', { name: 'Ada Moreau' }).waitFor();
    await page.bringToFront();
    await statusBar(page, 'waiting for the browser').waitFor();
    await expect(await notification(page, 'continue in your browser')).toHaveText(/Paste the address/);
    await workbench.screenshot('signing-in');
    await tab.bringToFront();
    const closed = tab.waitForEvent('close');
    await tab.getByRole('button', { name: 'Ada Moreau' }).click();
    await closed;
    await page.bringToFront();
    await statusBar(page, ADA).waitFor();
    await treeRow(page, 'meridian').waitFor();
    await workbench.screenshot('signed-in');
  });

  test('stands in the Accounts menu', async () => {
    await page.locator('.activitybar .action-label.codicon-accounts-view-bar-icon').click();
    const menu = page.locator('.monaco-menu').first();
    await menu.getByText(`${ADA} (Rolecall)`).waitFor();
    await workbench.screenshot('accounts');
    await page.keyboard.press('Escape');
  });

  test('serves a second window, through renewals by either, and no refresh token is spent twice', async () => {
    second = await workbench.openWindow();
    for (const window of [page, second]) {
      await window.bringToFront();
      await expand(window, 'meridian'); // What is open is read again by each refresh.
      await expand(window, 'Groups');
    }
    await statusBar(second, ADA).waitFor();
    const before = await renewals();
    // Used in turn until the windows have renewed the token four times.
    for (let turn = 0; (await renewals()) < before + 4; turn += 1) {
      const window = turn % 2 === 0 ? second : page;
      await window.bringToFront();
      await runCommand(window, 'Rolecall: Refresh');
      await treeRow(window, 'administrators').waitFor();
    }
    for (const window of [page, second]) {
      await statusBar(window, ADA).waitFor();
      assert.deepEqual(await window.locator('.notification-list-item').count(), 0);
    }
    assert.equal(await counter(workbench.sandbox, 'refreshes.reused'), 0);
    await page.bringToFront();
  });

  test('ends in every window when one signs out, and says what that means', async () => {
    await runCommand(page, 'Rolecall: Sign Out');
    await expect(page.locator('.monaco-dialog-box')).toHaveText(/signed out in all windows\. Snapshots .* are kept/);
    await workbench.screenshot('sign-out');
    await pressDialog(page, 'Sign Out');
    for (const window of [page, second]) {
      await statusBar(window, 'Rolecall: sign in').waitFor();
      await window.locator('.part.sidebar').getByText('You are signed out.').waitFor();
      await expect.poll(() => treeText(window)).not.toMatch(/meridian/);
    }
    await second.close();
    await page.bringToFront();
  });

  test.describe('where the port is taken by another program', () => {
    let other: Server;

    test.beforeAll(async () => {
      // As programs of developers often are: every page may read it, and it has something to say at every address.
      other = createServer((_, response) =>
        response.writeHead(200, { 'access-control-allow-origin': '*' }).end('not here'),
      );
      const port = Number(new URL(workbench.sandbox.descriptor.clients.loopback.redirectUri).port);
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    });
    test.afterAll(() => new Promise((resolve) => other.close(resolve)));

    test('says which setting to change and offers the other ways; the address can be pasted', async () => {
      await runCommand(page, 'Rolecall: Sign In');
      const said = await notification(page, 'Another program uses port');
      await expect(said).toHaveText(/rolecall\.identity\.redirectUri/);
      await pressNotification(page, 'Another program uses port', 'Other Ways to Sign In…');
      await expect(quickPickLabels(page)).toHaveCount(4);
      await workbench.screenshot('sign-in-ways');
      const tab = await captureTab(workbench.context, () => choose(page, 'Browser, then paste the address'));
      await tab.getByRole('button', { name: 'Ada Moreau' }).click();
      await tab.getByText('not here').waitFor();
      const last = tab.url();
      await tab.close();
      await page.bringToFront();
      await quickInput(page).waitFor();
      await quickInput(page)
        .locator('input')
        .fill(last.replace(/state=[^&]+/, 'state=another'));
      await page.locator('.quick-input-message').getByText('another sign-in').waitFor();
      await workbench.screenshot('paste-address');
      await answerInput(page, last);
      await statusBar(page, ADA).waitFor();
      await treeRow(page, 'meridian').waitFor();
      await signOut();
    });
  });

  test('with a service token, which is checked before it is kept', async () => {
    const { token } = (await (
      await fetch(`${workbench.sandbox.descriptor.control}/service-tokens`, {
        method: 'POST',
        body: JSON.stringify({ person: workbench.sandbox.descriptor.people[0]?.id }),
      })
    ).json()) as { token: string };
    await runCommand(page, 'Rolecall: Sign In With…', 'Service token');
    await answerInput(page, 'not-a-token');
    await notification(page, 'does not accept this token');
    await runCommand(page, 'Notifications: Clear All Notifications');
    await runCommand(page, 'Rolecall: Sign In With…', 'Service token');
    await answerInput(page, token);
    await statusBar(page, 'service token of').waitFor();
    await treeRow(page, 'meridian').waitFor();
    await workbench.screenshot('service-token');
  });

  test('is told once when the session is over, with the way back, and opens no browser', async () => {
    await signOut();
    await signInAs(workbench, 'Ada Moreau', () => runCommand(page, 'Rolecall: Sign In'));
    await statusBar(page, ADA).waitFor();
    await expand(page, 'meridian');
    await treeRow(page, 'Groups').waitFor();
    const windows = workbench.context.pages().length;
    await fetch(`${workbench.sandbox.descriptor.control}/sessions/end`, { method: 'POST', body: '{}' });
    await runCommand(page, 'Rolecall: Refresh');
    const told = await notification(page, 'no longer signed in');
    await statusBar(page, 'sign in again').waitFor();
    await workbench.screenshot('session-ended');
    await expect(told).toHaveText(/Sign In/);
    // The editor may still show how the sign-in before went on.
    const same = page.locator('.notification-list-item', { hasText: 'no longer signed in' });
    await expect(same.filter({ visible: true })).toHaveCount(1);
    assert.equal(workbench.context.pages().length, windows);
    await page.locator('.part.sidebar').getByRole('button', { name: 'Sign In', exact: true }).waitFor();
  });
});
