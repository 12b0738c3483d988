import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { ownerOf } from '../../../src/host/cancellation.ts';
import type { LastExchange, ToolRegistry } from '../../../src/host/conversation.ts';
import { noTools } from '../../../src/host/editor/runConversationWithProgress.ts';
import { readPrompt, resourcesOf } from '../../../src/host/prompts/promptFiles.ts';
import { Prompts } from '../../../src/host/prompts/prompts.ts';
import { promptCommands } from '../../../src/ids.ts';
import { pagesFor, usePanels } from '../support/pages.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, connectionTo } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const TEXT = `name: Words
model: sandbox/guide
messages:
  - role: user
    content: "say: {{answer}}"
testData:
  - { name: right, answer: Paris, expected: Paris }
  - { name: wrong, answer: "Pâris 🙂", expected: Paris }
evaluators:
  - name: equal
    string:
      equals: "{{expected}}"
`;

/** What a test run was told. */
interface Told {
  readonly state: string;
  readonly test: string;
  readonly messages: readonly vscode.TestMessage[];
}

describe('prompt files', () => {
  const scene = useScene();
  const patches = usePatches();
  const panels = usePanels(patches);
  const file = workspaceFile('words.prompt.yml');
  const other = workspaceFile('other.prompt.yml');
  const prompty = workspaceFile('old.prompty');
  const data = workspaceFile('words.csv');
  let controller: vscode.TestController;
  let profiles: Map<string, vscode.TestRunProfile>;
  let told: Told[];
  let output: string;
  let ended: Promise<void>;
  let prompts: Prompts;
  let lastExchange: LastExchange;
  let calls: unknown[];
  let errors: string[];
  let deleted: vscode.EventEmitter<vscode.Uri>;

  beforeEach(async () => {
    profiles = new Map();
    errors = [];
    deleted = new vscode.EventEmitter();
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
    const { createFileSystemWatcher } = vscode.workspace;
    patches.set(vscode.workspace, 'createFileSystemWatcher', (pattern: vscode.GlobPattern) => {
      const watcher = createFileSystemWatcher(pattern);
      watcher.onDidDelete((uri) => deleted.fire(uri));
      return Object.create(watcher, { onDidDelete: { value: deleted.event } });
    });
    const { createTestController } = vscode.tests;
    // The running extension has the real one.
    patches.set(vscode.tests, 'createTestController', (_id: string, label: string) => {
      controller = createTestController(`rolecall.tests.${Date.now()}.${Math.random()}`, label);
      const createRunProfile = controller.createRunProfile.bind(controller);
      controller.createRunProfile = (name, ...more) => {
        const profile = createRunProfile(name, ...more);
        profiles.set(name, profile);
        return profile;
      };
      controller.createTestRun = () => recordedRun();
      return controller;
    });
    const { clouds } = scene();
    const catalog = scene().catalog();
    lastExchange = {};
    calls = [];
    const openTools = async (): Promise<ToolRegistry> => ({
      tools: [{ name: 'count', definition: { type: 'function', function: { name: 'count' } }, check: () => [] }],
      invoke: async ({ name, arguments: args }) => {
        calls.push([name, args]);
        return { content: 'counted: 3', isError: false };
      },
    });
    prompts = new Prompts({
      ...scene().request(),
      clouds,
      catalog,
      openTools,
      pages: scene().own(pagesFor(scene().log)),
      lastExchange,
      storage: vscode.Uri.file(path.join(scene().state, 'storage')),
      extension: { packageJSON: { version: '1.2.3' } },
    });
    scene().own(prompts);
    await write(TEXT);
  });

  afterEach(async () => {
    await clearFaults();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  function recordedRun(): vscode.TestRun {
    told = [];
    output = '';
    let end = () => {};
    ended = new Promise((resolve) => {
      end = resolve;
    });
    const tell =
      (state: string) =>
      (test: vscode.TestItem, messages: unknown = []) => {
        const list = Array.isArray(messages) ? messages : [messages].filter((each) => typeof each === 'object');
        told.push({ state, test: test.label, messages: list });
      };
    return {
      enqueued: tell('enqueued'),
      started: tell('started'),
      passed: tell('passed'),
      failed: tell('failed'),
      errored: tell('errored'),
      skipped: tell('skipped'),
      appendOutput: (text: string) => {
        output += text;
      },
      token: new vscode.CancellationTokenSource().token,
      end,
    } as unknown as vscode.TestRun;
  }

  /** VS Code keeps documents for a while after their tabs are closed, and hears of a change a moment later. */
  async function write(text: string): Promise<void> {
    await file.write(text);
    const open = () => vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === file.uri().toString());
    await until('the new text', () => [undefined, text].includes(open()?.getText()));
  }

  const verdicts = () =>
    told.filter(({ state }) => !['enqueued', 'started'].includes(state)).map(({ state, test }) => [test, state]);

  async function suite(): Promise<vscode.TestItem> {
    await controller.resolveHandler?.(undefined);
    const item = controller.items.get(file.uri().toString()) ?? assert.fail('the file is not there');
    await controller.resolveHandler?.(item);
    return item;
  }

  async function run(items: readonly vscode.TestItem[], token = new vscode.CancellationTokenSource().token) {
    const profile = profiles.get('Run') ?? assert.fail();
    await profile.runHandler(new vscode.TestRunRequest(items), token);
    await ended;
  }

  /** A service that is not the sandbox: it answers what the last message says, and keeps what it was sent. */
  async function plainServer(): Promise<{ server: Server; bodies: string[] }> {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.url?.endsWith('/models')) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ data: [{ id: 'sandbox/guide' }] }));
        return;
      }
      bodies.push(body);
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const content = (messages.at(-1)?.content ?? '').replace('say: ', '');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
      const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    scene().own({ dispose: () => server.close() });
    const { port } = server.address() as AddressInfo;
    scene().settings.connection = { ...connectionTo('service'), inferenceUrl: `http://127.0.0.1:${port}` };
    await scene().clouds.start();
    await signInAs(scene().clouds.require(), 'administrator');
    return { server, bodies };
  }

  it('go on in a file of their own, and can be run again', async () => {
    const { bodies } = await plainServer();
    const told: string[] = [];
    patches.set(vscode.window, 'showInformationMessage', async (message: string) => void told.push(message));
    const { id } = (await readPrompt(file.uri())).file.cases[0] ?? assert.fail();
    await prompts.commands[promptCommands.runPrompt](file.uri(), id);
    const result = await until('the result', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'rolecall-prompt'),
    );
    await prompts.commands[promptCommands.reproducePrompt](result.uri, 'sandbox/guide');
    assert.equal(bodies[0], bodies[1]);
    assert.deepEqual(told, ['Same answer. The service sends no fingerprint.']);
    await prompts.commands[promptCommands.continuePrompt](result.uri, 'sandbox/guide');
    // The file itself stays as it is.
    assert.equal((await readPrompt(file.uri())).text, TEXT);
    const { document, selection } = vscode.window.activeTextEditor ?? assert.fail();
    assert.equal(
      document.uri.toString(),
      vscode.Uri.joinPath(folder().uri, 'words-2.prompt.yml').with({ scheme: 'untitled' }).toString(),
    );
    assert.deepEqual(
      (await readPrompt(document.uri)).file.messages.map(({ role, content: [part] }) => [
        role,
        part?.type === 'text' && part.text.value,
      ]),
      [
        ['user', 'say: Paris'],
        ['assistant', 'Paris'],
        ['user', ''],
      ],
    );
    // Between the quotes of the next message.
    assert.equal(
      document.getText(new vscode.Range(selection.active.translate(0, -1), selection.active.translate(0, 1))),
      "''",
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  const inSandbox = async () => signInAs(scene().enterSandbox(), 'administrator');

  it('are suites whose cases are tests, in their places, and keep them while they are edited', async () => {
    const item = await suite();
    const cases = () => [...item.children].map(([id, { label, range }]) => [id, label, range?.start.line]);
    assert.deepEqual(cases(), [
      ['name:right', 'right', 6],
      ['name:wrong', 'wrong', 7],
    ]);
    const right = item.children.get('name:right');
    const document = await vscode.workspace.openTextDocument(file.uri());
    await vscode.window.showTextDocument(document);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), '# A comment\n');
    await vscode.workspace.applyEdit(edit);
    await until('the new place', () => right?.range?.start.line === 7);
    assert.equal(item.children.get('name:right'), right);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('stay when their file is replaced, and the event of its deletion comes late', async () => {
    const item = await suite();
    deleted.fire(file.uri());
    await until('its new content', async () => {
      await file.write(TEXT.replace('right', 'first')); // Until the watcher, which has a pause of its own, has told.
      return item.children.get('name:first');
    });
    assert.equal(controller.items.get(file.uri().toString()), item);
    await file.remove();
    await until('its end', () => controller.items.get(file.uri().toString()) === undefined);
  });

  it('follow the data files that they name, and results of before are stale', async () => {
    await data.write('answer,expected\nRome,Rome\n');
    await write(`${TEXT}rolecall:\n  cases: [words.csv]\n`);
    const item = await suite();
    const labels = () => [...item.children].map(([, { label }]) => label);
    assert.deepEqual(labels(), ['right', 'wrong', 'Rome']);
    const stale: unknown[] = [];
    controller.invalidateTestResults = (items) => void stale.push(items);
    await data.write('answer,expected\nRome,Rome\nOslo,Oslo\n');
    await until('the new case', () => labels().includes('Oslo'));
    assert.deepEqual(stale[0], item);
    await vscode.workspace.fs.delete(data.uri());
    await until('the missing file', () => /words\.csv/.test(String(item.error)));
    assert.deepEqual(labels(), ['right', 'wrong']);
  });

  it('are in error as a whole while a data file is missing', async () => {
    await write(`${TEXT}rolecall:\n  cases: [missing.csv]\n`);
    await inSandbox();
    const item = await suite();
    await run([item]);
    assert.deepEqual(
      told.filter(({ state }) => state === 'errored').map(({ test }) => test),
      [item.label],
    );
  });

  it('pass and fail with the difference, and keep the run', async () => {
    await inSandbox();
    await run([await suite()]);
    assert.deepEqual(verdicts().sort(), [
      ['right', 'passed'],
      ['wrong', 'failed'],
    ]);
    const [message] = told.find(({ state }) => state === 'failed')?.messages ?? [];
    assert.deepEqual([message?.expectedOutput, message?.actualOutput], ['Paris', 'Pâris 🙂']);
    assert.equal(message?.location?.range.start.line, 9);
    assert.match(output, /failed: wrong \[sandbox\/guide\]\r\nPâris 🙂\r\n {2}✗ equal \(failed\): /);
  });

  it('say once what several answers have in common, and beside a failure what could not be checked', async () => {
    await inSandbox();
    const judge =
      '  - name: judge\n    llm:\n      prompt: "{{completion}}"\n      choices: [{ choice: "none", score: 1 }]\n';
    await write(`${TEXT}${judge}rolecall:\n  repeats: 3\n`);
    const item = await suite();
    await run([item.children.get('name:wrong') ?? assert.fail()]);
    assert.deepEqual(verdicts(), [['wrong', 'failed']]);
    const [{ messages = [] } = {}] = told.filter(({ state }) => state === 'failed');
    assert.equal(messages[0]?.message, 'equal: Expected "Paris", got "Pâris 🙂". (3 of 3 answers)');
    assert.match(String(messages[1]?.message), /^judge \(error\): The judge replied .* \(3 of 3 answers\)$/);
    assert.equal(messages.length, 2);
    assert.match(output, /failed: wrong \[sandbox\/guide\] \(0 of 3 passed\)\r\n3 times:\r\nPâris 🙂\r\n {2}✗/);
    assert.equal(output.match(/Pâris 🙂\r\n/g)?.length, 1);
  });

  it('are not sent where nothing would check the answer, and say so', async () => {
    const { bodies } = await plainServer();
    await write(TEXT.replace(/evaluators:[\s\S]*/, ''));
    await run([await suite()]);
    assert.deepEqual(verdicts(), [
      ['right', 'skipped'],
      ['wrong', 'skipped'],
    ]);
    assert.match(output, /right: Not sent: there are no evaluators to check the answer\.\r\n/);
    assert.deepEqual(bodies, []);
  });

  it('run side by side with those of other files', async () => {
    const { server, bodies } = await plainServer();
    const [answerAll] = server.listeners('request') as ((...args: unknown[]) => void)[];
    // Nothing is answered before every file has asked.
    const held: (() => void)[] = [];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.endsWith('/models')) return answerAll?.(request, response);
      held.push(() => answerAll?.(request, response));
      if (held.length === 4) for (const each of held) each();
    });
    await other.write(TEXT);
    const items = [await suite(), controller.items.get(other.uri().toString()) ?? assert.fail()];
    await run(items);
    assert.equal(bodies.length, 4);
    assert.deepEqual(verdicts().sort(), [
      ['right', 'passed'],
      ['right', 'passed'],
      ['wrong', 'failed'],
      ['wrong', 'failed'],
    ]);
  });

  it('ask for all models before the first request, and say why what has none is not run', async () => {
    const { bodies } = await plainServer();
    await other.write(TEXT.replace('sandbox/guide', 'x/grok'));
    const items = [await suite(), controller.items.get(other.uri().toString()) ?? assert.fail()];
    const sentWhenAsked: number[] = [];
    patches.set(vscode.window, 'showQuickPick', async () => void sentWhenAsked.push(bodies.length));
    await run(items);
    assert.deepEqual(sentWhenAsked, [0]);
    assert.deepEqual(verdicts().sort(), [
      ['right', 'errored'],
      ['right', 'passed'],
      ['wrong', 'errored'],
      ['wrong', 'failed'],
    ]);
    const [{ messages = [] } = {}] = told.filter(({ state }) => state === 'errored');
    assert.equal(messages[0]?.message, 'Not run: no model was chosen for x/grok.');
    // Once a question is not answered, no other is put.
    await write(TEXT.replace('sandbox/guide', 'y/claude'));
    await run(items);
    assert.equal(sentWhenAsked.length, 2);
    assert.equal(verdicts().filter(([, state]) => state === 'errored').length, 4);
    await other.write(TEXT);
  });

  it('are errors, not failures, where a request fails', async () => {
    await inSandbox();
    const item = await suite();
    await addFault({ service: 'inference', path: 'completions', kind: 'status', status: 500, times: 1 });
    await run([item.children.get('name:right') ?? assert.fail()]);
    assert.deepEqual(verdicts(), [['right', 'errored']]);
  });

  it('stop at once, and tell nothing of what was not finished', async () => {
    await inSandbox();
    const item = await suite();
    await addFault({ service: 'inference', path: 'completions', kind: 'silence', afterBytes: 100, times: 10 });
    const source = new vscode.CancellationTokenSource();
    const running = run([item], source.token);
    await until('the start', () => told.some(({ state }) => state === 'started'));
    source.cancel();
    await running;
    assert.deepEqual(verdicts(), []);
  });

  it('stop in the editor while an answer arrives, which stays as far as it came', async () => {
    await inSandbox();
    await write(TEXT.replace('say: {{answer}}', 'count to 300'));
    await addFault({ service: 'inference', path: 'completions', kind: 'silence', afterBytes: 2000 });
    const { id } = (await readPrompt(file.uri())).file.cases[0] ?? assert.fail();
    const running = prompts.commands[promptCommands.runPrompt](file.uri(), id);
    const shown = await until('some of the answer', () =>
      vscode.workspace.textDocuments.find(
        (document) => document.uri.scheme === 'rolecall-prompt' && /\n1, 2,/.test(document.getText()),
      ),
    );
    await prompts.commands[promptCommands.stopPrompt](file.uri());
    await running;
    await until('the end', () => /\n1, 2,[^\n]*\n\nStopped\.\n/.test(shown.getText()));
    assert.deepEqual(errors, []);
  });

  it('turn red where they do worse than the baseline', async () => {
    await inSandbox();
    await run([await suite()]);
    patches.set(vscode.window, 'showInformationMessage', async () => undefined);
    await prompts.commands[promptCommands.setPromptBaseline](file.uri());
    await write(TEXT.replace('answer: Paris,', 'answer: Rom,'));
    await run([await suite()]);
    // Of several calls, VS Code shows all messages.
    const messages = told.filter(({ test }) => test === 'right').flatMap((each) => each.messages);
    assert.deepEqual(
      messages.map(({ message }) => String(message).replace(/of .*:/, 'of X:')),
      ['equal: Expected "Paris", got "Rom".', 'Worse than the baseline of X: ✓ passed then, ✗ failed now.'],
    );
    // Side by side, what has become worse first.
    patches.set(vscode.window, 'showQuickPick', async (items: readonly unknown[]) => items[0]);
    await prompts.commands[promptCommands.comparePromptRuns](file.uri());
    await until('the comparison', () =>
      /right \| Worse \| ✓ passed Paris \| ✗ failed Rom/.test(panels.at(-1)?.text ?? ''),
    );
  });

  it('are compared case by case with the run before that has them, and name the model where there are several', async () => {
    await inSandbox();
    const several = `${TEXT}rolecall:\n  models: [sandbox/guide, sandbox/ngram]\n`;
    await write(several);
    const item = await suite();
    await run([item]);
    // One case alone says nothing about the other.
    await write(several.replace('answer: Paris,', 'answer: Rom,'));
    await run([(await suite()).children.get('name:right') ?? assert.fail()]);
    let offered: readonly vscode.QuickPickItem[] = [];
    patches.set(vscode.window, 'showQuickPick', async (items: readonly vscode.QuickPickItem[]) => {
      offered = items;
      return items.at(-1);
    });
    await prompts.commands[promptCommands.comparePromptRuns](file.uri());
    assert.deepEqual(
      offered.map(({ label }) => label.replace(/ of .*/, '')),
      ['sandbox/guide with sandbox/ngram', 'Run'],
    );
    const text = await until('the comparison', () =>
      [panels.at(-1)?.text ?? ''].find((each) =>
        /right · sandbox\/guide \| Worse \| ✓ passed Paris \| ✗ failed Rom/.test(each),
      ),
    );
    assert.match(text, /right · sandbox\/ngram \|/);
    assert.doesNotMatch(text, /^wrong · /m); // The case: the demo model may say the word.
  });

  it('with errors are not run, but say where the first one is', async () => {
    const { bodies } = await plainServer();
    await write(TEXT.replace('role: user', 'role: user\n    content: a'));
    const shown: unknown[][] = [];
    patches.set(vscode.window, 'showErrorMessage', async (...all: unknown[]) => {
      shown.push(all);
      return all.at(-1);
    });
    await assert.rejects(Promise.resolve(prompts.commands[promptCommands.runPrompt](file.uri())), {
      kind: 'cancelled',
    });
    assert.deepEqual(shown, [
      [
        'words.prompt.yml has errors. Line 6: "content" appears more than once. The first one is used.',
        'Show Problems',
      ],
    ]);
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, 5);
    assert.deepEqual(bodies, []);
    await vscode.commands.executeCommand('workbench.action.closePanel');
  });

  it('run once in the editor, whatever their repeats, and say so', async () => {
    const { bodies } = await plainServer();
    await write(`${TEXT}rolecall:\n  repeats: 2\n  seeds: [7, 8]\n`);
    await prompts.commands[promptCommands.runPrompt](file.uri(), 'name:right');
    const shown = await until('the result', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'rolecall-prompt'),
    );
    await until('what it is a part of', () => shown.getText().includes('1 of 4 requests (the Test view sends all)'));
    assert.equal(bodies.length, 1);
  });

  it('send what is shown, byte for byte, to a service that is not the sandbox', async () => {
    const { bodies } = await plainServer();
    const { id } = (await readPrompt(file.uri())).file.cases[1] ?? assert.fail();
    await prompts.commands[promptCommands.runPrompt](file.uri(), id);
    const shown = await until('the result', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'rolecall-prompt'),
    );
    await until('the end', () => /Case: wrong[\s\S]*Finish reason: stop/.test(shown.getText()));
    assert.match(shown.getText(), /\nPâris 🙂\n/);
    assert.match(shown.getText(), /✗ equal \(failed\)/);
    await prompts.commands[promptCommands.foldPromptResult](shown.uri, 'sandbox/guide', 'request');
    const request = await until('the request', () => /```json\n([\s\S]*?)\n```/.exec(shown.getText())?.[1]);
    assert.deepEqual(
      bodies.map((body) => JSON.parse(body)),
      [JSON.parse(request)],
    );
    assert.ok(shown.getText().includes(`Request: ${Buffer.byteLength(bodies[0] ?? '')} bytes`));
    assert.equal(errors.join(), '');
  });

  it('are saved as the ending of the file says, and without the token', async () => {
    await plainServer();
    const { id } = (await readPrompt(file.uri())).file.cases[0] ?? assert.fail();
    await prompts.commands[promptCommands.runPrompt](file.uri(), id);
    const at = (name: string) => vscode.Uri.joinPath(file.uri(), '..', name);
    let dialog: vscode.SaveDialogOptions | undefined;
    const { uri } = await until('the result', () =>
      vscode.workspace.textDocuments.find(({ uri: { scheme } }) => scheme === 'rolecall-prompt'),
    );
    patches.set(vscode.window, 'showInformationMessage', async () => undefined);
    const save = async (name: string) => {
      patches.set(vscode.window, 'showSaveDialog', async (options: vscode.SaveDialogOptions) => {
        dialog = options;
        return at(name);
      });
      // As the title of the editor calls it.
      await prompts.commands[promptCommands.savePromptResult](uri, { groupId: 0 });
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(at(name)));
      await vscode.workspace.fs.delete(at(name));
      return text;
    };
    const text = await save('words.result.json');
    assert.deepEqual(Object.values(dialog?.filters ?? {}), [['json'], ['md'], ['xml']]);
    const { rolecall, request, completion, events, timings } = JSON.parse(text);
    assert.equal(rolecall, '1.2.3');
    assert.equal(request.messages[0].content, 'say: Paris');
    assert.equal(completion.choices[0].text, 'Paris');
    assert.ok(events.length >= 2 && timings.totalMs >= 0, text);
    const markdown = await save('words.MD');
    assert.match(markdown, /^# Words /);
    const junit = await save('words.xml');
    assert.match(junit, /<testsuite name="Words" tests="1" failures="0" errors="0" skipped="0" /);
    await assert.rejects(save('words.txt'), /Choose a file name with one of these endings: \.json, \.md and \.xml\./);
    const { accessToken } = scene().clouds.require().tokenManager.session ?? assert.fail();
    for (const each of [text, markdown, junit]) assert.ok(!each.includes(accessToken));
  });

  it('run a tool that the model calls only when the user says so', async () => {
    await inSandbox();
    await write(
      TEXT.replace('say: {{answer}}', 'use count').replace('evaluators:', 'rolecall:\n  tools: [count]\nevaluators:'),
    );
    const { id } = (await readPrompt(file.uri())).file.cases[0] ?? assert.fail();
    await prompts.commands[promptCommands.runPrompt](file.uri(), id);
    const { uri } = await until('the call', () =>
      vscode.workspace.textDocuments.find(
        (document) =>
          document.uri.scheme === 'rolecall-prompt' && /Calls the tool count with:/.test(document.getText()),
      ),
    );
    assert.deepEqual(calls, []);
    await prompts.commands[promptCommands.runPromptToolCall](uri, 'sandbox/guide', 0, 0);
    assert.deepEqual(calls, [['count', {}]]);
    const shown = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    await until('its result', () => shown?.getText().includes('Result of count:\n\n```\ncounted: 3\n```'));
  });

  it('are made of the last chat, for the account that had it alone', async () => {
    await inSandbox();
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello: #1' },
    ];
    const owner = ownerOf(scene().clouds);
    lastExchange.current = {
      owner: 'another',
      model: 'sandbox/guide',
      parameters: { temperature: 0.5 },
      messages,
      toolRegistry: noTools,
    };
    await assert.rejects(
      Promise.resolve(prompts.commands[promptCommands.saveChatAsPromptFile]()),
      /There is no conversation to save yet\. Ask @rolecall something first\./,
    );
    lastExchange.current = { ...lastExchange.current, owner };
    await prompts.commands[promptCommands.saveChatAsPromptFile]();
    const document = vscode.window.activeTextEditor?.document ?? assert.fail();
    const made = await readPrompt(document.uri);
    assert.equal(document.isUntitled, true);
    assert.deepEqual(made.file.problems, []);
    assert.deepEqual(made.file.parameters.values, { temperature: 0.5 });
    assert.deepEqual(
      made.file.messages.map(({ role, content: [part] }) => [role, part?.type === 'text' && part.text.value]),
      messages.map(({ role, content }) => [role, content]),
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('say what of a chat is not in them, and offer the tools of the workspace that it had', async () => {
    await inSandbox();
    const tool = (name: string) => ({
      name,
      definition: { type: 'function', function: { name } } as const,
      check: () => [],
    });
    lastExchange.current = {
      owner: ownerOf(scene().clouds),
      model: 'sandbox/guide',
      parameters: {},
      messages: [
        { role: 'user', content: 'Who has access?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: '1', type: 'function', function: { name: 'count', arguments: '{}' } }],
        },
        { role: 'tool', content: '3', tool_call_id: '1' },
      ],
      toolRegistry: { tools: [tool('whoHasAccess'), tool('count')] },
    };
    await prompts.commands[promptCommands.saveChatAsPromptFile]();
    const document = vscode.window.activeTextEditor?.document ?? assert.fail();
    assert.deepEqual(document.getText().split('\n').slice(0, 4), [
      '# Not saved:',
      '# Tools that do not belong to the workspace: whoHasAccess.',
      '# Tool calls and their results.',
      '',
    ]);
    const { file: made } = await readPrompt(document.uri);
    assert.deepEqual(
      [made.problems, made.extensions.tools.map(({ value }) => value), made.messages.length],
      [[], ['count'], 1],
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('are imported from .prompty files, with what could not be taken at the top', async () => {
    await prompty.write(
      '---\nname: Old\ntools: []\nsample:\n  topic: tea\n---\nsystem:\nBe {{ tone | upper }}.\nuser:\nSay {{topic}}\n',
    );
    patches.set(vscode.window, 'showInformationMessage', async () => undefined);
    await prompts.commands[promptCommands.importPrompty](prompty.uri());
    const document = vscode.window.activeTextEditor?.document ?? assert.fail();
    assert.match(document.getText(), /^# Not imported:\n# .+\n/);
    assert.match(document.getText(), /name: Old/);
    assert.match(document.uri.path, /\/old\.prompt\.yml$/);
    assert.deepEqual(vscode.window.activeTextEditor?.selection.active, new vscode.Position(0, 0));
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('can be sent by curl as they are, without the token', async () => {
    await plainServer();
    patches.set(vscode.window, 'showInformationMessage', async () => undefined);
    await vscode.env.clipboard.writeText('');
    const { id } = (await readPrompt(file.uri())).file.cases[1] ?? assert.fail();
    await prompts.commands[promptCommands.copyPromptAsCurl](file.uri(), id);
    const command = await vscode.env.clipboard.readText();
    assert.match(
      command,
      /^curl 'http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions' \\\n {2}-H "Authorization: Bearer \$ROLECALL_TOKEN"/,
    );
    assert.match(command, /"content":"say: Pâris 🙂"/);
  });

  it('say what a model probably should be called, once it is known which there are', async () => {
    await inSandbox();
    await write(TEXT.replace('sandbox/guide', 'sandbox/gide'));
    const document = await vscode.workspace.openTextDocument(file.uri());
    const found = () => vscode.languages.getDiagnostics(file.uri()).find(({ code }) => code === 'unknownModel');
    assert.equal(found(), undefined);
    // It is asked for before the first request, which reads the list of models.
    patches.set(vscode.window, 'showQuickPick', async () => undefined);
    await assert.rejects(Promise.resolve(prompts.commands[promptCommands.runPrompt](file.uri())));
    const { message, range } = await until('the problem', found);
    assert.match(message, /Did you mean "sandbox\/guide"\?$/);
    assert.equal(document.getText(range), 'sandbox/gide');
    // Chosen once, it is no slip any more.
    patches.set(vscode.window, 'showQuickPick', async (items: readonly unknown[]) => items[0]);
    const running = prompts.commands[promptCommands.runPrompt](file.uri(), 'name:right');
    await until('no problem', () => found() === undefined);
    await running;
  });

  it('show at their field what the service refuses, until they are edited', async () => {
    await inSandbox();
    await write(TEXT.replace('messages:', 'modelParameters:\n  temperature: 7\n  n: 2\nmessages:'));
    // From the Test view, where the file need not be open.
    await run([(await suite()).children.get('name:right') ?? assert.fail()]);
    assert.deepEqual(verdicts(), [['right', 'errored']]);
    const document = await vscode.workspace.openTextDocument(file.uri());
    const refusal = await until('the refusal', () =>
      vscode.languages.getDiagnostics(file.uri()).find(({ source }) => source === 'inference service'),
    );
    assert.equal(document.getText(refusal.range), '7');
    await vscode.window.showTextDocument(document);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, refusal.range, '1');
    await vscode.workspace.applyEdit(edit);
    await until('no refusal', () =>
      vscode.languages.getDiagnostics(file.uri()).every(({ source }) => source !== 'inference service'),
    );
    await document.save();
  });
});

describe('what a prompt file includes', () => {
  const file = workspaceFile('include/one.prompt.yml');
  const text = workspaceFile('include/inside.txt');
  const link = workspaceFile('include/link.txt');
  const signal = new AbortController().signal;
  const read = (name: string) => resourcesOf(file.uri(), async () => noTools).readText(name, signal);

  beforeEach(async () => {
    await text.write('inside');
    await file.write('messages: []');
  });

  it('is read within the workspace folder', async () => {
    assert.equal(await read('inside.txt'), 'inside');
    assert.equal(await read('../include/inside.txt'), 'inside');
  });

  it('is text in UTF-8, or an error', async () => {
    await vscode.workspace.fs.writeFile(text.uri(), Uint8Array.of(0x47, 0x72, 0xfc, 0xdf, 0x65));
    await assert.rejects(read('inside.txt'), /"inside\.txt" is not UTF-8 text/);
  });

  it('is never outside of it, by a path or by a link', async () => {
    const outside = path.join(os.tmpdir(), `rolecall-outside-${process.pid}`);
    await mkdir(outside, { recursive: true });
    await writeFile(path.join(outside, 'secret.txt'), 'secret');
    await symlink(path.join(outside, 'secret.txt'), link.uri().fsPath);
    const way = path.relative(path.dirname(file.uri().fsPath), path.join(outside, 'secret.txt'));
    for (const name of [way, 'link.txt', `../../${path.basename(folder().uri.fsPath)}x/secret.txt`]) {
      await assert.rejects(read(name), /leads outside the workspace folder/, name);
    }
    await assert.rejects(read('missing.txt'), /cannot be found/);
  });
});
