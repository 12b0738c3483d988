// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { dialog, pressDialog } from '../../harness/actions.ts';
import { answer, chat, newChat, newestAnswer, pickModel, send, stop, useMode } from '../../harness/chat.ts';
import { running } from '../../harness/processTree.ts';
import { lastRecordedRequest } from '../../harness/sandboxControl.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

const file = { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] };
const nothing = { type: 'object', properties: {}, required: [] };
const definitions = [
  ['count_words', file, ['wc', '-w', '--', '${file}'], {}],
  ['list_files', nothing, ['ls', '-p'], {}],
  // Leaves a mark, so that a run that should not have been is seen.
  [
    'leave_mark',
    { ...file, properties: { file: { type: 'string', maxLength: 20 } } },
    ['touch', '--', '${file}'],
    { access: { write: ['.'] } },
  ],
  // A program and its child, which tell their ids (contained, they would not know them) and would go on for ten minutes.
  [
    'wait_long',
    nothing,
    ['sh', '-c', 'sleep 600 & echo "$$ $!" > pids.tmp; mv pids.tmp pids; wait'],
    { contained: false },
  ],
] as const;

/** What becomes of the calls of tools that a model makes. */
test.describe('a tool that a model calls', () => {
  let workbench: Workbench;
  let page: Page;

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    await newChat(page);
    await useMode(page, 'Agent');
    await pickModel(page, 'Sandbox Guide');
    const tools = definitions.map(([name, parameters, command, more]) => {
      const run = { kind: 'process', command, timeoutSeconds: 600, ...more };
      return { name, description: `The tool ${name}.`, parameters, run };
    });
    fs.writeFileSync(inFolder('.vscode', 'rolecall.tools.json'), JSON.stringify({ tools }));
  });

  const inFolder = (...names: string[]) => path.join(workbench.folder, ...names);

  /** The calls of the last round that had any, each with its result, as the model was told them. */
  async function lastCalls(): Promise<(readonly [name: string, result: string | undefined])[]> {
    const { messages } = await lastRecordedRequest(workbench.sandbox);
    const calls = messages.findLast(({ tool_calls }) => tool_calls !== undefined)?.tool_calls ?? [];
    return calls.map((call) => {
      return [call.function.name, messages.find(({ tool_call_id }) => tool_call_id === call.id)?.content];
    });
  }

  test('is run after a yes, and its result is told', async () => {
    await send(page, '@rolecall use leave_mark with file=yes.txt');
    await expect(dialog(page)).toHaveText(/leave_mark[\s\S]*Argument: "yes\.txt"/);
    await pressDialog(page, 'Allow Once');
    assert.match(await answer(page), /Completed.\d+.steps/);
    assert.ok(fs.existsSync(inFolder('yes.txt')));
    assert.deepEqual(await lastCalls(), [['leave_mark', 'The program succeeded and wrote nothing.']]);
    await newestAnswer(page)
      .getByText(/Completed.\d+.steps/)
      .click();
    await newestAnswer(page).getByText('Used leave_mark ({"file":"yes.txt"}).').waitFor();
  });

  test('is not run after a no, which the model hears and answers', async () => {
    await send(page, '@rolecall use leave_mark with file=no.txt');
    await dialog(page).waitFor();
    await pressDialog(page, 'Cancel');
    assert.match(await answer(page), /You.did.not.allow.leave_mark.to.run\./);
    assert.deepEqual(await lastCalls(), [['leave_mark', 'The user did not allow this call.']]);
    assert.equal(fs.existsSync(inFolder('no.txt')), false);
    await newestAnswer(page)
      .getByText(/Completed.\d+.steps/)
      .click();
    await newestAnswer(page).getByText('You did not allow leave_mark.').waitFor();
    await workbench.screenshot('chat-tool-refused');
  });

  for (const [what, args, reason] of [
    ['of the wrong type', '{"file": 7}', 'file must be string'],
    ['out of bounds', '{"file": "wrong-because-it-is-too-long"}', 'file must NOT have more than 20 characters'],
  ] as const) {
    test(`is neither asked for nor run with arguments ${what}: the model hears why`, async () => {
      // Had it asked, the answer would wait for the dialog.
      const said = await chat(page, `@rolecall use leave_mark ${args}`);
      assert.match(said, new RegExp(reason.replaceAll(' ', '.')));
      assert.deepEqual(await lastCalls(), [
        ['leave_mark', `The arguments do not match the schema of the tool, so nothing was run. ${reason}.`],
      ]);
      assert.equal(fs.existsSync(inFolder('wrong-because-it-is-too-long')), false);
    });
  }

  test('is asked for one after the other when two are called at once, and each result finds its call', async () => {
    await send(page, '@rolecall use count_words with file=handover.md and list_files');
    const asked = [];
    for (const _ of [1, 2]) {
      asked.push(/tool "(\w+)"/.exec(await dialog(page).innerText())?.[1]);
      await pressDialog(page, 'Allow Once');
      const same = page.locator('.monaco-dialog-box', { hasText: `"${asked.at(-1)}"` });
      await same.waitFor({ state: 'detached' });
    }
    assert.deepEqual(asked.sort(), ['count_words', 'list_files']);
    assert.match(await answer(page), /handover\.md[\s\S]*rotate\.py/);
    const calls = new Map(await lastCalls());
    assert.match(calls.get('count_words') ?? '', /^\d+ handover\.md\n$/);
    assert.match(calls.get('list_files') ?? '', /^README\.md\n[\s\S]*^handover\.md\n[\s\S]*^rotate\.py$/m);
    await workbench.screenshot('chat-tools-parallel');
  });

  test('is killed with its children by Stop, and the conversation goes on', async () => {
    await send(page, '@rolecall use wait_long');
    await dialog(page).waitFor();
    await pressDialog(page, 'Allow Once');
    await expect.poll(() => fs.existsSync(inFolder('pids'))).toBe(true);
    const pids = fs.readFileSync(inFolder('pids'), 'utf8').trim().split(' ').map(Number);
    assert.deepEqual(running(pids).length, 2);
    await newestAnswer(page).getByText('Calling wait_long…').waitFor();
    try {
      await stop(page);
      await expect.poll(() => running(pids)).toEqual([]);
    } finally {
      for (const pid of running(pids)) process.kill(pid, 'SIGKILL');
    }
    await answer(page);
    await expect(newestAnswer(page)).toContainText('Stopped.');
    await workbench.screenshot('chat-stopped');
    assert.match(await chat(page, '@rolecall say: going on'), /^going on/);
    assert.deepEqual(await lastCalls(), [['wait_long', 'Cancelled by the user before it was done.']]);
  });
});
