import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { attempt, openFile, runCommand } from '../../harness/actions.ts';
import {
  answer,
  chat,
  newChat,
  newestAnswer,
  pickModel,
  questions,
  send,
  stop,
  suggestions,
  useMode,
} from '../../harness/chat.ts';
import { counter, lastRecordedRequest, recordedRequests, silence } from '../../harness/sandboxControl.ts';
import { extensionPage } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

/** What a developer does with answers: stops one, asks again, asks about code, reads the reasoning. */
test.describe('an answer in chat', () => {
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    await newChat(page);
    await pickModel(page, 'Sandbox Guide');
  });

  test('comes to a message in Ask mode, with what it took', async () => {
    await useMode(page, 'Ask');
    assert.match(
      await chat(page, '@rolecall say: at once'),
      /^at once\s+Sandbox Guide · [\d,]+ input, \d+ output tokens · [\d.]+ s$/,
    );
  });

  test('is asked for again by the chat’s own Retry, with the same question and history', async () => {
    await newChat(page);
    await chat(page, '@rolecall say: once');
    assert.match(await chat(page, '@rolecall say: and once more'), /^and once more/);
    const shown = await questions(page).count();
    const before = await recordedRequests(workbench.sandbox);
    const again = newestAnswer(page).locator('.chat-footer-toolbar .codicon-refresh');
    const asked = async () => (await recordedRequests(workbench.sandbox)).length;
    await attempt(async (quickly) => {
      if ((await asked()) === before.length) await again.click(quickly);
      await expect.poll(asked, quickly).toBe(before.length + 1);
    });
    assert.match(await answer(page), /^and once more/);
    const { messages } = await lastRecordedRequest(workbench.sandbox);
    assert.equal(messages.length, 3);
    assert.deepEqual(messages, before.at(-1)?.messages);
    await expect(questions(page)).toHaveCount(shown);
  });

  test('is stopped: the service sees the connection close, and the next question tells what had been said', async () => {
    const aborted = await counter(workbench.sandbox, 'streams.inference.aborted');
    await silence(workbench.sandbox, 20_000);
    await send(page, '@rolecall count to 4000');
    await newestAnswer(page).getByText('12, 13').waitFor();
    await stop(page);
    await expect.poll(() => counter(workbench.sandbox, 'streams.inference.aborted')).toBe(aborted + 1);
    await expect.poll(() => counter(workbench.sandbox, 'streams.inference.open')).toBe(0);
    const partly = (await answer(page)).trim();
    assert.match(partly, /^1, 2, 3, .*13/);
    await workbench.screenshot('chat-stopped');
    assert.match(await chat(page, '@rolecall say: and on'), /^and on/);
    const [asked, said, next] = (await lastRecordedRequest(workbench.sandbox)).messages.slice(-3);
    assert.deepEqual([asked?.role, asked?.content], ['user', 'count to 4000']);
    // Not what had arrived, of which the editor may have shown a little less.
    assert.deepEqual([said?.role, said?.content.trim()], ['assistant', partly]);
    assert.deepEqual([next?.role, next?.content], ['user', 'say: and on']);
  });

  test('shows its reasoning in the editor area', async () => {
    assert.match(await chat(page, '@rolecall only think'), /reasoned but did not answer/);
    await workbench.screenshot('chat-reasoning');
    await newestAnswer(page).getByRole('button', { name: 'Show Reasoning' }).click();
    await page.locator('.tab', { hasText: /^Reasoning$/ }).waitFor();
    await extensionPage(page).getByText('from the role user and the user wrote 2 words').waitFor();
    await runCommand(page, 'View: Close All Editors');
  });

  test('/explain is about the selection, in Agent mode; what it suggests is about the same code, whatever is open by then', async () => {
    await useMode(page, 'Agent'); // In Ask mode the editor attaches the open file by itself.
    await openFile(page, 'rotate.py');
    await page.keyboard.press('Control+A');
    assert.match(await chat(page, '@rolecall /explain'), /rotate\.py.\(1–17\).has.17.lines.of.python/);
    assert.match(
      (await lastRecordedRequest(workbench.sandbox)).messages.at(-1)?.content ?? '',
      /^Explain this[\s\S]*rotate\.py[\s\S]*def rotate\(/,
    );
    await workbench.screenshot('chat-explain');
    await expect(suggestions(page)).toHaveText(['Look for mistakes in it', 'Write tests for it']);
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, 'README.md');
    await suggestions(page).first().click();
    await questions(page).filter({ hasText: 'Look for mistakes in it' }).waitFor();
    await answer(page);
    const { messages } = await lastRecordedRequest(workbench.sandbox);
    assert.match(messages.at(-1)?.content ?? '', /^Find what is wrong here.*\n\nLook for mistakes in it$/);
    assert.match(messages.at(-3)?.content ?? '', /def rotate\(/);
    await runCommand(page, 'View: Close All Editors');
  });

  test('/explain is about the file that is attached', async () => {
    assert.match(await chat(page, '@rolecall /explain', 'handover.md'), /handover\.md.has.\d+.lines.of.markdown/);
    assert.match(
      (await lastRecordedRequest(workbench.sandbox)).messages.at(-1)?.content ?? '',
      /handover\.md:\n```markdown\n# Handover\n/,
    );
  });

  test('/tools lists what there is, without asking a model', async () => {
    const before = (await recordedRequests(workbench.sandbox)).length;
    const said = await chat(page, '@rolecall /tools');
    for (const tool of ['list_groups', 'who_has_role', 'count_words', 'list_files']) {
      assert.match(said, new RegExp(`${tool}: [A-Z]`));
    }
    await workbench.screenshot('chat-tools');
    assert.equal((await recordedRequests(workbench.sandbox)).length, before);
  });

  test('/access knows groups and roles, looks things up, and suggests what to ask next', async () => {
    const said = await chat(page, '@rolecall /access use who_has_role with role=legacy-operator organization=meridian');
    assert.match(said, /legacy-operator.*in.meridian:.nobody.through/);
    const [instructions] = (await lastRecordedRequest(workbench.sandbox)).messages;
    assert.equal(instructions?.role, 'system');
    assert.match(
      instructions?.content ?? '',
      /organizations: [^.]*meridian[^.]*\. Find it out with the tools list_groups/,
    );
    await suggestions(page).filter({ hasText: 'Who can change who has access?' }).waitFor();
    await workbench.screenshot('chat-access');
  });

  test('keeps its last line out of a code block that the model left open', async () => {
    await chat(page, '@rolecall say: ```js\nlet cut');
    await newestAnswer(page).locator('em', { hasText: 'output tokens' }).waitFor();
    await newestAnswer(page).locator('.interactive-result-code-block', { hasText: 'cut' }).waitFor();
  });

  test('runs no command and fetches nothing, whatever a model writes', async () => {
    const asked: (string | undefined)[] = [];
    const listener = http.createServer(({ url }, response) => {
      asked.push(url);
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
      const evil = [
        '[x](command:workbench.action.closeWindow) <a href="command:workbench.action.closeWindow">raw</a>',
        `![i](${address}/p.png) <img src="${address}/h.png"> <iframe src="${address}/f"></iframe>`,
        `<div style="background:url(${address}/c)">block</div> <script>document.title = 'taken'</script>`,
        `![r][1] $(error) <b>bold</b>\n\n[1]: ${address}/r.png\n\nend of it`,
      ].join('\n\n');
      // The editor renders the question too, so that it must come from elsewhere: from a file that is attached.
      fs.writeFileSync(path.join(workbench.folder, 'evil.md'), `${evil}\n`);
      assert.match(await chat(page, '@rolecall repeat what is attached', 'evil.md'), /x[\s\S]*end of it/);
      const links = newestAnswer(page).locator('a, [data-href]');
      for (const link of await links.evaluateAll((all) => all.map((each) => each.outerHTML))) {
        assert.doesNotMatch(link, /command:/);
      }
      const loaded = newestAnswer(page)
        .locator('.value')
        .locator('img, iframe, script, b, .codicon-error, [style*="url("]');
      assert.deepEqual(await loaded.evaluateAll((all) => all.map((each) => each.outerHTML)), []);
      await workbench.screenshot('chat-untrusted');
      // A picture would have been asked for before this one.
      await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).catch(() => undefined), `${address}/last`);
      assert.deepEqual(
        asked.filter((url) => url !== '/last'),
        [],
      );
    } finally {
      listener.close();
    }
  });
});
