import assert from 'node:assert/strict';
import { expect, type Page } from '@playwright/test';
import { attempt } from '../../harness/actions.ts';
import {
  answer,
  chat,
  newChat,
  newestAnswer,
  openModelPicker,
  pickModel,
  promptReady,
  send,
  useMode,
  waitForModels,
} from '../../harness/chat.ts';
import { lastRecordedRequest, recordedRequests } from '../../harness/sandboxControl.ts';
import { firstPrompt, signInAs } from '../../harness/signIn.ts';
import { shared, test, type Workbench } from '../../harness/workbench.ts';

/**
 * Somebody who has never seen the tree: the first message in a fresh profile, in Ask mode (newcomer.test.ts sends it in
 * Agent mode, the default), and what the editor's own model picker makes of it.
 */
test.describe('a chat from its first message on', () => {
  test.describe.configure({ mode: 'serial' });
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.open({ ...shared, showsView: false });
    page = workbench.page;
    await waitForModels(page);
  });

  const offered = async () => (await openModelPicker(page)).filter((label) => !/^(Manage|Other) Models/.test(label));

  test('in Ask mode, signed out: shows the ways in', async () => {
    await useMode(page, 'Ask');
    assert.match(await chat(page, '@rolecall hello'), /No cloud configured yet/);
    for (const name of ['Try the Sandbox', 'Configure Your Cloud']) {
      await newestAnswer(page).getByRole('button', { name }).waitFor();
    }
    await workbench.screenshot('chat-way-in');
    assert.deepEqual(await offered(), ['Rolecall, Sign in to see the models, Current model']);
    await page.keyboard.press('Escape');
  });

  test('in Agent mode, signed out: the same', async () => {
    await useMode(page, 'Agent');
    await chat(page, '@rolecall hello again');
    await newestAnswer(page).getByRole('button', { name: 'Try the Sandbox' }).waitFor();
  });

  test('goes on after the sign-in with the model that was picked before it, in both modes', async () => {
    const tryIt = newestAnswer(page).getByRole('button', { name: 'Try the Sandbox' });
    await signInAs(workbench, 'Ada Moreau', () => tryIt.click());
    await promptReady(page, firstPrompt);
    for (const mode of ['Agent', 'Ask'] as const) {
      await useMode(page, mode);
      assert.match(await chat(page, `@rolecall say: here in ${mode} mode`), new RegExp(`^here in ${mode} mode`));
    }
    const { messages } = await lastRecordedRequest(workbench.sandbox);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['say: here in Agent mode', 'here in Agent mode', 'say: here in Ask mode'],
      'what was asked before the sign-in is not sent',
    );
  });

  for (const [mode, picked] of [
    ['Ask', 'Sandbox Vision'],
    ['Agent', 'Sandbox Guide without tools'],
  ] as const) {
    test(`lists the cloud’s models in the picker of ${mode} mode, and asks the one that is picked`, async () => {
      await useMode(page, mode);
      const models = workbench.sandbox.descriptor.models.map(({ label }) => label);
      await attempt(async () => {
        // A list that was opened before the editor has switched the mode is not made anew.
        const labels = await offered();
        expect(labels.map((label) => label.split(', ')[0])).toEqual(expect.arrayContaining(models));
      });
      await workbench.screenshot(`model-picker-${mode.toLowerCase()}`);
      await page.keyboard.press('Escape');
      await pickModel(page, picked);
      assert.match(await chat(page, '@rolecall say: it is me'), new RegExp(`it is me\\s+${picked} · [\\d,]+ input`));
      const { model } = await lastRecordedRequest(workbench.sandbox);
      assert.equal(model, workbench.sandbox.descriptor.models.find(({ label }) => label === picked)?.id);
    });
  }

  test('answers @rolecall whatever the editor makes of a message without it', async () => {
    const before = (await recordedRequests(workbench.sandbox)).length;
    await newChat(page);
    await send(page, 'who are you');
    const dialog = page.locator('.monaco-dialog-box');
    const isOver = page.locator('.chat-most-recent-response:not(.chat-response-loading)');
    await dialog.or(isOver).first().waitFor();
    await workbench.screenshot('chat-without-rolecall');
    if (await dialog.isVisible()) {
      await page.keyboard.press('Escape');
    }
    await answer(page);
    const asked = (await recordedRequests(workbench.sandbox)).length - before;
    assert.match(await chat(page, '@rolecall say: at your service'), /^at your service/);
    assert.equal((await recordedRequests(workbench.sandbox)).length, before + asked + 1);
  });
});
