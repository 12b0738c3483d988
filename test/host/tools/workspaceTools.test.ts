// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { ToolRegistry } from '../../../src/host/conversation.ts';
import { newWorkspaceTool } from '../../../src/host/tools/newWorkspaceTool.ts';
import { type ConsentRequest, ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { contextKeys, TOOL_FILE } from '../../../src/ids.ts';
import { containing, notContaining } from '../support/containment.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const never = new AbortController().signal;
const settings = { allowedToolHosts: (): readonly string[] => [] };

/** Answers in the user's place; what it was asked can be read back. */
class FakeConsent extends ToolConsent {
  readonly asked: ConsentRequest[] = [];
  answer: () => boolean | Promise<boolean> = () => true;

  override async ask(question: ConsentRequest): Promise<boolean> {
    this.asked.push(question);
    return this.answer();
  }
}

describe('the workspace’s tools', () => {
  const patches = usePatches();
  const file = workspaceFile(TOOL_FILE);
  const script = workspaceFile('script.sh');
  let files: ToolFiles;
  let consent: FakeConsent;
  let log: FakeLog;
  let tools: WorkspaceTools;

  beforeEach(() => {
    log = new FakeLog();
    files = new ToolFiles(log);
    consent = new FakeConsent(new FakeMemento());
    tools = new WorkspaceTools({ files, consent, settings, fetch, containment: async () => notContaining, log });
  });
  afterEach(() => files.dispose());

  const call = (toolRegistry: ToolRegistry, name: string, args: Record<string, unknown> = {}, signal = never) =>
    toolRegistry.invoke({ id: 'c', name, arguments: args }, signal);

  const scripted = (command: string[] = ['sh', 'script.sh'], more: Record<string, unknown> = {}) =>
    JSON.stringify({
      tools: [
        {
          name: 'scripted',
          description: 'Runs a script.',
          parameters: { type: 'object', properties: {}, required: [] },
          run: { kind: 'process', command, ...more },
        },
      ],
    });

  it('hand each question to who measures the time of the answer', async () => {
    const asked: unknown[] = [];
    const whileAsking = async <T>(question: Promise<T>): Promise<T> => {
      const answer = await question;
      asked.push(answer);
      return answer;
    };
    consent.answer = () => false;
    const toolRegistry = await tools.open({ whileAsking });
    await assert.rejects(call(toolRegistry, 'list_files'), isCancelled);
    assert.deepEqual(asked, [false]);
  });

  it('are offered as functions, with a check of their arguments', async () => {
    const { tools: offered } = await tools.open();
    assert.deepEqual(
      offered.map(({ name, definition }) => [name, definition.function.name, definition.function.parameters?.required]),
      [
        ['count_words', 'count_words', ['file']],
        ['list_files', 'list_files', []],
      ],
    );
    const [countWords] = offered;
    assert.deepEqual(countWords?.check({ file: 'README.md' }), []);
    assert.notDeepEqual(countWords?.check({}), []);
    assert.deepEqual(consent.asked, []);
  });

  it('run after a yes to exactly what runs', async () => {
    const contexts = new Map<unknown, unknown>();
    const execute = vscode.commands.executeCommand;
    patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
      if (id === 'setContext') contexts.set(args[0], args[1]);
      return execute(id, ...args);
    });
    const result = await call(await tools.open(), 'count_words', { file: 'handover.md' });
    assert.equal(result.isError, false);
    assert.equal(contexts.get(contextKeys.hasRunTool), true, 'the walkthrough is told');
    const words = new TextDecoder()
      .decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder().uri, 'handover.md')))
      .split(/\s+/)
      .filter(Boolean).length;
    assert.match(result.content, new RegExp(`^\\s*${words} handover\\.md`));
    assert.equal(consent.asked.length, 1);
    const [question] = consent.asked;
    assert.deepEqual([question?.name, question?.folder], ['count_words', folder().name]);
    const shown = question?.lines.map(({ kind, text }) => `${kind} ${text}`) ?? [];
    assert.ok(
      shown.some((line) => /^executable "\/.*\/wc"$/.test(line)),
      shown.join('\n'),
    );
    assert.deepEqual(
      shown.filter((line) => line.startsWith('argument')),
      ['argument "-w"', 'argument "--"', 'argument "handover.md"'],
    );
    assert.ok(shown.includes('timeout 10 s'));
  });

  it('that can send are asked for with what the conversation may contain by then: access, and what was not contained', async () => {
    const parameters = { type: 'object', properties: {}, required: [] };
    const tool = (name: string, run: object) => ({ name, description: 'x', parameters, run });
    const wc = { kind: 'process', command: ['wc', '-w', 'handover.md'] };
    const defined = [
      tool('inside', wc),
      tool('online', { ...wc, access: { network: true } }),
      tool('free', { ...wc, contained: false }),
      tool('editor', { kind: 'command', command: 'noop' }),
      tool('page', { kind: 'http', method: 'GET', url: 'https://a.example/' }),
    ];
    await file.write(JSON.stringify({ tools: defined }));
    consent.answer = () => false;
    const allowed = { allowedToolHosts: () => ['a.example'] };
    const containment = async () => ({ kind: 'bubblewrap', program: '/usr/bin/bwrap' }) as const;
    tools = new WorkspaceTools({ files, consent, settings: allowed, fetch, containment, log });
    const asked = async (...answered: string[]) => {
      consent.asked.length = 0;
      const toolRegistry = await tools.open({ answered: new Set(answered) });
      for (const { name } of defined) await assert.rejects(call(toolRegistry, name), isCancelled);
      return consent.asked.flatMap(({ name, carries = [] }) =>
        carries.length > 0 ? [`${name}: ${carries.join(' + ')}`] : [],
      );
    };
    assert.deepEqual(await asked(), []);
    const access = 'who has access to what in your organizations, including email addresses';
    const all = (...words: string[]) =>
      ['online', 'free', 'editor', 'page'].map((name) => `${name}: ${words.join(' + ')}`);
    assert.deepEqual(await asked('who_has_role', 'list_roles'), all(access));
    assert.deepEqual(await asked('free'), all('results of "free", which can read anything you can'));
    assert.deepEqual(
      await asked('list_roles', ...'abcdefg'),
      all(access, 'results of "a", "b", "c", "d", "e" and 2 more, which can read anything you can'),
    );
  });

  it('are noted when they have answered and could read anything, not when they were refused', async function () {
    const run = { kind: 'process', command: ['echo', 'x'] };
    const define = (name: string, more: object) => ({ name, description: 'x', run: { ...run, ...more } });
    await file.write(JSON.stringify({ tools: [define('inside', {}), define('free', { contained: false })] }));
    const answered = new Set<string>();
    consent.answer = () => false;
    await assert.rejects(call(await tools.open({ answered }), 'free'), isCancelled);
    await call(await tools.open({ answered }), 'nonsense');
    assert.deepEqual([...answered], []);
    consent.answer = () => true;
    const toolRegistry = await tools.open({ answered });
    for (const name of ['inside', 'free', 'free']) await call(toolRegistry, name);
    assert.deepEqual([...answered], ['inside', 'free'], 'nothing is contained here');
    const contained = await containing(this);
    const inside = new Set<string>();
    tools = new WorkspaceTools({ files, consent, settings, fetch, containment: contained, log });
    for (const name of ['inside', 'free']) await call(await tools.open({ answered: inside }), name);
    assert.deepEqual([...inside], ['free']);
  });

  it('tell the most that each can do, as the dialog says it, or why it cannot run', async () => {
    const process = (command: string, more: object = {}) => ({ kind: 'process', command: [command], ...more });
    const runs = [
      process('ls', { access: { write: ['out'] } }),
      process('ls', { contained: false }),
      process('no-such-program'),
      { kind: 'command', command: 'noop' },
      { kind: 'http', url: 'https://a.example/${id}' },
      { kind: 'http', url: 'https://b.example/${id}' },
    ];
    const parameters = { type: 'object', properties: { id: { type: 'string' } } };
    const defined = runs.map((each, at) => ({ name: `t${at}`, description: 'x', parameters, run: each }));
    await file.write(JSON.stringify({ tools: defined }));
    const containment = async () => ({ kind: 'bubblewrap', program: '/usr/bin/bwrap' }) as const;
    patches.set(settings, 'allowedToolHosts', () => ['a.example']);
    tools = new WorkspaceTools({ files, consent, settings, fetch, containment, log });
    const { reach } = await tools.open();
    assert.deepEqual(await Promise.all(defined.map(({ name }) => reach?.(name))), [
      'Reads this workspace and the system’s files. Writes out/. No network.',
      'Not contained: it can read, change and send anything you can.',
      'The program "no-such-program" was not found in PATH.',
      'Part of the editor: it can do anything the editor can.',
      'Sends a request to a.example.',
      'Tools cannot send requests to "b.example" until you add that host to the setting "rolecall.tools.allowedHosts".',
    ]);
    assert.equal(await reach?.('nonsense'), undefined);
  });

  it('do not run after a no', async () => {
    await file.write(scripted());
    await script.write('touch made');
    consent.answer = () => false;
    await assert.rejects(call(await tools.open(), 'scripted'), isCancelled);
    await assert.rejects(async () => vscode.workspace.fs.stat(vscode.Uri.joinPath(folder().uri, 'made')));
    consent.answer = () => true;
    await call(await tools.open(), 'scripted');
    const made = vscode.Uri.joinPath(folder().uri, 'made');
    await vscode.workspace.fs.stat(made);
    await vscode.workspace.fs.delete(made);
  });

  it('do not run when the program is another by the time the user has answered', async () => {
    const program = path.join(folder().uri.fsPath, 'program');
    await file.write(scripted(['./program']));
    await symlink('/bin/echo', program);
    consent.answer = async () => {
      await rm(program);
      await symlink('/bin/cat', program);
      return true;
    };
    try {
      await assert.rejects(
        call(await tools.open(), 'scripted'),
        (error) =>
          error instanceof RolecallError &&
          error.kind === 'tool' &&
          /changed while you were being asked/.test(error.message),
      );
    } finally {
      await rm(program);
    }
  });

  it('say what they reach: what is declared, or everything, and why', async () => {
    const reaches: unknown[] = [];
    for (const [containment, more] of [
      [{ kind: 'bubblewrap', program: '/usr/bin/bwrap' }, { access: { write: ['out'] } }],
      [{ kind: 'bubblewrap', program: '/usr/bin/bwrap' }, { contained: false }],
      [notContaining, {}],
    ] as const) {
      await file.write(scripted(['ls'], more));
      consent.answer = () => false;
      const deps = { files, consent, settings, fetch, containment: async () => containment, log };
      await assert.rejects(call(await new WorkspaceTools(deps).open(), 'scripted'), isCancelled);
      reaches.push(consent.asked.at(-1)?.permissions);
    }
    assert.deepEqual(reaches, [
      { kind: 'contained', reads: ['.'], writes: ['out/'], program: undefined, network: false },
      { kind: 'uncontained' },
      { kind: 'uncontained', reason: notContaining.reason, remedy: notContaining.remedy },
    ]);
  });

  it('whose path leads outside the workspace are not asked about', async () => {
    await symlink('/etc', path.join(folder().uri.fsPath, 'away'));
    try {
      await assert.rejects(
        call(await tools.open(), 'count_words', { file: 'away/passwd' }),
        /leads outside the workspace/,
      );
      assert.deepEqual(consent.asked, []);
    } finally {
      await rm(path.join(folder().uri.fsPath, 'away'));
    }
  });

  it('do not run when a path has come to lead out of the workspace while the user was asked', async () => {
    const link = path.join(folder().uri.fsPath, 'away');
    const properties = { file: { type: 'string', format: 'workspace-path' } };
    const run = { kind: 'process', command: ['cat', '${file}'], contained: false };
    await file.write(
      JSON.stringify({ tools: [{ name: 'cat', description: 'd', parameters: { type: 'object', properties }, run }] }),
    );
    consent.answer = async () => {
      await symlink('/etc', link);
      return true;
    };
    try {
      await assert.rejects(call(await tools.open(), 'cat', { file: 'away/hostname' }), /leads outside the workspace/);
    } finally {
      await rm(link);
    }
  });

  it('do not run when the work was stopped while the user was asked', async () => {
    const stop = new AbortController();
    consent.answer = () => {
      stop.abort();
      return true;
    };
    await assert.rejects(call(await tools.open(), 'list_files', {}, stop.signal), isCancelled);
    assert.deepEqual(
      log.lines.filter((line) => /Running/.test(line)),
      [],
    );
  });

  it('are ended when the work is stopped', async () => {
    await file.write(scripted(['sleep', '600'])); // Longer than any test may take.
    const toolRegistry = await tools.open();
    await call(toolRegistry, 'scripted', {}, AbortSignal.timeout(200)).catch(() => {});
  });

  it('tell how they ended when they fail', async () => {
    await file.write(scripted());
    await script.write('echo half; echo bad >&2; exit 3');
    const result = await call(await tools.open(), 'scripted');
    assert.equal(result.isError, true);
    assert.match(result.content, /exit code 3[\s\S]*half[\s\S]*bad/);
  });

  it('that are asked for and are not there are named', async () => {
    const result = await call(await tools.open(), 'nonsense');
    assert.deepEqual(result, { content: 'There is no tool named nonsense.', isError: true });
    assert.deepEqual(consent.asked, []);
  });

  it('are none in a workspace that is not trusted', async () => {
    patches.set(vscode.workspace, 'isTrusted', false);
    const toolRegistry = await tools.open();
    assert.deepEqual(toolRegistry.tools, []);
    assert.equal((await call(toolRegistry, 'count_words', { file: 'README.md' })).isError, true);
    assert.deepEqual(consent.asked, []);
  });

  it('of a folder on another machine are not run on this one', async () => {
    const { name, index, uri } = folder();
    patches.set(vscode.workspace, 'workspaceFolders', [{ name, index, uri: uri.with({ scheme: 'vscode-vfs' }) }]);
    patches.set(vscode.workspace, 'fs', {
      ...vscode.workspace.fs,
      readFile: async () => new TextEncoder().encode(scripted(['ls'])),
    });
    const result = await call(await tools.open(), 'scripted');
    assert.equal(result.isError, true);
    assert.match(result.content, /another machine/);
    assert.deepEqual(consent.asked, []);
  });

  it('where nothing can contain them say why and how to fix it, and are asked for each time', async () => {
    const dialogs: string[] = [];
    patches.set(vscode.window, 'showWarningMessage', async (_: string, ...rest: unknown[]) => {
      const [{ detail = '' }, ...buttons] = rest as [vscode.MessageOptions, ...string[]];
      dialogs.push([...detail.split('\n').slice(0, 2), ...buttons].join('\n'));
      return buttons.at(-1);
    });
    const asking = new ToolConsent(new FakeMemento());
    tools = new WorkspaceTools({
      files,
      consent: asking,
      settings,
      fetch,
      containment: async () => notContaining,
      log,
    });
    const asked = [
      'Not contained: it can read, change and send anything you can.',
      'Programs cannot be contained here: bubblewrap is not installed. To fix this, run: sudo apt install bubblewrap',
      'Allow Once',
    ].join('\n');
    for (const _ of [1, 2]) await call(await tools.open(), 'list_files');
    assert.deepEqual(dialogs, [asked, asked]);
  });

  describe('with a consent for always', () => {
    let dialogs: { detail: string; buttons: unknown[] }[];
    let answers: (string | undefined)[];
    let real: WorkspaceTools;

    beforeEach(async function () {
      dialogs = [];
      answers = [];
      const containment = await containing(this);
      const remembered = new ToolConsent(new FakeMemento());
      real = new WorkspaceTools({ files, consent: remembered, settings, fetch, containment, log });
      patches.set(vscode.window, 'showWarningMessage', async (_: string, ...rest: unknown[]) => {
        const [{ detail = '' }, ...buttons] = rest as [vscode.MessageOptions, ...string[]];
        dialogs.push({ detail, buttons });
        return answers.shift() ?? buttons.at(-1);
      });
    });

    it('run again without a question, with other arguments too', async () => {
      await call(await real.open(), 'count_words', { file: 'README.md' });
      const { content } = await call(await real.open(), 'count_words', { file: 'handover.md' });
      assert.match(content, /handover\.md/);
      assert.equal(dialogs.length, 1);
      assert.match(
        dialogs[0]?.detail ?? '',
        /^Reads this workspace and the system’s files\. Writes only temporary files\. No network\.\n/,
      );
    });

    const edits: readonly (readonly [string, string])[] = [
      ['its definition', scripted(['sh', 'script.sh', 'more'])],
      ['what it may write', scripted(undefined, { access: { write: ['out'] } })],
      ['what it may read', scripted(undefined, { access: { read: ['script.sh'] } })],
    ];
    for (const [what, edited] of edits) {
      it(`ask again when ${what} was edited; not when a script was, which reaches no more than before`, async () => {
        await file.write(scripted());
        await script.write('echo one');
        await call(await real.open(), 'scripted');
        await script.write('echo two; touch made');
        const { content } = await call(await real.open(), 'scripted');
        assert.match(
          content,
          /two[\s\S]*Read-only[\s\S]*It ran contained\. Reads this workspace and the system’s files\. Writes only temporary files\./,
        );
        assert.equal(dialogs.length, 1);
        await file.write(edited);
        await call(await real.open(), 'scripted').finally(() =>
          rm(path.join(folder().uri.fsPath, 'out'), { recursive: true, force: true }),
        );
        assert.equal(dialogs.length, 2);
      });
    }

    const perCall: readonly (readonly [string, Record<string, unknown>])[] = [
      ['this workspace and a network', { access: { network: true } }],
      ['a part of it and a network', { access: { read: [], write: ['out'], network: true } }],
      ['everything', { contained: false }],
    ];
    for (const [what, more] of perCall) {
      it(`that reach ${what} are asked for each time: its files decide what they do`, async () => {
        await file.write(scripted(['echo'], more));
        await call(await real.open(), 'scripted');
        await call(await real.open(), 'scripted').finally(() =>
          rm(path.join(folder().uri.fsPath, 'out'), { recursive: true, force: true }),
        );
        assert.deepEqual(
          dialogs.map(({ buttons }) => buttons),
          [['Allow Once'], ['Allow Once']],
        );
      });
    }

    it('that leave what no tool may have it removed, and are told, up to ten times', async () => {
      const leaving = async (code: string) => {
        await file.write(scripted(['sh', '-c', code], { access: { write: ['out'] } }));
        const { content, isError } = await call(await real.open(), 'scripted').finally(() =>
          rm(path.join(folder().uri.fsPath, 'out'), { recursive: true, force: true }),
        );
        assert.equal(isError, true);
        return content;
      };
      const told = await leaving('mkdir -p out/1/.git; mkfifo out/2; touch out/3; chmod 4755 out/3');
      assert.match(
        told,
        /created something that is not allowed\. It was renamed to ".*\/out\/1\/\.git\.not-allowed-\w+"\./,
      );
      assert.match(told, /left a pipe, socket or device behind\. It was deleted: ".*\/out\/2"\./);
      assert.match(told, /allowed other users to run ".*\/out\/3" as you\. This was undone\./);
      const many = await leaving('for each in $(seq 12); do mkfifo out/$each; done');
      assert.equal(many.match(/It was deleted/g)?.length, 10);
      assert.match(many, /\n2 more were found\.\n/);
    });

    it('that reach a network and nothing of the workspace can be allowed for exactly their arguments', async () => {
      const parameters = { type: 'object', properties: { what: { type: 'string', description: 'd' } } };
      const define = (program: string) => {
        const run = { kind: 'process', command: [program, '${what}'], access: { read: [], network: true } };
        return file.write(JSON.stringify({ tools: [{ name: 'echoed', description: 'd', parameters, run }] }));
      };
      await define('echo');
      for (const what of ['a', 'a', 'b']) await call(await real.open(), 'echoed', { what });
      const exact = ['Allow Once', 'Always Allow with These Arguments'];
      assert.deepEqual(
        dialogs.map(({ buttons }) => buttons),
        [exact, exact],
      );
      // A link of the workspace can lead to another program tomorrow.
      const program = path.join(folder().uri.fsPath, 'program');
      await symlink('/bin/echo', program);
      try {
        await define('./program');
        await call(await real.open(), 'echoed', { what: 'a' });
      } finally {
        await rm(program);
      }
      assert.deepEqual(dialogs[2]?.buttons, ['Allow Once']);
    });
  });

  describe('that are begun with New Workspace Tool', () => {
    afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

    it('are an example that works as it stands', async () => {
      await file.remove();
      await newWorkspaceTool(files);
      assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), file.uri().toString());
      const result = await call(await tools.open(), 'count_words', { file: 'README.md' });
      assert.match(result.content, /README\.md/);
      await files.check();
      // The running extension looks at the file too, and may have seen it while it was empty.
      await until('there is no problem', () => vscode.languages.getDiagnostics(file.uri()).length === 0);
    });

    /** The editor may still hold the text of the test before. */
    const writeAndLoad = async (text: string) => {
      await file.write(text);
      await until('the editor has read the file', async () => {
        return (await vscode.workspace.openTextDocument(file.uri())).getText() === text;
      });
    };

    it('are added to those there are, with the name selected', async () => {
      await writeAndLoad(scripted());
      await newWorkspaceTool(files);
      await newWorkspaceTool(files);
      const { tools: offered } = await tools.open();
      assert.deepEqual(
        offered.map(({ name }) => name),
        ['scripted', 'count_words', 'count_words_2'],
      );
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.getText(editor.selection), 'count_words_2');
      assert.equal(editor?.document.isDirty, false);
      await files.check();
      // The running extension looks at the file by itself, and may have seen it while it was empty.
      await until('nothing is wrong with it', () => vscode.languages.getDiagnostics(file.uri()).length === 0);
    });

    it('are saved in a file that was changed elsewhere a moment ago, though its text is the same', async () => {
      await writeAndLoad(scripted());
      await vscode.window.showTextDocument(file.uri());
      await writeFile(file.uri().fsPath, `\ufeff${scripted()}`); // Three bytes longer: a byte order mark.
      await newWorkspaceTool(files);
      assert.equal(vscode.window.activeTextEditor?.document.isDirty, false);
    });

    it('leave a file that is being edited unsaved, and one that is broken as it is', async () => {
      await writeAndLoad(scripted());
      const document = await vscode.workspace.openTextDocument(file.uri());
      const edit = new vscode.WorkspaceEdit();
      edit.insert(file.uri(), new vscode.Position(0, 0), '// mine\n');
      await vscode.workspace.applyEdit(edit);
      await newWorkspaceTool(files);
      assert.equal(document.isDirty, true);
      assert.match(document.getText(), /^\/\/ mine\n[\s\S]*count_words/);
      await document.save();
      const broken = new vscode.WorkspaceEdit();
      broken.insert(file.uri(), new vscode.Position(0, 0), '{');
      await vscode.workspace.applyEdit(broken);
      const before = document.getText();
      await assert.rejects(newWorkspaceTool(files), /Fix it/);
      assert.equal(document.getText(), before);
      await document.save();
    });

    it('do not overwrite what cannot be looked at', async () => {
      const written: vscode.Uri[] = [];
      patches.set(vscode.workspace, 'fs', {
        ...vscode.workspace.fs,
        stat: async (uri: vscode.Uri) => {
          throw vscode.FileSystemError.NoPermissions(uri);
        },
        writeFile: async (uri: vscode.Uri) => void written.push(uri),
      });
      await assert.rejects(newWorkspaceTool(files), vscode.FileSystemError);
      assert.deepEqual(written, []);
    });

    it('need a folder', async () => {
      patches.set(vscode.workspace, 'workspaceFolders', undefined);
      await assert.rejects(newWorkspaceTool(files), /Open a folder first/);
    });
  });
});
