import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import {
  answerInput,
  attempt,
  captureTab,
  choose,
  notification,
  pressDialog,
  pressNotification,
  quickInput,
  quickPickLabels,
  runCommand,
} from '../harness/actions.ts';
import { answer, chat, send } from '../harness/chat.ts';
import { counter } from '../harness/sandboxControl.ts';
import { SecretSearch } from '../harness/secretSearch.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, outputLines, statusBar, treeRow, treeText, trustWorkspace } from '../harness/views.ts';
import { test, type Workbench } from '../harness/workbench.ts';

const ADA = 'ada.moreau@meridian.example';

/**
 * A platform engineer with a configured client, whose session is stored (that of Try the Sandbox never is): each way in, two
 * windows, and the way out. Afterwards every secret that went over the wire is searched in everything that the run left behind.
 */
test.describe('a configured cloud', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;
  /** From the test that opens it to the one that closes it in the middle of a renewal. */
  let second: Page;
  let secrets: string[];
  let lines: string[];

  test.beforeAll(async ({ desk }) => {
    // A token lives 2 seconds, so that it is renewed all the time, also at the moment one of the windows is closed.
    const sandbox = ['--access-token-seconds', '2', '--groups', '20', '--roles', '5', '--pace-ms', '0'];
    workbench = await desk.open({ sandbox, isConfigured: true, trust: false });
    page = workbench.page;
    await runCommand(page, 'Developer: Set Log Level...', 'Rolecall', 'Trace');
  });

  const isRestricted = () => page.locator('.statusbar').getByText('Restricted Mode');

  /** Refreshes until a token was renewed. Only what is unfolded is read again. */
  async function renew(by: Page): Promise<void> {
    const before = await counter(workbench.sandbox, 'refreshes');
    await expect(async () => {
      await runCommand(by, 'Rolecall: Refresh');
      expect(await counter(workbench.sandbox, 'refreshes')).toBeGreaterThan(before);
    }).toPass({ timeout: 60_000 });
  }

  async function signOut(): Promise<void> {
    await runCommand(page, 'Rolecall: Sign Out');
    await pressDialog(page, 'Sign Out');
    await statusBar(page, 'sign in').waitFor();
  }

  test('is signed in to with the browser, in a folder that is not trusted: the status bar says so before, meanwhile and after', async () => {
    await isRestricted().waitFor();
    await statusBar(page, 'Rolecall: sign in').waitFor();
    const tab = await captureTab(workbench.context, async () => {
      await statusBar(page, 'sign in').click();
      await answerInput(page, workbench.sandbox.descriptor.clients.loopback.secret);
    });
    await tab.getByRole('button', { name: 'Ada Moreau' }).waitFor();
    await page.bringToFront();
    await statusBar(page, 'waiting for the browser').waitFor();
    await expect(await notification(page, 'continue in your browser')).toHaveText(/Paste the redirect address/);
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
    const menu = page.locator('.monaco-menu').first();
    // What takes the focus closes the menu, as the chat does that is opened after a sign-in.
    await attempt(async (quickly) => {
      await page.keyboard.press('Escape');
      await page.locator('.activitybar .action-label.codicon-accounts-view-bar-icon').click(quickly);
      await menu.getByText(`${ADA} (Rolecall)`).waitFor(quickly);
    });
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
    for (const window of [page, second]) {
      await window.bringToFront();
      await renew(window);
      await treeRow(window, 'administrators').waitFor();
    }
    for (const window of [page, second]) {
      await statusBar(window, ADA).waitFor();
      assert.deepEqual(await window.locator('.notification-list-item').count(), 0);
    }
    assert.equal(await counter(workbench.sandbox, 'refreshes.reused'), 0);
    await page.bringToFront();
  });

  test('is still signed in to when the folder becomes trusted', async () => {
    await trustWorkspace(page);
    await isRestricted().waitFor({ state: 'hidden' });
    await treeRow(page, 'administrators').waitFor();
    await renew(page);
  });

  test('is left in every window when one signs out, which says what that means', async () => {
    await runCommand(page, 'Rolecall: Sign Out');
    await expect(page.locator('.monaco-dialog-box')).toHaveText(/signed out in all windows\. Snapshots, .* are kept/);
    await workbench.screenshot('sign-out');
    await pressDialog(page, 'Sign Out');
    for (const window of [page, second]) {
      await statusBar(window, 'Rolecall: sign in').waitFor();
      await window.locator('.part.sidebar').getByText('You are signed out.').waitFor();
      await expect.poll(() => treeText(window)).not.toMatch(/meridian/);
    }
  });

  test.describe('whose port is taken by another program', () => {
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
    });
  });

  test('is still signed in to when a window was closed in the middle of a renewal', async () => {
    const { control } = workbench.sandbox.descriptor;
    await second.bringToFront();
    await expand(second, 'meridian');
    const slow = { service: 'identity', path: 'token', kind: 'late', ms: 2000 };
    await fetch(`${control}/faults`, { method: 'POST', body: JSON.stringify(slow) });
    await renew(second);
    await second.close();
    await page.bringToFront();
    await expand(page, 'meridian');
    await renew(page);
    await treeRow(page, 'meridian').waitFor();
    await signOut();
  });

  test('is signed in to with a service token, which is checked before it is kept', async () => {
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

  test('tells once when the session is over, with the way back, and opens no browser', async () => {
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

  test('answers in chat, with a tool of the folder', async () => {
    await signInAs(workbench, 'Ada Moreau', () => runCommand(page, 'Rolecall: Sign In'));
    await statusBar(page, ADA).waitFor();
    await send(page, '@rolecall use the count_words tool on `handover.md`');
    await pressDialog(page, 'Allow Once');
    assert.match(await answer(page), /handover\.md/);
    assert.match(await chat(page, 'what is a role?'), /\w/);
    lines = await outputLines(page);
    await workbench.screenshot('configured');
    assert.ok(
      lines.some((line) => line.includes('Access token refreshed')),
      lines.join('\n'),
    );
    const response = await fetch(`${workbench.sandbox.descriptor.control}/secrets`);
    secrets = (await response.json()) as string[];
  });

  test('was given secrets over the wire in this run: tokens, codes, a verifier, a state, the client secret', () => {
    assert.ok(secrets.includes(workbench.sandbox.descriptor.clients.loopback.secret));
    assert.ok(secrets.filter((secret) => secret.length > 1000).length >= 4, 'two generations of tokens, and a code');
    const drawn = secrets.filter((secret) => /^[\w-]{43}$/.test(secret));
    assert.ok(drawn.length >= 3, 'verifier, state and nonce: 32 random bytes each');
  });

  test('has no secret in the window', async () => {
    const search = new SecretSearch(secrets);
    assert.deepEqual(search.inText(page.url(), await page.content()), []);
  });

  test('is still signed in to after the editor was closed and opened again, and the folder still trusted', async () => {
    await workbench.close();
    page = await workbench.open();
    await treeRow(page, 'meridian').waitFor();
    await isRestricted().waitFor({ state: 'hidden' });
    const response = await fetch(`${workbench.sandbox.descriptor.control}/secrets`);
    secrets = (await response.json()) as string[];
  });

  test('has no secret in the log, which says what happened', () => {
    assert.ok(lines.length > 5, lines.join('\n'));
    assert.deepEqual(new SecretSearch(secrets).inText('log', lines.join('\n')), []);
  });

  test('has no secret in settings, chat sessions, extension storage or any other file of the run', async () => {
    await workbench.close(); // Chat sessions are written when the window closes.
    const search = new SecretSearch(secrets);
    assert.deepEqual(search.inFolder(workbench.profile), []);
    const shared = workbench.sessionFolder ?? '';
    assert.ok(
      fs.readdirSync(shared).some((name) => name.endsWith('.sealed')),
      'the session that the windows share',
    );
    assert.deepEqual(search.inFolder(shared), []);
  });

  test('has secrets in the browser’s storage only sealed by the editor', async () => {
    const stored = await workbench.context.storageState({ indexedDB: true });
    assert.ok(stored.origins.length > 0, 'the storage is seen');
    assert.deepEqual(new SecretSearch(secrets).inText('storage', JSON.stringify(stored)), []);
  });

  test('would have its secrets found: a planted canary is, in text, in files, and in every encoding', () => {
    const canary = secrets.find((secret) => secret.length > 1000) ?? '';
    const search = new SecretSearch([canary]);
    const base64 = Buffer.from(`x${canary}`).toString('base64');
    for (const planted of [canary, encodeURIComponent(canary), JSON.stringify({ canary }), base64]) {
      assert.notDeepEqual(search.inText('planted', `before ${planted} after`), []);
    }
    const file = path.join(workbench.userDataDir, 'User', 'globalStorage', 'planted', 'canary.json');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify({ token: canary }));
    assert.deepEqual(
      search.inFolder(workbench.profile).map(({ where }) => where),
      [file],
    );
    fs.rmSync(path.dirname(file), { recursive: true });
  });
});
