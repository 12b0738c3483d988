import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
import { choose, openFile, quickInput, quickPickRows, runCommand } from '../../harness/actions.ts';
import { openChat } from '../../harness/chat.ts';
import { goOn, silence } from '../../harness/sandboxControl.ts';
import { extensionPage, showOwnView } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

/** As people wrote them for GitHub Models. */
const CAPITALS = `name: Capitals
description: Names the capital of a country
model: openai/gpt-4o
modelParameters:
  temperature: 0
  seed: 7
messages:
  - role: system
    content: Answer with the name of the city.
  - role: user
    content: 'say: {{answer}}'
testData:
  - input: France
    answer: Paris
    expected: Paris
  - input: Japan
    answer: Tokyo
    expected: Kyoto
evaluators:
  - name: is right
    string:
      equals: '{{expected}}'
`;

const STORY = `name: Story
model: sandbox/ngram
modelParameters:
  logprobs: true
  top_logprobs: 3
  max_tokens: 80
  seed: 11
messages:
  - role: user
    content: Tell me about tokens and streams.
`;

/** Somebody opens a prompt file of another cloud, runs it, mends it, and looks at what models answer. */
test.describe('a prompt file', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    await runCommand(page, 'View: Hide Secondary Side Bar');
    fs.writeFileSync(inFolder('capitals.prompt.yml'), CAPITALS);
    fs.writeFileSync(inFolder('story.prompt.yml'), STORY);
  });

  test.afterAll(async () => {
    for (const name of ['capitals', 'story']) fs.rmSync(inFolder(`${name}.prompt.yml`), { force: true });
    await runCommand(page, 'View: Close All Editors');
    await showOwnView(page);
    await openChat(page);
  });

  const inFolder = (...names: string[]) => path.join(workbench.folder, ...names);
  const comparison = (): Locator => extensionPage(page).locator('main');
  const lens = (text: string): Locator => page.locator('.codelens-decoration a', { hasText: text });
  const result = (name: string): Locator => page.locator(`.editor-instance[aria-label^=${JSON.stringify(name)}]`);
  /** In the title of the editor that has the focus. */
  const titleButton = (name: string | RegExp): Locator =>
    page.locator('.editor-group-container.active .editor-actions').getByRole('button', { name });
  /** In the Test view, with what became of it. */
  const suite = (state: string): Locator =>
    page.locator(`.part.sidebar .monaco-list-row[aria-label*="capitals.prompt.yml (${state}"]`);

  test('says above its text what can be done with it, and runs', async () => {
    await openFile(page, 'capitals.prompt.yml');
    await lens('Run with Models…').waitFor();
    await workbench.screenshot('prompt-file');
    await lens('Run').first().click();
    await quickInput(page).getByText('Model for openai/gpt-4o').waitFor();
    await workbench.screenshot('prompt-model');
    await choose(page, 'Sandbox Guide');
    await quickInput(page).getByText('Select a Case').waitFor();
    await choose(page, 'Japan');
    const shown = result('capitals.result.md');
    await shown.getByText('Finish reason: stop').waitFor();
    await workbench.screenshot('prompt-result');
    assert.match(await shown.innerText(), /Tokyo/);
    // However long the answer is, its title stays in sight.
    await shown.locator('.view-lines').click();
    for (const name of [/from This Answer/, /Run Prompt Again/, /Save Prompt Result/]) {
      await titleButton(name).waitFor();
    }
    await expect(titleButton(/Uncertain Token/)).toHaveCount(0); // No probabilities came.
    await workbench.screenshot('prompt-result-title');
  });

  test('shows in the Test view what fails, and how it differs', async () => {
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    await page.locator('.part.sidebar .monaco-list-row', { hasText: 'capitals.prompt.yml' }).waitFor();
    await runCommand(page, 'Test: Run All Tests');
    await suite('Failed').waitFor();
    await page.locator('.part.panel [role="treeitem"]', { hasText: 'Japan' }).click();
    await page.locator('.part.panel .monaco-diff-editor').getByText('Kyoto').waitFor();
    await workbench.screenshot('prompt-tests');
  });

  test('is green when it is mended', async () => {
    fs.writeFileSync(inFolder('capitals.prompt.yml'), CAPITALS.replace('Kyoto', 'Tokyo'));
    await page.locator('.view-line', { hasText: 'expected: Tokyo' }).waitFor();
    await runCommand(page, 'Test: Run All Tests');
    await suite('Passed').waitFor();
    await workbench.screenshot('prompt-tests-green');
  });

  test('is compared with the run before', async () => {
    await runCommand(page, 'View: Hide Panel');
    await runCommand(page, 'View: Close All Editors'); // The file may be open in either half.
    await openFile(page, 'capitals.prompt.yml');
    await lens('Compare…').click();
    await quickPickRows(page).filter({ hasText: 'Run of' }).first().click();
    await comparison().getByText('Better').first().waitFor();
    await workbench.screenshot('prompt-comparison');
    await comparison().getByText('Japan').click();
    await page.locator('.tab.active', { hasText: 'capitals.prompt.yml: Japan' }).waitFor();
    await workbench.screenshot('prompt-difference');
  });

  test('is answered by two models side by side', async () => {
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, 'capitals.prompt.yml');
    await lens('Run with Models…').click();
    await quickPickRows(page).filter({ hasText: 'Sandbox N-gram' }).click();
    await page.keyboard.press('Enter');
    await quickInput(page).getByText('Select a Case').waitFor();
    await choose(page, 'France');
    const shown = result('capitals.result.md');
    await shown.getByText('is right').nth(1).waitFor();
    await workbench.screenshot('prompt-models');
    await lens('Compare…').click();
    await choose(page, 'Sandbox Guide with Sandbox N-gram');
    await comparison().getByText('Worse').first().waitFor();
    await workbench.screenshot('prompt-models-compared');
  });

  test('is stopped by the button in its title', async () => {
    await runCommand(page, 'View: Close All Editors'); // Or the links of the file before could be clicked.
    await openFile(page, 'story.prompt.yml');
    await silence(workbench.sandbox, 500);
    await lens('Run').first().click();
    const stop = titleButton('Stop');
    await stop.click();
    await result('story.result.md').getByText('Stopped.').waitFor();
    await stop.waitFor({ state: 'hidden' });
    await workbench.screenshot('prompt-stopped');
    await goOn(workbench.sandbox);
  });

  test('colors the tokens of an answer', async () => {
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, 'story.prompt.yml');
    await lens('Run').first().click();
    const shown = result('story.result.md');
    await shown.getByText('Perplexity').waitFor();
    await shown.locator('.view-lines').click();
    await titleButton(/Go to Next Uncertain Token/).click();
    await runCommand(page, 'Show or Focus Hover');
    await page.locator('.monaco-hover:visible', { hasText: 'Probability' }).waitFor();
    await workbench.screenshot('prompt-tokens');
  });
});
