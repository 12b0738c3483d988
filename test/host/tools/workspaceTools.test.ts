import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { Toolbox } from '../../../src/host/conversation.ts';
import { newWorkspaceTool } from '../../../src/host/tools/newWorkspaceTool.ts';
import { ToolConsent, type ToolQuestion } from '../../../src/host/tools/toolConsent.ts';
import { TOOL_FILE, ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const never = new AbortController().signal;
const settings = { allowedToolHosts: (): readonly string[] => [] };

/** Answers in the user's place; what it was asked can be read back. */
class FakeConsent extends ToolConsent {
  readonly asked: ToolQuestion[] = [];
  answer: () => boolean | Promise<boolean> = () => true;

  override async ask(question: ToolQuestion): Promise<boolean> {
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
    tools = new WorkspaceTools({ files, consent, settings, fetch, log });
  });
  afterEach(() => files.dispose());

  const call = (toolbox: Toolbox, name: string, args: Record<string, unknown> = {}, signal = never) =>
    toolbox.invoke({ id: 'c', name, arguments: args }, signal);

  const scripted = (command: string[] = ['sh', 'script.sh']) =>
    JSON.stringify({
      tools: [
        {
          name: 'scripted',
          description: 'Runs a script.',
          parameters: { type: 'object', properties: {}, required: [] },
          run: { kind: 'process', command },
        },
      ],
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
    const result = await call(await tools.open(), 'count_words', { file: 'handover.md' });
    assert.equal(result.isError, false);
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

  it('do not run when a file of theirs changes while the user is asked', async () => {
    await file.write(scripted());
    await script.write('echo shown');
    consent.answer = async () => {
      await script.write('echo swapped');
      return true;
    };
    await assert.rejects(
      call(await tools.open(), 'scripted'),
      (error) =>
        error instanceof RolecallError && error.kind === 'tool' && /changed while you were asked/.test(error.message),
    );
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
    await file.write(scripted(['sleep', '30']));
    const toolbox = await tools.open();
    const started = performance.now();
    await call(toolbox, 'scripted', {}, AbortSignal.timeout(200)).catch(() => {});
    assert.ok(performance.now() - started < 10_000);
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
    const toolbox = await tools.open();
    assert.deepEqual(toolbox.tools, []);
    assert.equal((await call(toolbox, 'count_words', { file: 'README.md' })).isError, true);
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

  describe('with a consent for always', () => {
    let dialogs: number;
    let real: WorkspaceTools;

    beforeEach(() => {
      dialogs = 0;
      real = new WorkspaceTools({ files, consent: new ToolConsent(new FakeMemento()), settings, fetch, log });
      patches.set(vscode.window, 'showWarningMessage', async () => {
        dialogs += 1;
        return 'Always Allow in This Workspace';
      });
    });

    it('run again without a question, with other arguments too', async () => {
      await call(await real.open(), 'count_words', { file: 'README.md' });
      await call(await real.open(), 'count_words', { file: 'handover.md' });
      assert.equal(dialogs, 1);
    });

    it('ask each time when more may run than is watched', async () => {
      await file.write(scripted(['env', 'sh', '-c', 'true || make all']));
      patches.set(vscode.window, 'showWarningMessage', async (_: string, ...rest: unknown[]) => {
        dialogs += 1;
        assert.deepEqual(rest.slice(1), ['Allow Once']);
        return 'Allow Once';
      });
      await call(await real.open(), 'scripted');
      await call(await real.open(), 'scripted');
      assert.equal(dialogs, 2);
    });

    it('ask again when a script in another folder of the workspace was edited', async () => {
      const other = vscode.Uri.file(await mkdtemp(path.join(tmpdir(), 'rolecall-tools-')));
      const outside = vscode.Uri.joinPath(other, 'script.sh');
      const write = (text: string) => vscode.workspace.fs.writeFile(outside, new TextEncoder().encode(text));
      try {
        await write('echo one');
        patches.set(vscode.workspace, 'workspaceFolders', [folder(), { uri: other, name: 'other', index: 1 }]);
        await file.write(scripted(['sh', outside.fsPath]));
        await call(await real.open(), 'scripted');
        await call(await real.open(), 'scripted');
        assert.equal(dialogs, 1);
        await write('echo two');
        await call(await real.open(), 'scripted');
        assert.equal(dialogs, 2);
      } finally {
        await vscode.workspace.fs.delete(other, { recursive: true });
      }
    });

    const edits: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['its definition', () => file.write(scripted(['sh', 'script.sh', 'more']))],
      ['the script it names', () => script.write('echo another')],
    ];
    for (const [what, edit] of edits) {
      it(`ask again when ${what} was edited`, async () => {
        await file.write(scripted());
        await script.write('echo one');
        await call(await real.open(), 'scripted');
        await call(await real.open(), 'scripted');
        assert.equal(dialogs, 1);
        await edit();
        await call(await real.open(), 'scripted');
        assert.equal(dialogs, 2);
      });
    }
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
      await assert.rejects(newWorkspaceTool(files), /mend it/);
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
