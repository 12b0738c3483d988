// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { TOOL_FILE } from '../../../src/ids.ts';
import { FakeLog } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: 'Does something.',
  parameters: { type: 'object', properties: {}, required: [] },
  run: { kind: 'process', command: ['ls'] },
  ...more,
});

/** Before a test puts its own in the place. */
const createCollection = vscode.languages.createDiagnosticCollection;

describe('the tool files', () => {
  const patches = usePatches();
  const file = workspaceFile(TOOL_FILE);
  let log: FakeLog;
  let files: ToolFiles;
  /** Problems of these objects alone: the running extension shows its own of the same file. */
  let shown: Map<string, readonly vscode.Diagnostic[]>;
  let clear: () => void;

  beforeEach(() => {
    shown = new Map();
    clear = () => shown.clear();
    const collection = {
      clear: () => clear(),
      set: (uri: vscode.Uri, problems: vscode.Diagnostic[]) => void shown.set(uri.toString(), problems),
      dispose: () => {},
    };
    patches.set(vscode.languages, 'createDiagnosticCollection', () => collection);
    log = new FakeLog();
    files = new ToolFiles(log);
  });
  afterEach(() => files.dispose());

  const names = async () => (await files.contents()).tools.map(({ definition }) => definition.name);
  const problems = () => shown.get(file.uri().toString());

  it('give the tools of the opened folder as the file stands now', async () => {
    assert.deepEqual(await names(), ['count_words', 'list_files']);
    await file.write(JSON.stringify({ tools: [tool('one')] }));
    assert.deepEqual(await names(), ['one']);
    const [first] = (await files.contents()).tools;
    assert.equal(first?.folder, folder());
    assert.equal(first?.definition.folder, folder().uri.fsPath);
    await file.remove();
    assert.deepEqual(await names(), []);
  });

  it('show a problem at its line and keep the other tools', async () => {
    const text = `{
  // A comment.
  "tools": [
    ${JSON.stringify(tool('good'))},
    ${JSON.stringify(tool('bad name!'))},
    ${JSON.stringify({ ...tool('warned'), colour: 'red' })}
  ]
}`;
    await file.write(text);
    await files.check();
    const [wrong, unknown, ...others] = problems() ?? [];
    assert.deepEqual(others, []);
    assert.equal(wrong?.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(wrong?.range.start.line, 4);
    assert.equal(textAt(text, wrong?.range), '"bad name!"');
    assert.equal(unknown?.severity, vscode.DiagnosticSeverity.Warning);
    assert.equal(unknown?.range.start.line, 5);
    assert.match(unknown?.message ?? '', /Unknown property "colour"/);
    assert.equal(unknown?.source, 'Rolecall');
    assert.deepEqual(await names(), ['good', 'warned']);
  });

  it('say of a file that it cannot be read where Rolecall’s own code cannot be loaded, and try again', async () => {
    await file.write(JSON.stringify({ tools: [tool('one')] }));
    let isGone = true;
    const { readToolFile } = await import('../../../src/core/tools/toolFile.ts');
    files.dispose();
    files = new ToolFiles(log, new Set(), async () => {
      if (isGone) throw Object.assign(new Error("Cannot find module './x.cjs'"), { code: 'MODULE_NOT_FOUND' });
      return readToolFile;
    });
    await files.check();
    assert.match(problems()?.[0]?.message ?? '', /^This file cannot be read: .*Cannot find module/);
    assert.deepEqual((await files.contents()).tools, []);
    isGone = false;
    await files.check();
    assert.deepEqual(problems(), []);
    assert.equal((await files.contents()).tools.length, 1);
  });

  it('log what keeps them from being checked, and can be checked again', async () => {
    await file.write('{');
    clear = () => {
      throw new Error('The collection is gone.');
    };
    await files.check();
    assert.match(log.lines.join(), /error The tool files were not checked: .*The collection is gone/);
    clear = () => shown.clear();
    await files.check();
    assert.equal(problems()?.length, 1);
  });

  it('show a problem over all of its lines', async () => {
    const text = '{\n  "tools": {\n    "a": 1\n  }\n}';
    await file.write(text);
    await files.check();
    assert.equal(textAt(text, problems()?.[0]?.range), '{\n    "a": 1\n  }');
  });

  it('show nothing of a file that is in order, or gone', async () => {
    await file.write('{ "tools": 7 }');
    await files.check();
    assert.equal(problems()?.length, 1);
    await file.write('{ "tools": [] }');
    await files.check();
    assert.deepEqual(problems(), []);
    await file.write('{ "tools": 7 }');
    await files.check();
    await file.remove();
    await files.check();
    assert.equal(problems(), undefined);
  });

  it('that are there and cannot be read are a problem, not the absence of tools', async () => {
    patches.set(vscode.workspace, 'fs', {
      ...vscode.workspace.fs,
      readFile: async (uri: vscode.Uri) => {
        throw vscode.FileSystemError.NoPermissions(uri);
      },
    });
    await files.check();
    const [problem] = problems() ?? [];
    assert.match(problem?.message ?? '', /This file cannot be read/);
    assert.equal(problem?.severity, vscode.DiagnosticSeverity.Error);
    assert.deepEqual(await names(), []);
  });

  it('look again by themselves when the file is written or deleted', async () => {
    await file.write('{ "tools": 7 }');
    await until('the problem is shown', () => problems()?.length === 1);
    await file.write('{ "tools": [] }');
    await until('the problem is gone', () => problems()?.length === 0);
    await file.remove();
    await until('the file is gone', () => problems() === undefined);
  });

  it('let a look that began later have the last word', async () => {
    await file.write('{ "tools": 7 }');
    const read = vscode.workspace.fs.readFile;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let isRead = false;
    const slow = async (uri: vscode.Uri) => {
      const bytes = await read(uri);
      isRead = true;
      await held;
      return bytes;
    };
    patches.set(vscode.workspace, 'fs', { ...vscode.workspace.fs, readFile: slow });
    const early = files.check();
    await until('the early look has read', () => isRead);
    patches.restore();
    await file.write('{ "tools": [] }');
    const late = files.check();
    release();
    await Promise.all([early, late]);
    assert.deepEqual(problems(), []);
  });

  it('are neither read nor checked in a workspace that is not trusted', async () => {
    await file.write('{ "tools": 7 }');
    const read: string[] = [];
    const { readFile } = vscode.workspace.fs;
    patches.set(vscode.workspace, 'fs', {
      ...vscode.workspace.fs,
      readFile: (uri: vscode.Uri) => {
        read.push(uri.path);
        return readFile(uri);
      },
    });
    patches.set(vscode.workspace, 'isTrusted', false);
    assert.deepEqual((await files.contents()).tools, []);
    await files.check();
    assert.deepEqual([read, problems()], [[], undefined]);
    patches.restore();
    await files.check();
    assert.equal(problems()?.length, 1);
  });

  describe('beside what the editor says of any JSON', () => {
    let json: vscode.DiagnosticCollection;
    beforeEach(() => {
      json = createCollection('json');
    });
    afterEach(() => json.dispose());
    /** As the JSON support of the editor writes it. */
    const say = (range: [number, number, number, number], message: string) => {
      const found = new vscode.Diagnostic(new vscode.Range(...range), message, vscode.DiagnosticSeverity.Error);
      found.source = 'jsonc';
      json.set(file.uri(), [found]);
    };
    const messages = () => problems()?.map(({ message }) => message.slice(0, 22));

    it('say one slip once, and again when nobody else does', async () => {
      await file.write('{ "tools": [ }');
      await files.check();
      assert.match(messages()?.join() ?? '', /Invalid JSON/);
      say([0, 13, 0, 14], 'Expected comma or closing bracket');
      await until('Rolecall is silent', () => problems()?.length === 0);
      const { problems: found } = await files.contents();
      assert.match(found[0]?.message ?? '', /Invalid JSON/, 'as data it is there, whoever says it');
      json.clear();
      await until('Rolecall speaks again', () => problems()?.length !== 0);
    });

    it('say what nobody else can know, at the same place too', async () => {
      await file.write('{ "tools": [{ "name": "a", "name": "b" }], "x": 1 }');
      await files.check();
      assert.equal(problems()?.length, 2);
      say([0, 27, 0, 33], 'Duplicate object key');
      await until('one of two is left', () => problems()?.length === 1);
      assert.deepEqual(messages(), ['Unknown property "x". ']);
    });
  });

  it('of two folders give the first tool of a name, and say so in the log', async () => {
    const second = { uri: vscode.Uri.joinPath(folder().uri, 'second'), name: 'second', index: 1 };
    const other = vscode.Uri.joinPath(second.uri, TOOL_FILE);
    const text = JSON.stringify({ tools: [tool('count_words'), tool('own')] });
    await vscode.workspace.fs.writeFile(other, new TextEncoder().encode(text));
    try {
      patches.set(vscode.workspace, 'workspaceFolders', [folder(), second]);
      const found = (await files.contents()).tools;
      assert.deepEqual(
        found.map(({ definition, folder: of }) => [definition.name, of.name]),
        [
          ['count_words', folder().name],
          ['list_files', folder().name],
          ['own', 'second'],
        ].map(([name, of]) => [name, of]),
      );
      await files.check();
      const { problems: both } = await files.contents();
      assert.deepEqual(
        both.map(({ file: of, severity }) => [of.toString(), severity]),
        [[other.toString(), 'warning']],
      );
      assert.deepEqual(
        shown.get(other.toString())?.map(({ message }) => message),
        [`The folder ${folder().name} already defines a tool named count_words, so this one is not available.`],
      );
      assert.match(log.lines[0] ?? '', /warn Two folders define the tool count_words; the one of second is left out/);
    } finally {
      await vscode.workspace.fs.delete(second.uri, { recursive: true });
    }
  });
});

describe('the running extension', () => {
  const file = workspaceFile(TOOL_FILE);

  it('shows the problems of a tool file in Problems, at their line', async () => {
    await file.write('{\n  "tools": 7\n}');
    const found = await until('a problem', () => {
      const all = vscode.languages.getDiagnostics(file.uri()).filter(({ source }) => source === 'Rolecall');
      // While the file is being written it is empty for a moment, which is a problem of line 0.
      return all.some(({ range }) => range.start.line === 1) ? all : undefined;
    });
    assert.equal(found.length, 1);
    await file.write(JSON.stringify({ tools: [tool('list_groups')] }));
    const hidden = () => vscode.languages.getDiagnostics(file.uri()).map(({ message }) => message);
    await until('a warning of a name that is an access tool’s', () =>
      /built-in tool named "list_groups"/.test(hidden()[0] ?? ''),
    );
    await file.write('{ "tools": [] }');
    await until('no problem', () => vscode.languages.getDiagnostics(file.uri()).length === 0);
  });
});

function textAt(text: string, range: vscode.Range | undefined): string {
  assert.ok(range);
  const lines = text.split('\n');
  const offset = ({ line, character }: vscode.Position) => [...lines.slice(0, line), ''].join('\n').length + character;
  return text.slice(offset(range.start), offset(range.end));
}
