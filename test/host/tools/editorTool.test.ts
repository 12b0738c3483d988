import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { ToolRegistry } from '../../../src/host/conversation.ts';
import { registerEditorTool } from '../../../src/host/tools/editorTool.ts';
import { ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { languageModelTool, TOOL_FILE } from '../../../src/ids.ts';
import { containing, notContaining } from '../support/containment.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { workspaceFile } from '../support/workspace.ts';

describe('the tool by which other agents call the workspace’s tools', () => {
  const patches = usePatches();
  const file = workspaceFile(TOOL_FILE);
  let tool: vscode.LanguageModelTool<object>;
  let box: ToolRegistry;
  let log: FakeLog;

  beforeEach(() => {
    log = new FakeLog();
    patches.set(vscode.lm, 'registerTool', (name: string, given: vscode.LanguageModelTool<object>) => {
      assert.equal(name, languageModelTool);
      tool = given;
      return { dispose: () => {} };
    });
    box = { tools: [], invoke: async () => assert.fail('nothing is to run') };
    registerEditorTool(async () => box, log);
  });

  const invoke = async (input: object, token = new vscode.CancellationTokenSource().token): Promise<string> => {
    const result = await tool.invoke({ input, toolInvocationToken: undefined }, token);
    return (result?.content ?? [])
      .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : assert.fail('not text')))
      .join('');
  };
  const offered = {
    name: 'one',
    definition: { type: 'function' as const, function: { name: 'one', description: 'Does one.' } },
    check: (args: unknown) => (Object.hasOwn(Object(args), 'bad') ? ['bad is bad.'] : []),
  };

  it('is there for agents of the running editor, once the workspace is trusted', async () => {
    const found = await until('the editor lists it', () =>
      vscode.lm.tools.find(({ name }) => name === languageModelTool),
    );
    assert.match(found.description, /Call it without "tool" first/);
  });

  it('lists the tools, and says why there are none, once to the user as well', async () => {
    assert.match(await invoke({}), /defines no tools/);
    patches.set(vscode.workspace, 'isTrusted', false);
    const shown: string[][] = [];
    patches.set(vscode.window, 'showInformationMessage', async (...words: string[]) => void shown.push(words));
    for (const _ of ['first', 'second']) assert.match(await invoke({}), /not trusted/);
    assert.deepEqual(shown, [
      [
        'Restricted Mode: this workspace’s tools and settings are not used. To use them, run "Manage Workspace Trust".',
        'Manage Workspace Trust',
      ],
    ]);
    box = { ...box, tools: [offered] };
    assert.match(await invoke({ tool: '' }), /"description": "Does one\."/);
  });

  it('runs nothing for a name that is not there, or arguments that do not fit', async () => {
    box = { ...box, tools: [offered] };
    assert.match(await invoke({ tool: 'two' }), /no tool "two"[\s\S]*Does one/);
    assert.match(await invoke({ tool: { name: 'one' } }), /There is no tool/);
    assert.equal(
      await invoke({ tool: 'one', arguments: { bad: 1 } }),
      'The arguments do not match the schema of the tool, so nothing was run. bad is bad.',
    );
  });

  it('gives the model what came of a call', async () => {
    const outcomes: [ToolRegistry['invoke'], RegExp][] = [
      [
        async ({ name, arguments: args }) => ({ content: `${name} ${JSON.stringify(args)}`, isError: false }),
        /^one \{"a":1\}$/,
      ],
      [async () => ({ content: 'exit 1', isError: true }), /^The tool failed\.\nexit 1$/],
      [
        async () => {
          throw cancelled();
        },
        /^The user did not allow this call\.$/,
      ],
      [
        async () => {
          throw new RolecallError('tool', 'No such program.');
        },
        /^The tool failed: No such program\.$/,
      ],
    ];
    for (const [run, expected] of outcomes) {
      box = { tools: [offered], invoke: run };
      assert.match(await invoke({ tool: 'one', arguments: { a: 1 } }), expected);
    }
    assert.equal(log.lines.length, 1);
  });

  it('ends as cancelled when the agent is stopped', async () => {
    const stop = new vscode.CancellationTokenSource();
    box = {
      tools: [offered],
      invoke: async (_, signal) => {
        stop.cancel();
        assert.equal(signal.aborted, true);
        throw cancelled();
      },
    };
    await assert.rejects(invoke({ tool: 'one' }, stop.token), vscode.CancellationError);
  });

  it('says what a call could send once something has answered that can read anything', async () => {
    const files = new ToolFiles(log);
    const asked: (string | undefined)[] = [];
    patches.set(vscode.window, 'showWarningMessage', async (_: string, { detail }: vscode.MessageOptions) => {
      asked.push(/may contain [^.]*/.exec(detail ?? '')?.[0]);
      return 'Allow Once';
    });
    const settings = { allowedToolHosts: () => [] };
    const consent = new ToolConsent(new FakeMemento());
    const containment = async () => notContaining;
    const tools = new WorkspaceTools({ files, consent, settings, fetch, containment, log });
    const answered = new Set<string>();
    registerEditorTool((token) => tools.open({ token, answered }), log);
    const run = { kind: 'process', command: ['echo', 'x'] };
    try {
      await file.write(JSON.stringify({ tools: [{ name: 'it', description: 'd', run }] }));
      await invoke({ tool: 'it' });
      await invoke({ tool: 'it' });
      answered.clear();
      await invoke({ tool: 'it' });
      assert.deepEqual(asked, [undefined, 'may contain results of "it", which can read anything you can', undefined]);
    } finally {
      files.dispose();
    }
  });

  it('asks for each definition, whatever the editor itself has allowed', async function () {
    const containment = await containing(this);
    const files = new ToolFiles(log);
    const asked: string[] = [];
    patches.set(vscode.window, 'showWarningMessage', async (message: string) => {
      asked.push(message);
      return 'Always Allow in This Workspace';
    });
    const settings = { allowedToolHosts: () => [] };
    const consent = new ToolConsent(new FakeMemento());
    const tools = new WorkspaceTools({ files, consent, settings, fetch, containment, log });
    registerEditorTool((token) => tools.open({ token }), log);
    const define = (command: string[]) =>
      file.write(JSON.stringify({ tools: [{ name: 'it', description: 'd', run: { kind: 'process', command } }] }));
    try {
      await define(['echo', 'first']);
      assert.equal(await invoke({ tool: 'it' }), 'first\n');
      assert.equal(await invoke({ tool: 'it' }), 'first\n');
      assert.equal(asked.length, 1);
      await define(['echo', 'second']);
      assert.equal(await invoke({ tool: 'it' }), 'second\n');
      assert.equal(asked.length, 2);
    } finally {
      files.dispose();
    }
  });
});
