import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { answerInput, pressDialog, runCommand } from '../harness/actions.ts';
import { answer, chat, send } from '../harness/chat.ts';
import { counter } from '../harness/sandboxControl.ts';
import { SecretSearch } from '../harness/secretSearch.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, outputLines, showOwnView, treeRow, trustWorkspace } from '../harness/views.ts';
import { test, type Workbench } from '../harness/workbench.ts';

/**
 * A platform engineer with a configured client, whose session is stored (that of Try the Sandbox never is). Afterwards every
 * secret that went over the wire is searched in everything that the run left behind.
 */
test.describe('a configured cloud', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;
  let secrets: string[];
  let lines: string[];

  test.beforeAll(async ({ desk }) => {
    // A token lives 2 seconds, so that it is renewed all the time, also at the moment one of the windows is closed.
    const sandbox = ['--access-token-seconds', '2', '--groups', '20', '--roles', '5'];
    workbench = await desk.open({ sandbox, isConfigured: true, trust: false });
    page = workbench.page;
    await runCommand(page, 'Developer: Set Log Level...', 'Rolecall', 'Trace');
  });

  const isRestricted = () => page.locator('.statusbar').getByText('Restricted Mode');

  test('is signed in to once, with the client’s secret, in a folder that is not trusted', async () => {
    await expect(isRestricted()).toBeVisible();
    const side = await showOwnView(page);
    await signInAs(workbench, 'Ada Moreau', async () => {
      await side.getByRole('button', { name: 'Sign In', exact: true }).click();
      await answerInput(page, workbench.sandbox.descriptor.clients.loopback.secret);
    });
    await expect(treeRow(page, 'meridian')).toBeVisible();
  });

  test('is still signed in to in a second window', async () => {
    const second = await workbench.openWindow();
    await expect(treeRow(second, 'meridian')).toBeVisible();
    await second.close();
  });

  test('is still signed in to when the folder becomes trusted', async () => {
    await trustWorkspace(page);
    await expect(isRestricted()).toBeHidden();
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await expect(treeRow(page, 'administrators')).toBeVisible();
  });

  test('is still signed in to when a window was closed in the middle of a renewal', async () => {
    const { control } = workbench.sandbox.descriptor;
    const renewed = async (by: Page) => {
      const before = await counter(workbench.sandbox, 'refreshes');
      await expect(async () => {
        await runCommand(by, 'Rolecall: Refresh');
        expect(await counter(workbench.sandbox, 'refreshes')).toBeGreaterThan(before);
      }).toPass();
    };
    const second = await workbench.openWindow();
    await expand(second, 'meridian');
    const slow = { service: 'identity', path: 'token', kind: 'late', ms: 2000 };
    await fetch(`${control}/faults`, { method: 'POST', body: JSON.stringify(slow) });
    await renewed(second);
    await second.close();
    await renewed(page);
    await expect(treeRow(page, 'meridian')).toBeVisible();
  });

  test('answers in chat, with a tool of the folder', async () => {
    await send(page, '@rolecall use the count_words tool on `handover.md`');
    await pressDialog(page, 'Allow Once');
    assert.match(await answer(page), /handover\.md/);
    assert.match(await chat(page, 'what is a role?'), /\w/);
    await expect(async () => {
      await runCommand(page, 'Rolecall: Refresh');
      expect(await counter(workbench.sandbox, 'identity POST /oauth2/v2/token')).toBeGreaterThan(1);
    }).toPass();
    lines = await outputLines(page);
    await workbench.screenshot('configured');
    assert.ok(
      lines.some((line) => line.includes('Access token renewed')),
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
    await expect(treeRow(page, 'meridian')).toBeVisible();
    await expect(isRestricted()).toBeHidden();
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
