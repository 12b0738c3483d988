import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { FILTER_KEYS } from '../../src/core/access/filter.ts';
import { requestFields } from '../../src/core/completions/request.ts';
import { readToolFile } from '../../src/core/tools/toolFile.ts';
import { targetOf } from '../../src/host/accessTarget.ts';
import { commands, extensionId, languageModelTools, settings } from '../../src/ids.ts';
import { chatRequest, FakeStream } from './support/chat.ts';
import { PseudoEditor } from './support/pseudoEditor.ts';
import { addFault, clearFaults, connectionTo, descriptor, serviceToken } from './support/sandbox.ts';
import { eventStream } from './support/streams.ts';
import { until } from './support/wait.ts';
import { folder, workspaceFile } from './support/workspace.ts';

/** The same in every language: products, formats, values of JSON, keys of filters as they are listed. */
const NAMES = [
  ...['Rolecall', 'VS Code', 'Node.js', 'bubblewrap', 'Markdown', 'Git', 'OAuth', 'PKCE', 'HTTP', 'JSON', 'CSV', 'UTC'],
  ...['NODE_EXTRA_CA_CERTS', 'true', 'false', 'null', 'auto', 'ms', 'MiB'],
  FILTER_KEYS.join(', '),
];
/** Addresses, links to commands, icons, quoted words, paths and identifiers. */
const CODE =
  /\w+:\/\/\S+|\(command:[^)]*\)|\$\([a-z~-]+\)|&\w+;|`[^`]*`|"[\w-]*"|\b[\da-f-]{8,}\b|[\w@-]*(?:[._@/][\w@-]+)+/g;
const WORDS = /(?<![\p{L}\d…])[A-Za-z]{2,}(?:[ ,’'-]+[A-Za-z]{2,})*(?![\p{L}\d…])/gu;

/** Each of these where it stands as a word. */
function wordsOf(texts: Iterable<string>): RegExp {
  const longestFirst = [...texts].filter((text) => text !== '').sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\d_])(?:${escaped.join('|')})(?![\\p{L}\\d_])`, 'gu');
}

/** What in a text is plain English, and neither code nor one of `foreign`. */
function englishIn(text: string, foreign: RegExp): string[] {
  if (requestFields.some((field) => field === text)) return []; // A row of Show Effective Parameters.
  const plain = text.replaceAll('&nbsp;', ' ').replace(/\\(?=[^a-z\s])/gi, '');
  return plain.replace(foreign, '·').replace(CODE, '·').match(WORDS) ?? [];
}

/** What the context menus of the tree and of the matrix offer. */
const nodeCommands: readonly string[] = ['view/item/context', 'webview/context'].flatMap((menu) =>
  vscode.extensions
    .getExtension(extensionId)
    ?.packageJSON.contributes.menus[menu].map(({ command }: { command: string }) => command),
);

/** Commands that have a test of their own, or would end the session that the others need. */
const elsewhere: ReadonlySet<string> = new Set([
  ...[commands.signIn, commands.signInWith, commands.signOut, commands.trySandbox, commands.removeOrganization],
]);

type Tree = vscode.TreeDataProvider<object>;

describe('in another display language', () => {
  let editor: PseudoEditor;
  const toolFile = workspaceFile('.vscode/rolecall.tools.json');
  // Written by commands; of each test, its own.
  workspaceFile('meridian.access.yaml');
  workspaceFile(`meridian.${new Date().toISOString().slice(0, 10)}.review.yaml`);

  beforeEach(async () => {
    editor = await start();
  });
  afterEach(async () => {
    editor.dispose();
    await clearFaults();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** The workspace's own words are not ours. */
  async function start(): Promise<PseudoEditor> {
    const started = new PseudoEditor();
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(toolFile.uri()));
    const { tools } = readToolFile(text, { folder: folder().uri.fsPath });
    started.noteForeign([folder().name, tools, tools.map(({ parameters }) => Object.keys(parameters.properties))]);
    return started;
  }

  /** What was shown is not empty, and has no plain English in it. */
  function assertTranslated(): void {
    assert.notEqual(editor.shown.length, 0, 'something was shown');
    const foreign = wordsOf([...editor.foreign, ...NAMES]);
    const lines = new Map(editor.shown.flatMap(({ where, text }) => text.split('\n').map((line) => [line, where])));
    const found = [...lines].flatMap(([line, where]) =>
      englishIn(line, foreign).map((english) => `${where}: "${english}" in "${line}"`),
    );
    assert.deepEqual(found, []);
    editor.shown.length = 0;
  }

  async function signIn(): Promise<void> {
    const connection = connectionTo('service');
    editor.foreign.add('meridian').add('unknown-organization');
    editor.configure({
      [settings.identityUrl]: connection.identityUrl,
      [settings.inferenceUrl]: connection.inferenceUrl,
      [settings.clientId]: connection.clientId,
      [settings.redirectUri]: connection.redirectUri,
      [settings.organizations]: ['meridian', 'unknown-organization'],
    });
    const token = await serviceToken('administrator');
    editor.answers.pick = (items) => items.at(-1); // Service token.
    editor.answers.type = () => token;
    await editor.run(commands.signInWith);
    editor.answers.pick = (items) => items[0];
    editor.answers.type = () => '0';
  }

  /** Everything in the tree, as it is shown. @returns the first node of each kind of target */
  async function walkTree(): Promise<object[]> {
    const tree = editor.last<Tree>('tree');
    const decorations = editor.last<vscode.FileDecorationProvider>('decorations');
    const kinds = new Map<string, object>();
    const walk = async (node?: object): Promise<void> => {
      for (const child of (await tree.getChildren(node)) ?? []) {
        const item = await tree.getTreeItem(child);
        editor.show('tree item', item);
        if (item.resourceUri) {
          const token = new vscode.CancellationTokenSource().token;
          editor.show('decoration', await decorations.provideFileDecoration(item.resourceUri, token));
        }
        const target = targetOf(child);
        if (target && !kinds.has(target.kind)) kinds.set(target.kind, child);
        await walk(child);
      }
    };
    await walk();
    return [...kinds.values()];
  }

  /** The next answers of models; the last one stays. */
  function answers(...given: (() => Response)[]): void {
    editor.network = async (address, init) =>
      String(address).endsWith('completions')
        ? ((given.length > 1 ? given.shift() : given[0])?.() ?? assert.fail())
        : fetch(address, init);
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: '0',
    object: 'chat.completion.chunk',
    created: 0,
    model: '0',
    choices: [{ index: 0, delta, finish_reason }],
  });

  it('the tree, also where something could not be read', async () => {
    await signIn();
    await addFault({ service: 'identity', path: '/groups$', kind: 'malformedItem', body: 7, times: 1 });
    await walkTree();
    assertTranslated();
    await editor.run(commands.filterAll);
    await walkTree();
    for (const status of [403, 404, 429, 500]) {
      await addFault({ service: 'identity', path: '/roles$', kind: 'status', status, times: null });
      await editor.run(commands.refresh);
      await walkTree();
      await clearFaults();
    }
    assertTranslated();
  });

  it('every command, signed out, signed in and called on each kind of node', async () => {
    editor.answers.pick = (items) => items[0];
    editor.answers.type = () => '0';
    const runAll = async () => {
      for (const id of editor.commands.keys()) {
        if (!elsewhere.has(id)) await editor.run(id);
      }
    };
    await runAll();
    await signIn();
    answers(() => eventStream([chunk({ content: '0' }, 'stop')]));
    await runAll();
    assertTranslated();
    // Of those that were added, one has thousands of groups.
    editor.configure({ [settings.organizations]: ['meridian', 'unknown-organization'] });
    for (const node of await walkTree()) {
      for (const id of nodeCommands) if (!elsewhere.has(id)) await editor.run(id, node);
    }
    await editor.run(commands.removeOrganization);
    await editor.run(commands.signOut);
    assertTranslated();
  });

  it('a sign-in that waits for the browser', async () => {
    await signIn();
    const waiting = editor.run(commands.signIn);
    await until('the browser is opened', () => editor.opened.length > 0);
    const again = editor.run(commands.signIn); // Reminds, and waits as well.
    await editor.run(commands.copySignInAddress);
    for (const typed of ['x', 'http://127.0.0.1/?error=access_denied&state=0', 'http://127.0.0.1/?code=0&state=0']) {
      editor.answers.type = () => typed;
      await editor.run(commands.pasteSignInAddress);
    }
    await editor.run(commands.cancelSignIn);
    await Promise.all([waiting, again]);
    assertTranslated();
  });

  it('settings that cannot be used', async () => {
    const { identityUrl, inferenceUrl } = connectionTo('service');
    for (const [name, value] of [
      [settings.identityUrl, 'x'],
      [settings.identityUrl, 'ftp://0.0'],
      [settings.identityUrl, 'http://0.example'],
      [settings.identityUrl, 'https://0.example/0'],
      [settings.inferenceUrl, 'https://0.example/v1'],
      [settings.inferenceUrl, 'x'],
      [settings.inferenceUrl, 'https://0:0@0.example'],
      [settings.clientId, '0 0'],
      [settings.redirectUri, 'x'],
      [settings.redirectUri, 'http://0.example/#0'],
    ] as const) {
      editor.settings.clear();
      editor.configure({ [settings.identityUrl]: identityUrl, [settings.inferenceUrl]: inferenceUrl, [name]: value });
      await editor.run(commands.signIn);
    }
    assertTranslated();
  });

  it('a tool file with mistakes', async () => {
    await toolFile.write('{ "tools": [{ "name": 7 }, { "name": "a b", "run": { "kind": "0" } }, 7, ] } 0');
    editor.dispose();
    editor = await start(); // It reads the file then.
    await until('the problems', () => editor.shown.some(({ where }) => where.startsWith('problems')));
    assertTranslated();
  });

  describe('the chat', () => {
    async function ask(prompt: string, more: Partial<vscode.ChatRequest> = {}): Promise<void> {
      const stream = new FakeStream();
      const handler = editor.last<vscode.ChatRequestHandler>('participant');
      const token = new vscode.CancellationTokenSource().token;
      const request = chatRequest(prompt, { model: { vendor: 'other' } as never, ...more });
      const result = await handler(request, { history: [] }, stream as never, token);
      editor.show('chat', [stream.text, ...stream.progresses, ...stream.buttons.map(({ title }) => title)]);
      editor.show('chat', result?.errorDetails?.message);
    }

    it('answers, with what Rolecall adds to them', async () => {
      await ask('0');
      await signIn();
      for (const command of ['tools', 'explain']) await ask('', { command });
      for (const reason of ['stop', 'length', 'content_filter', 'other']) {
        answers(() => eventStream([chunk({ content: '0', reasoning_content: '0' }), chunk({}, reason)]));
        await ask('0', { command: 'access' });
      }
      answers(() => eventStream([chunk({}, 'stop')]));
      await ask('0');
      assertTranslated();
    });

    it('calls of tools', async () => {
      await signIn();
      editor.answers.press = ([first]) => first;
      const call = (name: string, text: string) => () =>
        eventStream([
          chunk({ tool_calls: [{ index: 0, id: '0', type: 'function', function: { name, arguments: text } }] }),
          chunk({}, 'tool_calls'),
        ]);
      answers(
        call('count_words', '{"file":"handover.md"}'),
        call('count_words', '{'),
        call('list_files', '{}'),
        call('0', '{}'),
        () => eventStream([chunk({ content: '0' }, 'stop')]),
      );
      await ask('0');
      assertTranslated();
    });

    it('answers that fail', async () => {
      await signIn();
      for (const status of [400, 401, 402, 403, 404, 413, 422, 429, 500, 503]) {
        answers(() => Response.json({ error: { code: '0', message: '0' } }, { status }));
        await ask('0');
      }
      answers(() => new Response('data: {"choices":[{"index":0,"delta":{"content":"0"}}]}\n\n'));
      await ask('0');
      assertTranslated();
    });
  });

  it('models and tools for other agents', async () => {
    await signIn();
    const models = editor.last<vscode.LanguageModelChatProvider>('models');
    await editor.run(commands.selectModel);
    const token = new vscode.CancellationTokenSource().token;
    const offered = await models.provideLanguageModelChatInformation({ silent: true }, token);
    editor.show('model', offered);
    for (const name of ['0', '']) {
      const call = { index: 0, id: '0', type: 'function', function: { name, arguments: '{' } };
      answers(() => eventStream([chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')]));
      const asked = [vscode.LanguageModelChatMessage.User('0')] as unknown as vscode.LanguageModelChatRequestMessage[];
      const options = { toolMode: vscode.LanguageModelChatToolMode.Auto };
      const model = offered?.[0] ?? assert.fail();
      await assert.rejects(
        async () => models.provideLanguageModelChatResponse(model, asked, options, { report: () => {} }, token),
        ({ message }: Error) => {
          editor.show('model', message);
          return true;
        },
      );
    }
    for (const tool of editor.registered.get('tools') as vscode.LanguageModelTool<object>[]) {
      for (const input of [{}, { tool: '0' }]) {
        editor.show('tool', (await tool.prepareInvocation?.({ input }, token))?.invocationMessage);
      }
      const input = { organization: 'meridian', role: '0', who: '0' };
      await tool.invoke({ input, toolInvocationToken: undefined }, token); // Its answer is for a model.
    }
    assert.equal(editor.registered.get('tools')?.length, Object.keys(languageModelTools).length + 1);
    assertTranslated();
  });

  it('an update that is half done: one sentence that offers to reload the window', async () => {
    for (const length of [0, 1000]) {
      editor.dispose();
      editor = new PseudoEditor(length);
      await editor.run(commands.addOrganization);
      // What the tests before have changed may be told only now, before it or after.
      const shown = editor.shown.map(({ text }) => text);
      const buttons = shown.filter((text) => text === editor.translate('Reload Window'));
      assert.equal(buttons.length, 1, shown.join('\n'));
      assert.match(shown[shown.indexOf(buttons[0] ?? '') - 1] ?? '', /[^.]+\. [^.]+\.$/);
      assertTranslated();
    }
  });

  it('the sandbox', async () => {
    editor.foreign.add(new URL(descriptor.identity).host);
    const entering = editor.run(commands.trySandbox);
    await until('the browser is opened', () => editor.opened.length > 0);
    await editor.run(commands.cancelSignIn);
    await entering;
    await editor.run(commands.leaveSandbox);
    assertTranslated();
  });
});
