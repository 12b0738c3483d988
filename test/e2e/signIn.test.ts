import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { at } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
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
  visibleText,
} from '../harness/actions.ts';
import { servicesOf } from '../harness/services.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, openView, treeRow, treeRows, waitForExtension } from '../harness/views.ts';
import { newProfile, openWorkbench, type Profile, type Workbench } from '../harness/workbench.ts';

const ADA = 'ada.moreau@meridian.example';

/** Each way in, two windows, and the way out; the sandbox plays the real services. */
describe('signing in', () => {
  let sandbox: RunningSandbox;
  let profile: Profile;
  let workbench: Workbench;
  let page: Page;

  before(async () => {
    // An access token lives 4 seconds, so that windows that are used renew it.
    sandbox = await startSandbox(['--access-token-seconds', '4', '--groups', '10', '--roles', '4']);
    profile = newProfile();
    workbench = await openWorkbench({
      folder: at('examples', 'workspace'),
      profile,
      settings: servicesOf(sandbox),
    });
    page = workbench.page;
    await waitForExtension(page);
  });

  after(async () => {
    await workbench?.stop();
    await sandbox?.stop();
    profile?.remove();
  });

  const statusBar = (window: Page, text: string | RegExp) =>
    window.locator('.statusbar-item[id="rolecall.rolecall.rolecall.session"]').filter({ hasText: text });

  const counters = async () =>
    (await (await fetch(`${sandbox.descriptor.control}/counters`)).json()) as Record<string, number>;

  async function signOut(): Promise<void> {
    await runCommand(page, 'Rolecall: Sign Out');
    await pressDialog(page, 'Sign Out');
    await statusBar(page, 'sign in').waitFor();
  }

  it('with the browser: the status bar says so before, meanwhile and after', async () => {
    await statusBar(page, 'Rolecall: sign in').waitFor();
    await openView(page);
    const tab = await captureTab(workbench.context, async () => {
      await statusBar(page, 'sign in').click();
      await answerInput(page, sandbox.descriptor.clients.loopback.secret);
    });
    await tab.getByRole('button', { name: 'Ada Moreau' }).waitFor();
    await page.bringToFront();
    await statusBar(page, 'waiting for the browser').waitFor();
    assert.match(await visibleText(await notification(page, 'finish in your browser')), /Paste the address/);
    await workbench.screenshot('signing-in');
    await tab.bringToFront();
    const closed = tab.waitForEvent('close');
    await tab.getByRole('button', { name: 'Ada Moreau' }).click();
    await closed;
    await page.bringToFront();
    await statusBar(page, ADA).waitFor();
    await treeRow(page, 'meridian');
    await workbench.screenshot('signed-in');
  });

  it('stands in the Accounts menu', async () => {
    await page.locator('.activitybar .action-label.codicon-accounts-view-bar-icon').click();
    const menu = page.locator('.monaco-menu').first();
    await menu.getByText(`${ADA} (Rolecall)`).waitFor();
    await workbench.screenshot('accounts');
    await page.keyboard.press('Escape');
  });

  it('serves a second window, through renewals by either, and no refresh token is spent twice', async () => {
    const second = await workbench.openWindow();
    await waitForExtension(second);
    await openView(second);
    for (const window of [page, second]) {
      await window.bringToFront();
      await expand(window, 'meridian'); // What is open is read again by each refresh.
      await expand(window, 'Groups');
    }
    await statusBar(second, ADA).waitFor();
    const before = (await counters())['identity POST /oauth2/v2/token'] ?? 0;
    const late = Date.now() + 60_000;
    // Used in turn until the windows have renewed the token four times.
    for (let turn = 0; ((await counters())['identity POST /oauth2/v2/token'] ?? 0) < before + 4; turn += 1) {
      assert.ok(Date.now() < late, 'the token was not renewed');
      const window = turn % 2 === 0 ? second : page;
      await window.bringToFront();
      await runCommand(window, 'Rolecall: Refresh');
      await treeRow(window, 'administrators');
    }
    for (const window of [page, second]) {
      await statusBar(window, ADA).waitFor();
      assert.deepEqual(await window.locator('.notification-list-item').count(), 0);
    }
    assert.equal((await counters())['refreshes.reused'] ?? 0, 0);
    await second.close();
    await page.bringToFront();
  });

  it('ends in every window when one signs out, and says what that means', async () => {
    const second = await workbench.openWindow();
    await waitForExtension(second);
    await openView(second);
    await treeRow(second, 'meridian');
    await page.bringToFront();
    await runCommand(page, 'Rolecall: Sign Out');
    const asked = await visibleText(page.locator('.monaco-dialog-box'));
    assert.match(asked, /in every window of this machine/);
    assert.match(asked, /no way to revoke/);
    assert.match(asked, /chat history that VS Code keeps/);
    await workbench.screenshot('sign-out');
    await pressDialog(page, 'Sign Out');
    for (const window of [page, second]) {
      await statusBar(window, 'Rolecall: sign in').waitFor();
      await window.locator('.part.sidebar').getByText('You are signed out.').waitFor();
      assert.deepEqual(
        (await treeRows(window)).filter((row) => /meridian/.test(row)),
        [],
      );
    }
    await second.close();
    await page.bringToFront();
  });

  describe('where the port is taken by another program', () => {
    let other: Server;

    before(async () => {
      other = createServer((_request, response) => response.writeHead(404).end('not here'));
      const port = Number(new URL(sandbox.descriptor.clients.loopback.redirectUri).port);
      await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    });
    after(() => new Promise((resolve) => other.close(resolve)));

    it('says which setting to change and offers the other ways; the address can be pasted', async () => {
      await runCommand(page, 'Rolecall: Sign In');
      const said = await visibleText(await notification(page, 'taken by another program'));
      assert.match(said, /rolecall\.identity\.redirectUri/);
      await pressNotification(page, 'taken by another program', 'Other Ways to Sign In…');
      const ways = await quickPickLabels(page);
      assert.equal(ways.length, 4);
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
      await treeRow(page, 'meridian');
      await signOut();
    });
  });

  it('with a service token, which is checked before it is kept', async () => {
    const { token } = (await (
      await fetch(`${sandbox.descriptor.control}/service-tokens`, {
        method: 'POST',
        body: JSON.stringify({ person: sandbox.descriptor.people[0]?.id }),
      })
    ).json()) as { token: string };
    await runCommand(page, 'Rolecall: Sign In With…');
    await choose(page, 'Service token');
    await answerInput(page, 'not-a-token');
    await notification(page, 'does not accept this token');
    await runCommand(page, 'Notifications: Clear All Notifications');
    await runCommand(page, 'Rolecall: Sign In With…');
    await choose(page, 'Service token');
    await answerInput(page, token);
    await statusBar(page, 'service token of').waitFor();
    await treeRow(page, 'meridian');
    await workbench.screenshot('service-token');
  });

  it('is told once when the session is over, with the way back, and opens no browser', async () => {
    await signOut();
    await signInAs(workbench, 'Ada Moreau', () => runCommand(page, 'Rolecall: Sign In'));
    await page.bringToFront();
    await statusBar(page, ADA).waitFor();
    await expand(page, 'meridian');
    await treeRow(page, 'Groups');
    const windows = workbench.context.pages().length;
    await fetch(`${sandbox.descriptor.control}/sessions/end`, { method: 'POST', body: '{}' });
    await runCommand(page, 'Rolecall: Refresh');
    const told = await notification(page, 'no longer signed in');
    await statusBar(page, 'sign in again').waitFor();
    await workbench.screenshot('session-ended');
    assert.match(await visibleText(told), /Sign In/);
    // The editor may still show how the sign-in before went on.
    const same = page.locator('.notification-list-item', { hasText: 'no longer signed in' });
    assert.equal(await same.count(), 1);
    assert.equal(workbench.context.pages().length, windows);
    await page.locator('.part.sidebar').getByRole('button', { name: 'Sign In' }).waitFor();
  });
});
