import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test';
import { at } from '../../../scripts/paths.ts';
import {
  answerInput,
  attempt,
  chooseMenuItem,
  notification,
  openFile,
  pressNotification,
  runCommand,
} from '../../harness/actions.ts';
import { openChat } from '../../harness/chat.ts';
import { counter, goOn, silence } from '../../harness/sandboxControl.ts';
import { extensionPage, textOfEditor } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

const SOURCE = fs.readFileSync(at('examples', 'workspace', 'rotate.py'), 'utf8');
const NAMES = 'delta\nalpha\ncharlie\nbravo\n';

/** Makes the folder a Git repository with one commit, and writes a file with names and one with a mistake. */
function makeRepository(folder: string): void {
  fs.writeFileSync(path.join(folder, 'names.txt'), NAMES);
  fs.writeFileSync(path.join(folder, 'service.json'), '{\n  "name": "billing",\n  "replicas": three\n}\n');
  // Nothing of the machine's own configuration decides what a commit looks like.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...parameters: string[]) => execFileSync('git', parameters, { cwd: folder, env, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@meridian.example', 'commit', '--message=Begin');
}

/** A developer asks about code, has it rewritten, and has a commit described, without leaving the editor. */
test.describe('the commands of the editor', () => {
  let workbench: Workbench;
  let page: Page;
  /** The answer that is looked at. */
  let beside: FrameLocator;
  let answer: Locator;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    makeRepository(workbench.folder);
    page = workbench.page;
    beside = extensionPage(page);
    answer = beside.locator('main');
    // Beside the chat a difference has no room for both sides.
    await runCommand(page, 'View: Hide Secondary Side Bar');
  });

  test.beforeEach(async () => {
    await runCommand(page, 'View: Close All Editors');
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  test.afterAll(() => openChat(page));

  const file = (name: string) => fs.readFileSync(path.join(workbench.folder, name), 'utf8');
  const editor = (name: string) => page.locator(`.editor-instance[aria-label^=${JSON.stringify(name)}] .monaco-editor`);
  const whole = () => beside.locator('main[aria-busy="false"]').waitFor({ timeout: 60_000 });
  /** A picture without the notification that the model is answering: it stays for a moment. */
  async function picture(name: string): Promise<void> {
    await page.locator('.notification-toast', { hasText: 'is answering' }).waitFor({ state: 'hidden' });
    await workbench.screenshot(name);
  }
  const position = (text: string) => page.locator('.statusbar-item', { hasText: text }).waitFor();

  /** Opens a file and selects whole lines of it. */
  async function select(name: string, first: number, count: number): Promise<void> {
    await openFile(page, name);
    const selected = page.locator('.statusbar-item', {
      hasText: new RegExp(`^Ln ${first + count}, Col 1 \\(\\d+ selected\\)`),
    });
    await attempt(async (quickly) => {
      await page.keyboard.press('Control+Home');
      for (let line = 1; line < first; line += 1) await page.keyboard.press('ArrowDown');
      for (let line = 0; line < count; line += 1) await page.keyboard.press('Shift+ArrowDown');
      await selected.waitFor(quickly);
    });
  }

  async function ask(question: string): Promise<void> {
    await runCommand(page, 'Rolecall: Ask About Selection…');
    await answerInput(page, question);
  }

  test('answer a question about the selection, rendered beside while it arrives', async () => {
    const { width, height } = page.viewportSize() ?? assert.fail();
    await page.setViewportSize({ width, height: height / 2 }); // Less of an answer is more than fits.
    await select('rotate.py', 12, 6);
    await silence(workbench.sandbox, 600_000);
    await ask('count to 750');
    await answer.getByText(/1, 2, 3/).waitFor();
    assert.equal(await answer.getAttribute('aria-busy'), 'true', 'it is not all there yet');
    assert.equal(await beside.locator('h1').innerText(), 'count to 750');
    // The focus is where it was: keys move the cursor.
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowRight');
    await position('Ln 1, Col 2');
    // Who reads the end sees what is added; who has scrolled away stays there.
    const place = () => beside.locator('html').evaluate((html) => html.scrollTop);
    await beside.locator('html').evaluate(`new Promise((resolve) => {
      const look = () => document.documentElement.scrollTop > 200 ? resolve(true) : requestAnimationFrame(look);
      look();
    })`);
    await beside.locator('html').evaluate(`document.documentElement.scrollTop = 50`);
    await goOn(workbench.sandbox);
    await whole();
    assert.equal(await place(), 50);
    await answer.getByText(/749, 750/).waitFor();
    await answer.getByText(/input, .* output tokens/).waitFor();
    assert.equal(await page.locator('.tab', { hasText: 'Answer: rotate.py' }).count(), 1);
    await page.setViewportSize({ width, height });
  });

  test('show nothing of an answer that reaches out, and no link but into the web', async () => {
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('evil.example')) asked.push(request.url());
    });
    await select('rotate.py', 1, 1);
    const parts = [
      '![seen](https://evil.example/1.png) ![here](handover.md) ![in](data:image/gif;base64,R0lGODlhAQABAAAAACw=)',
      '<img src="https://evil.example/2.png" onerror="document.title=1"> <iframe src="https://evil.example/3"></iframe>',
      '<style>@import "https://evil.example/4";</style> <video poster="https://evil.example/5.png"></video>',
      '<meta http-equiv="refresh" content="0;url=https://evil.example/6"> <svg><image href="https://evil.example/7.png"/></svg>',
      '<b style="background:url(https://evil.example/8.png)">bold</b> <form action="https://evil.example/9"><button>b</button></form>',
      '[run](command:workbench.action.files.newUntitledFile) [open](file:///etc/passwd) [web](https://web.example/)',
    ];
    await ask(`say: ${parts.join(' ')}`);
    await whole();
    const seen = await answer.evaluate((main) => ({
      names: [...new Set([...main.querySelectorAll('*')].map(({ localName }) => localName))].sort(),
      links: [...main.querySelectorAll('a')].map(({ textContent, href }) => [textContent, href]),
      styled: main.querySelectorAll('[style], [onerror]').length,
    }));
    const text = await answer.innerText();
    assert.deepEqual(
      seen.names.filter((name) => !/^(?:p|em|a|b|span|pre|code)$/.test(name)),
      [],
    );
    assert.deepEqual(seen.links, [
      ['Picture: seen', 'https://evil.example/1.png'],
      ['Picture: ', 'https://evil.example/2.png'],
      ['https://evil.example/4', 'https://evil.example/4'], // In a style that is shown as words: an address like any other.
      ['web', 'https://web.example/'],
    ]);
    assert.equal(seen.styled, 0);
    for (const words of ['Picture: here', 'Picture: in', '<iframe src=', '<style>', 'bold', 'run', 'open'])
      assert.ok(text.includes(words), words);
    assert.deepEqual(asked, []);
  });

  test('keep what came when the answer is stopped, and say so', async () => {
    const before = await counter(workbench.sandbox, 'streams.inference.aborted');
    await select('rotate.py', 1, 1);
    await silence(workbench.sandbox, 20_000);
    await ask('count to 5000');
    await answer.getByText(/1, 2, 3, 4/).waitFor();
    await pressNotification(page, 'is answering', 'Cancel');
    await whole();
    const said = await answer.innerText();
    assert.match(said, /1, 2, 3, 4/);
    assert.doesNotMatch(said, /5000$|4999/);
    assert.match(said, /Stopped\./);
    await expect.poll(() => counter(workbench.sandbox, 'streams.inference.aborted')).toBe(before + 1);
    await expect.poll(() => counter(workbench.sandbox, 'streams.inference.open')).toBe(0);
  });

  test('explain a selection from its context menu', async () => {
    await select('rotate.py', 12, 6);
    await editor('rotate.py').locator('.view-line', { hasText: 'distribute(following)' }).click({ button: 'right' });
    await chooseMenuItem(page, /^Rolecall$/);
    await chooseMenuItem(page, /^Explain Selection$/);
    await whole();
    await picture('explain');
    assert.equal(await beside.locator('h1').innerText(), 'Explanation');
    assert.match(await beside.locator('#about').innerText(), /Sandbox Guide · rotate\.py \(12–17\)/);
    assert.match(await answer.innerText(), /declares .*rotate/);
  });

  test('explain a problem from its lightbulb', async () => {
    await openFile(page, 'service.json');
    await editor('service.json').locator('.squiggly-error').first().waitFor();
    await attempt(async (quickly) => {
      await editor('service.json').locator('.view-line', { hasText: 'three' }).getByText('three').click(quickly);
      await page.keyboard.press('Control+.');
      await page.locator('.action-widget .monaco-list-row', { hasText: 'Explain with Rolecall' }).click(quickly);
    });
    await whole();
    await picture('explain-problem');
    assert.match(await beside.locator('h1').innerText(), /^Value expected/);
    assert.match(await beside.locator('#about').innerText(), /service\.json/);
  });

  test('rewrite a selection: shown as a difference, applied as one step of undo', async () => {
    await select('rotate.py', 12, 6);
    await runCommand(page, 'Rolecall: Rewrite Selection…');
    await answerInput(page, 'rename following to successor');
    await notification(page, 'The rewrite of rotate.py (12–17) is ready.');
    await page.locator('.monaco-diff-editor .view-line', { hasText: 'return successor' }).first().waitFor();
    // The difference is computed anew when the last of it has come: then as many lines stand on both sides.
    await page.locator('.monaco-diff-editor .diagonal-fill:visible').first().waitFor({ state: 'hidden' });
    await picture('rewrite-diff');
    assert.equal(file('rotate.py'), SOURCE);
    await pressNotification(page, 'The rewrite of rotate.py', 'Apply');
    await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
    assert.equal(await textOfEditor(page, editor('rotate.py')), SOURCE.replaceAll('following', 'successor'));
    assert.equal(file('rotate.py'), SOURCE, 'it is not saved');
    await page.keyboard.press('Control+Z');
    assert.equal(await textOfEditor(page, editor('rotate.py')), SOURCE);
    await page.locator('.tab.dirty').waitFor({ state: 'detached' });
  });

  test('leave the file as it was when a rewrite is discarded in the title of the difference', async () => {
    await select('names.txt', 1, 4);
    await runCommand(page, 'Rolecall: Rewrite Selection…');
    await answerInput(page, 'rename alpha to omega');
    await notification(page, 'The rewrite of names.txt');
    await page.locator('.monaco-diff-editor .view-line', { hasText: 'omega' }).waitFor();
    await page.locator('.editor-actions [aria-label^="Discard"]').click();
    await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
    assert.equal(await textOfEditor(page, editor('names.txt')), NAMES);
    assert.equal(await page.locator('.tab.dirty').count(), 0);
    assert.equal(file('names.txt'), NAMES);
  });

  test('leave the file as it was when a rewrite is stopped', async () => {
    const before = await counter(workbench.sandbox, 'streams.inference.aborted');
    await select('names.txt', 1, 4);
    await runCommand(page, 'Rolecall: Rewrite Selection…');
    await silence(workbench.sandbox, 20_000);
    await answerInput(page, 'count to 5000');
    await page.locator('.monaco-diff-editor .view-line', { hasText: /1,.2,.3/ }).waitFor();
    await pressNotification(page, 'is answering', 'Cancel');
    await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
    assert.equal(await textOfEditor(page, editor('names.txt')), NAMES);
    await expect.poll(() => counter(workbench.sandbox, 'streams.inference.aborted')).toBe(before + 1);
  });

  test('write a commit message into the box of Source Control', async () => {
    fs.writeFileSync(path.join(workbench.folder, 'rotate.py'), SOURCE.replaceAll('following', 'next_one'));
    await page.keyboard.press('Control+Shift+G');
    const side = page.locator('.part.sidebar');
    await side.locator('.monaco-list-row', { hasText: 'rotate.py' }).waitFor();
    const box = side.locator('.scm-editor .monaco-editor');
    const button = side.locator('[aria-label^="Generate Commit Message with Rolecall"]').first();
    await side.locator('.scm-view').first().hover();
    await button.click();
    await box.locator('.view-line', { hasText: /\w{3}/ }).first().waitFor();
    await picture('commit-message');
    assert.equal(await textOfEditor(page, box), 'Change rotate.py\n\n3 lines added, 3 lines removed.');
  });
});
