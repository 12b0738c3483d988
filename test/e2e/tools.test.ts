// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { at, freshFolder } from '../../scripts/paths.ts';
import {
  answerInput,
  dialog,
  notification,
  openFile,
  pressDialog,
  quickInput,
  quickPickLabels,
  runCommand,
} from '../harness/actions.ts';
import { answer, send } from '../harness/chat.ts';
import { textOfEditor } from '../harness/views.ts';
import { test, type Workbench } from '../harness/workbench.ts';

const FILE = path.join('.vscode', 'rolecall.tools.json');
const report = {
  name: 'report',
  description: 'Reports the state of the service.',
  run: { kind: 'process', command: ['sh', 'report.sh'], timeoutSeconds: 10 },
};
const ticket = {
  name: 'find_ticket',
  description: 'Finds a ticket of the tracker.',
  parameters: { type: 'object', properties: { id: { type: 'integer', description: 'Its number' } }, required: ['id'] },
  run: { kind: 'http', url: 'https://tracker.example.com/tickets/${id}' },
};

function toolFile(...tools: readonly unknown[]): string {
  return `{ "tools": ${JSON.stringify(tools, undefined, 2)} }\n`;
}

/** A workspace of three folders: the example, one with tools of its own, and one without. */
function workspace(): string {
  const root = path.join(freshFolder('tools'), 'cloud');
  const billing = path.join(root, 'billing');
  fs.cpSync(at('examples', 'workspace'), path.join(root, 'operations'), { recursive: true });
  fs.mkdirSync(path.join(billing, '.vscode'), { recursive: true });
  fs.mkdirSync(path.join(root, 'website'));
  fs.writeFileSync(path.join(billing, 'report.sh'), 'echo all is well\n');
  const again = { ...report, name: 'list_files' };
  fs.writeFileSync(path.join(billing, FILE), toolFile(report, ticket, again));
  const folders = ['operations', 'billing', 'website'].map((name) => ({ path: name }));
  const file = path.join(root, 'cloud.code-workspace');
  fs.writeFileSync(file, JSON.stringify({ folders }));
  return file;
}

/** Somebody writes the tools of a workspace, with the editor's own JSON support beside; and another agent calls them. */
test.describe('the tools of a workspace', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    const source = workspace();
    workbench = await desk.open({
      folder: source,
      otherExtensions: [at('test', 'e2e', 'rolecall-tests.outsider-0.0.1')],
      trust: false,
    });
    fs.rmSync(path.dirname(path.dirname(source)), { recursive: true });
    page = workbench.page;
  });

  const inside = (...parts: string[]) => path.join(path.dirname(workbench.folder), ...parts);
  const open = (folder: string) => openFile(page, 'rolecall.tools.json', inside(folder, FILE));
  const editor = () => page.locator('.editor-group-container .editor-instance .monaco-editor').first();
  const lenses = () => page.locator('.codelens-decoration a', { hasText: 'Run Tool' });
  const panel = () => page.locator('.markers-panel');
  const showProblems = () => runCommand(page, 'Problems: Focus on Problems View');
  /** The rows of Problems, as they are read aloud. */
  const problems = async (): Promise<string[]> => {
    const rows = await panel()
      .locator('.monaco-list-row')
      .evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
    return rows.filter((row) => !/^\d+ problems? in file/.test(row));
  };
  const outsider = (input: unknown) =>
    send(page, `@outsider ${JSON.stringify({ name: 'rolecall_workspaceTool', input })}`);
  const output = () => page.locator('.part.panel .view-lines');

  test('are neither read, checked, run nor offered before the workspace is trusted; and are at once when it is', async () => {
    await open('billing');
    await showProblems();
    await page.locator('.markers-panel', { hasText: 'No problems' }).waitFor();
    assert.equal(await lenses().count(), 0);
    await page.keyboard.press('F1');
    await quickInput(page).locator('input').fill('>Rolecall: Workspace Tool');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'New Workspace Tool' }).waitFor();
    const offered = await quickPickLabels(page).allInnerTexts();
    assert.deepEqual(
      offered.filter((label) => label.startsWith('Rolecall: Run Workspace Tool')),
      [],
    );
    await page.keyboard.press('Escape');
    // The editor asks before any agent answers in a workspace that is not trusted; the file stays in sight meanwhile.
    await outsider({});
    await expect(dialog(page)).toHaveText(/Do you trust the authors/);
    await pressDialog(page, 'Trust Workspace & Continue');
    await lenses().first().waitFor();
    // It goes on with a sign-in of its own, which nobody needs who asks again.
    await page.locator('.monaco-dialog-box', { hasText: 'Sign in' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.monaco-dialog-box').waitFor({ state: 'detached' });
    await outsider({});
    assert.match(await answer(page), /count_words.*list_files.*report.*find_ticket/s);
    await panel().getByText('operations already defines a tool named list_files').waitFor();
    await expect.poll(async () => (await problems()).length).toBe(1);
  });

  test('are completed and checked by the editor, and a slip stands once at its line until it is mended', async () => {
    await open('billing');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('End');
    await page.keyboard.insertText('\n  { "name": "typed", "description": "d", "run": { "kind":  } },');
    for (let count = 0; count < ' } },'.length; count += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    const suggestions = page.locator('.suggest-widget.visible .monaco-list-row');
    await suggestions.first().waitFor();
    await workbench.screenshot('tool-completion');
    assert.deepEqual((await suggestions.allInnerTexts()).map((text) => text.trim().replaceAll('"', '')).sort(), [
      'command',
      'http',
      'process',
      'tool',
    ]);
    await page.keyboard.press('Escape');
    await page.keyboard.insertText('"procss"');
    await runCommand(page, 'File: Save');
    await editor().locator('.squiggly-error, .squiggly-warning').first().waitFor();
    await showProblems();
    await panel()
      .getByText(/procss|Value is not accepted/)
      .first()
      .waitFor();
    await workbench.screenshot('tool-problems');
    const slips = async () => (await problems()).filter((row) => !/already/.test(row));
    await expect.poll(slips).toEqual([expect.stringMatching(/line 2|Ln 2/i)]);
    fs.writeFileSync(inside('billing', FILE), toolFile(report, ticket));
    await panel().getByText('No problems').waitFor();
  });

  test('run by hand from the line above, after exactly that was allowed, and show what came of it', async () => {
    await open('operations');
    await lenses().first().click();
    await quickInput(page).getByText('count_words: file').waitFor();
    await answerInput(page, 'handover.md');
    for (const said of [
      /Run tool "count_words" from workspace "operations"\?/,
      /Argument: "handover\.md"/,
      /Folder: ".*\/operations"/,
    ]) {
      await expect(dialog(page)).toHaveText(said);
    }
    await workbench.screenshot('tool-run-by-hand');
    await pressDialog(page, 'Allow Once');
    await output()
      .getByText(/\d+.handover\.md/)
      .first()
      .waitFor();
    await workbench.screenshot('tool-output');
    await lenses().first().click();
    await answerInput(page, 'handover.md');
    await expect(dialog(page)).toHaveText(/Run tool "count_words"/);
    await pressDialog(page, 'Cancel');
  });

  test('are always allowed in this workspace until they reach further', async () => {
    const printed = (text: string) => output().getByText(text.replaceAll(' ', '\u00a0')).last();
    await open('billing');
    await lenses().first().click();
    await expect(dialog(page)).toHaveText(
      /Reads this workspace and the system’s files\. Writes only temporary files\. No network\..*Argument: "report\.sh"/s,
    );
    await pressDialog(page, 'Always Allow in This Workspace');
    await printed('all is well').waitFor();
    // The script is another, and reaches no further.
    fs.writeFileSync(inside('billing', 'report.sh'), 'echo all is lost; echo x > lost; cat ~/.profile\n');
    await lenses().first().click();
    await printed('all is lost').waitFor();
    await printed('lost: Read-only file system').waitFor();
    fs.writeFileSync(inside('billing', 'report.sh'), 'echo all is well\n');
    // The definition reaches further.
    const changed = { ...report, run: { ...report.run, access: { write: ['out'] } } };
    fs.writeFileSync(inside('billing', FILE), toolFile(changed, ticket));
    await editor()
      .locator('.view-line', { hasText: /"write"/ })
      .waitFor();
    await lenses().first().click();
    await expect(dialog(page)).toHaveText(/Reads this workspace and the system’s files\. Writes out\/\. No network\./);
    await workbench.screenshot('tool-reach');
    await pressDialog(page, 'Cancel');
    // And is not contained at all.
    const free = { ...report, run: { ...report.run, contained: false } };
    fs.writeFileSync(inside('billing', FILE), toolFile(free, ticket));
    await editor()
      .locator('.view-line', { hasText: /"contained"/ })
      .waitFor();
    await lenses().first().click();
    await expect(dialog(page)).toHaveText(/Not contained: it can read, change and send anything you can\./);
    await workbench.screenshot('tool-uncontained');
    await workbench.screenshot('dialog-uncontained', page.locator('.monaco-dialog-box'));
    await pressDialog(page, 'Cancel');
  });

  test('are shown in a document beside the question where they say more than fits', async () => {
    const long = Array.from(
      { length: 40 },
      (_, index) => `part ${index} of a report that goes on ${'and on '.repeat(index)}`,
    );
    const wordy = { ...report, run: { ...report.run, command: ['echo', ...long] } };
    fs.writeFileSync(inside('billing', FILE), toolFile(wordy, ticket));
    await open('billing');
    await editor()
      .locator('.view-line', { hasText: /"echo"/ })
      .waitFor();
    await page.keyboard.press('Control+Home');
    await lenses().first().click();
    const question = await notification(page, /Read the whole request in the document/);
    await editor()
      .locator('.view-line', { hasText: /Reads.this.workspace/ })
      .waitFor();
    await workbench.screenshot('tool-request');
    await question.getByRole('button', { name: 'Allow Once' }).click();
    await output()
      .getByText(/part.39/)
      .last()
      .waitFor();
    await expect(page.locator('.tab', { hasText: 'Tool Request' })).toHaveCount(0);
    fs.writeFileSync(inside('billing', FILE), toolFile(report, ticket));
  });

  test('send nothing to a host that the user has not allowed, and name the setting', async () => {
    await open('billing');
    await lenses().nth(1).click();
    await answerInput(page, '7');
    const told = await notification(page, /Tools cannot send requests to/);
    await expect(told).toHaveText(/tracker\.example\.com.*rolecall\.tools\.allowedHosts/s);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0, 'what is refused is not asked about');
    await workbench.screenshot('tool-host-refused');
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  test('are begun with a commented example that is valid, in the folder that is chosen', async () => {
    await runCommand(page, 'Rolecall: New Workspace Tool', 'website');
    await editor()
      .locator('.view-line', { hasText: /The.model.uses/ })
      .waitFor();
    await lenses().first().waitFor();
    await workbench.screenshot('tool-new');
    assert.match(await textOfEditor(page, editor()), /\/\/ The model uses this description/);
    await showProblems();
    await panel().getByText('No problems').waitFor();
    const written = fs.readFileSync(inside('website', FILE), 'utf8');
    assert.match(written, /"name": "count_words_2"/, 'the first folder has a tool of the example’s name');
  });

  test('are run for another agent after Rolecall’s own question, each time, and never beyond it', async () => {
    const call = { tool: 'count_words', arguments: { file: 'handover.md' } };
    for (const _ of ['first', 'second']) {
      await outsider(call);
      await expect(dialog(page)).toHaveText(/Run tool "count_words" from workspace "operations"\?/);
      await workbench.screenshot('tool-other-agent');
      await pressDialog(page, 'Allow Once');
      assert.match(await answer(page), /It was given: .*handover\.md/s);
    }
    await outsider(call);
    await pressDialog(page, 'Cancel');
    assert.match(await answer(page), /did not allow this call/);
    await outsider({});
    assert.match(await answer(page), /count_words.*report.*find_ticket/s);
  });
});
