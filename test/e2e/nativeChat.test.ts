import assert from 'node:assert/strict';
import { expect, type Page } from '@playwright/test';
import { answerInput, attempt, dialog, pressDialog, runCommand } from '../harness/actions.ts';
import {
  answer,
  chat,
  newChat,
  newestAnswer,
  openChat,
  openModelPicker,
  sendWithoutParticipant,
  useMode,
  write,
} from '../harness/chat.ts';
import { recordedRequests } from '../harness/sandboxControl.ts';
import { signInAs } from '../harness/signIn.ts';
import { showOwnView } from '../harness/views.ts';
import { builtin, test, type Workbench } from '../harness/workbench.ts';

/**
 * VS Code's own chat, without `@rolecall` and without a GitHub account: nobody can sign in to GitHub where these tests run. What
 * each of its agents does with a message, by default, with the switches for its agent host, and after Use My Cloud's Models in
 * VS Code's Chat. README and docs/vscode.md say what is seen here.
 */
test.describe('the editor’s own chat', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;

  const own = {
    id: 'sandbox/guide',
    label: 'Guide',
    price: { input: 0.5, output: 1.5, currency: 'EUR' },
    warning: 'Give it no *personal* data.',
  };

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.open({
      sandbox: ['--groups', '10', '--roles', '5', '--pace-ms', '0'],
      isConfigured: true,
      settings: { 'rolecall.models': [own], 'rolecall.inference.headers': { 'X-Tenant': 'meridian' } },
      builtin: [...builtin, 'copilot', 'github-authentication'],
    });
    page = workbench.page;
    const side = await showOwnView(page);
    await signInAs(workbench, 'Ada Moreau', async () => {
      await side.getByRole('button', { name: 'Sign In', exact: true }).click();
      await answerInput(page, workbench.sandbox.descriptor.clients.loopback.secret);
    });
    await openChat(page);
  });

  const view = () => page.locator('.part:not(.editor) .interactive-session');
  const harness = () =>
    view()
      .locator('.chat-secondary-toolbar, .chat-input-toolbars')
      .getByText(/^(?:Local|Copilot)$/);
  const rows = () => page.locator('.action-widget .monaco-list-row.action');
  const asked = async () => (await recordedRequests(workbench.sandbox)).length;

  /** The labels of the agents, as they are read aloud; the list is open. */
  async function agents(): Promise<string[]> {
    let labels: string[] = [];
    // When the editor draws the chat's input anew, the list closes: after it was seen, too.
    await attempt(async (quickly) => {
      if (!(await rows().first().isVisible())) await harness().first().click(quickly);
      await rows().first().waitFor(quickly);
      labels = await rows().evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
      assert.notEqual(labels.length, 0);
    });
    return labels;
  }

  test('offers what VS Code’s picker can set for a model, and sends what was chosen', async () => {
    const hover = page.locator('.chat-model-hover');
    await attempt(async (quickly) => {
      await openModelPicker(page);
      await page.getByRole('option', { name: /^Guide(?:,|$)/ }).hover(quickly);
      await expect(hover).toContainText('€0.50 input, €1.50 output per million tokens', quickly);
    });
    await expect(hover).toContainText('Give it no *personal* data.');
    await workbench.screenshot('picker-price');
    await page.keyboard.press('Escape');
    const menu = view().locator('.chat-input-toolbars').getByText('Auto', { exact: true });
    await attempt(async (quickly) => {
      if (!(await rows().first().isVisible())) await menu.click(quickly);
      await rows().filter({ hasText: 'High' }).waitFor(quickly);
    });
    await workbench.screenshot('picker-effort');
    await rows().filter({ hasText: 'High' }).click();
    await page.keyboard.press('Escape');
    assert.match(await chat(page, '@rolecall say: with effort'), /with effort/);
    const [request] = (await recordedRequests(workbench.sandbox)).slice(-1);
    assert.equal(request?.reasoning_effort, 'high');
    await runCommand(page, 'Rolecall: Show Effective Parameters');
  });

  for (const mode of ['Agent', 'Ask'] as const) {
    test(`by default, Local, ${mode}: asks for a sign-in to GitHub, and sends nothing`, async () => {
      const before = await asked();
      await newChat(page);
      await useMode(page, mode);
      await sendWithoutParticipant(page, `say: ${mode}`);
      await expect(page.locator('.monaco-dialog-box')).toContainText('Sign in to use GitHub Copilot');
      await workbench.screenshot(`native-default-${mode.toLowerCase()}`);
      await page.keyboard.press('Escape');
      assert.match(await answer(page), /You need to set up GitHub Copilot and be signed in/);
      assert.equal(await asked(), before);
    });
  }

  test('by default, the Copilot agent: cannot be picked without a sign-in to GitHub', async () => {
    await newChat(page);
    const labels = await agents();
    await page.keyboard.press('Escape');
    assert.ok(
      labels.some((label) => /^Copilot, Sign in\. .*Disabled/.test(label)),
      labels.join('\n'),
    );
  });

  test('after the command shows what it changes and is told yes', async () => {
    await runCommand(page, 'Rolecall: Use My Cloud’s Models in VS Code’s Chat');
    await expect(dialog(page)).toContainText('chat.byokUtilityModelDefault is set to "mainAgent"');
    await workbench.screenshot('native-command');
    await pressDialog(page, 'Use My Cloud’s Models');
    const editor = page
      .locator('.models-table-viewport, .models-table-container, .ai-models-management-editor')
      .first();
    await editor.waitFor();
    await attempt(async (quickly) => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+W');
      await editor.waitFor({ state: 'hidden', ...quickly });
    });
  });

  test('Local, Ask: the cloud’s model answers, and writes the title', async () => {
    await newChat(page);
    await useMode(page, 'Ask');
    const before = await asked();
    // While the editor starts what answers, it may begin the chat anew and forget the first message.
    await expect(async () => {
      await sendWithoutParticipant(page, 'say: native');
      await expect(newestAnswer(page)).toContainText('native', { timeout: 20_000 });
    }).toPass({ timeout: 120_000 });
    await workbench.screenshot('native-ask');
    const requests = (await recordedRequests(workbench.sandbox)).slice(before);
    assert.ok(requests.every(({ model }) => model === own.id));
    assert.ok(requests.some(({ messages }) => messages.at(-1)?.content.includes('say: native')));
  });

  test('Local, Agent: the message reaches the cloud’s model, with Rolecall’s tools among the others', async () => {
    await newChat(page);
    await useMode(page, 'Agent');
    const before = await asked();
    // The editor's instructions name tools that write: the demo model calls none, because the user has not asked for it.
    await sendWithoutParticipant(page, 'what can you do?');
    assert.match(await answer(page), /\/access who can administer meridian[\s\S]*Available tools:.*rolecall/);
    await workbench.screenshot('native-agent');
    const requests = (await recordedRequests(workbench.sandbox)).slice(before);
    const names = requests.flatMap(({ tools = [] }) => tools.map((tool) => tool.function.name));
    for (const name of ['rolecall_who_has_role', 'rolecall_effective_access', 'rolecall_workspaceTool']) {
      assert.ok(names.includes(name), names.join());
    }
    assert.ok(requests.every(({ messages }) => messages.every(({ role }) => role !== 'tool')));
  });

  test('the Copilot agent with its switches on: can be picked, offers no models but its own, and sends nothing', async () => {
    workbench.changeSettings({
      'chat.agentHost.enabled': true,
      'chat.agentHost.byokModels.enabled': true,
      'chat.agentHost.allowSignedOutWhenUsable': true,
    });
    await page.reload();
    await showOwnView(page);
    await newChat(page);
    await expect
      .poll(async () => {
        const labels = await agents();
        await page.keyboard.press('Escape');
        return labels.find((label) => label.startsWith('Copilot'));
      })
      .toMatch(/Run a Copilot SDK agent in the local agent host process/);
    await agents();
    await rows().filter({ hasText: 'Copilot' }).first().click();
    await expect(view()).toContainText('Sign in to use GitHub Copilot models, or add a model with your own API key.');
    await workbench.screenshot('native-agent-host', view().first());
    const before = await asked();
    await attempt(async (quickly) => {
      await view().locator('.model-picker-name').first().click(quickly);
      await rows().first().waitFor(quickly);
    });
    const labels = await rows().evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
    await page.keyboard.press('Escape');
    assert.ok(!labels.some((label) => /Guide|Rolecall/.test(label)), labels.join('\n'));
    const input = await write(page, 'hello');
    await page.keyboard.press('Enter');
    // What is sent leaves the input.
    await expect(input.locator('.view-lines')).toHaveText('hello');
    assert.equal(await asked(), before);
  });
});
