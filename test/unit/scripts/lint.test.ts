import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { at } from '../../../scripts/paths.ts';

interface Diagnostic {
  readonly category: string;
  readonly message: string;
  readonly line: number;
}

/** Runs Biome's rules over the samples (path → text) as if they stood in the project, and gives what it says of each. */
function lint(samples: ReadonlyMap<string, string>): ReadonlyMap<string, readonly Diagnostic[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-lint-'));
  try {
    fs.copyFileSync(at('biome.json'), path.join(folder, 'biome.json'));
    fs.cpSync(at('scripts', 'lint'), path.join(folder, 'scripts', 'lint'), { recursive: true });
    for (const [file, text] of samples) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    }
    const biome = at('node_modules', '@biomejs', 'biome', 'bin', 'biome');
    const flags = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', 'src'];
    const { stdout } = spawnSync(process.execPath, [biome, ...flags], { cwd: folder, encoding: 'utf8' });
    const report = JSON.parse(stdout) as {
      diagnostics: { category: string; message: string; location: { path: string; start: { line: number } } }[];
    };
    const found = new Map<string, Diagnostic[]>([...samples.keys()].map((file) => [file, []]));
    for (const { category, message, location } of report.diagnostics) {
      found.get(location.path)?.push({ category, message, line: location.start.line });
    }
    return found;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const unawaited = [
  "vscode.commands.executeCommand('a');",
  "commands.executeCommand('a');",
  "showInformationMessage('a');",
  "vscode.commands.executeCommand('a').then(() => undefined);",
  "context.secrets.store('a', 'b');",
  "this.#secrets.delete('a');",
  "context.globalState.update('a', 1);",
  "vscode.lm.invokeTool('a', { input: {} });",
  'vscode.workspace.fs.delete(uri);',
  'vscode.env.openExternal(uri);',
];
const awaited = [
  "await vscode.commands.executeCommand('a');",
  "void vscode.commands.executeCommand('a');",
  "return vscode.commands.executeCommand('a');",
  "const shown = showQuickPick(['a']);",
  "register(() => vscode.commands.executeCommand('a'));",
  "register(async () => {\n await vscode.commands.executeCommand('a');\n});",
  "await withProgress(where, async () => {\n await vscode.commands.executeCommand('a');\n});",
  "log.info('commands.executeCommand');",
];
const nested = "await run(() => {\nshowErrorMessage('a');\n});";

const imports: ReadonlyArray<readonly [folder: string, imported: string, verdict: 'refused' | 'allowed']> = [
  ['src/core/base', 'vscode', 'refused'],
  ['src/core/base', '../identity/other.ts', 'refused'],
  ['src/core/base', './other.ts', 'allowed'],
  ['src/core/oauth', 'vscode', 'refused'],
  ['src/core/oauth', '../identity/other.ts', 'refused'],
  ['src/core/oauth', '../../host/other.ts', 'refused'],
  ['src/core/oauth', '../../sandbox/other.ts', 'refused'],
  ['src/core/oauth', '../base/other.ts', 'allowed'],
  ['src/core/oauth/rotation', '../../identity/other.ts', 'refused'],
  ['src/core/oauth/rotation', '../../base/other.ts', 'allowed'],
  ['src/core/oauth/joining', '../../completions/other.ts', 'refused'],
  ['src/core/oauth/joining', '../rotation/other.ts', 'allowed'],
  ['src/core/rules/kinds', '../../completions/other.ts', 'refused'],
  ['src/core/rules/kinds', '../../access/other.ts', 'allowed'],
  ['src/core/identity', '../oauth/other.ts', 'refused'],
  ['src/core/completions', '../tools/other.ts', 'refused'],
  ['src/core/tools', '../completions/other.ts', 'refused'],
  ['src/core/access', '../identity/other.ts', 'refused'],
  ['src/core/access', '../base/other.ts', 'allowed'],
  ['src/core/identity', '../access/other.ts', 'refused'],
  ['src/core/base', '../access/other.ts', 'refused'],
  ['src/core/diagnosis', '../oauth/other.ts', 'refused'],
  ['src/core/oauth', '../diagnosis/other.ts', 'refused'],
  ['src/core/diagnosis', '../base/other.ts', 'allowed'],
  ['src/host/diagnosis', '../auth/other.ts', 'refused'],
  ['src/host/auth', '../diagnosis/other.ts', 'refused'],
  ['src/host/tree', '../chat/other.ts', 'refused'],
  ['src/host/tree', '../../sandbox/other.ts', 'refused'],
  ['src/host/tree', '../other.ts', 'allowed'],
  ['src/host/tree', '../../core/identity/other.ts', 'allowed'],
  ['src/host/tree', 'vscode', 'allowed'],
  ['src/host/chat', '../tree/other.ts', 'refused'],
  ['src/host/sandbox', '../../sandbox/other.ts', 'refused'],
  ['src/host/sandbox', './other.ts', 'allowed'],
  ['src/host/matrix', '../tree/other.ts', 'refused'],
  ['src/host/tree', '../matrix/other.ts', 'refused'],
  ['src/host/matrix', '../../webview/matrix/other.ts', 'allowed'],
  ['src/webview/matrix', '../../host/matrix/other.ts', 'refused'],
  ['src/webview/matrix', '../../core/access/other.ts', 'refused'],
  ['src/webview/matrix', 'vscode', 'refused'],
  ['src/webview/matrix', 'node:fs', 'refused'],
  ['src/webview/matrix', './other.ts', 'allowed'],
  ['src/cli', '../core/base/other.ts', 'allowed'],
  ['src/cli', '../host/other.ts', 'refused'],
  ['src/cli', 'vscode', 'refused'],
  ['src/core/access', '../../cli/other.ts', 'refused'],
  ['src/host/tree', '../../cli/other.ts', 'refused'],
  ['src/sandbox', '../core/base/other.ts', 'refused'],
  ['src/sandbox', '../ids.ts', 'refused'],
  ['src/sandbox', 'vscode', 'refused'],
  ['src/sandbox/inference', '../other.ts', 'allowed'],
];

const DOOR = 'src/host/dialogs.ts';
const dialogs: ReadonlyArray<readonly [text: string, verdict: 'refused' | 'allowed']> = [
  ["await vscode.window.showInformationMessage('a');", 'refused'],
  ["await window.showErrorMessage('a');", 'refused'],
  ["const show = vscode.window.showWarningMessage;\nawait show('a');", 'refused'],
  ['const { showQuickPick } = vscode.window;', 'refused'],
  ["await vscode.window.withProgress({ title: 'a' }, run);", 'refused'],
  ['await vscode.window.showInputBox({});', 'refused'],
  ['const box = vscode.window.createInputBox();', 'refused'],
  ['const pick = vscode.window.createQuickPick<Item>();', 'refused'],
  ["await vscode.window?.showErrorMessage('a');", 'refused'],
  ["await vscode.window\n  // why\n  .showErrorMessage('a');", 'refused'],
  ['const { window: { withProgress } } = vscode;', 'refused'],
  ['const { showInputBox: ask } = vscode.window;', 'refused'],
  ['let ask;\n({ showInputBox: ask } = vscode.window);', 'refused'],
  ['let showInputBox;\n({ showInputBox } = vscode.window);', 'refused'],
  ["await showInformationMessage('a');", 'allowed'],
  ["await vscode.window.showTextDocument('a');", 'allowed'],
  ['const { state } = vscode.window;', 'allowed'],
];

const setContext = "export const set = () => vscode.commands.executeCommand('setContext', 'a', true);\n";

/** The rules of biome.json and scripts/lint, held against samples: a check that cannot fail checks nothing. */
describe('the check', function () {
  this.timeout(20_000);
  let found: ReadonlyMap<string, readonly Diagnostic[]>;

  const statementFile = (kind: string, index: number): string => `src/host/${kind}${index}.ts`;
  const importFile = (folder: string, index: number): string => `${folder}/sample${index}.ts`;
  const statement = (text: string): string => `export async function sample() {\n${text}\n}\n`;
  const of = (file: string, isWanted: (diagnostic: Diagnostic) => boolean): readonly Diagnostic[] => {
    const all = found.get(file);
    assert.ok(all, `${file} was linted`);
    return all.filter(isWanted);
  };
  const isPlugin = ({ category }: Diagnostic): boolean => category === 'plugin';

  before(() => {
    const samples = new Map<string, string>();
    for (const [index, text] of unawaited.entries()) {
      samples.set(statementFile('unawaited', index), statement(text));
    }
    for (const [index, text] of awaited.entries()) {
      samples.set(statementFile('awaited', index), statement(text));
    }
    samples.set(statementFile('nested', 0), statement(nested));
    for (const [index, [folder, imported]] of imports.entries()) {
      samples.set(importFile(folder, index), `export { a } from '${imported}';\n`);
    }
    for (const [index, [text]] of dialogs.entries()) samples.set(statementFile('dialogs', index), statement(text));
    samples.set(DOOR, statement(dialogs.map(([text]) => text).join('\n')));
    samples.set('src/host/tree/setContext.ts', setContext);
    samples.set('src/host/contextKeys.ts', setContext);
    found = lint(samples);
  });

  describe('finds a VS Code Thenable that nobody awaits', () => {
    for (const [index, text] of unawaited.entries()) {
      it(`in ${text}`, () => {
        assert.deepEqual(
          of(statementFile('unawaited', index), isPlugin).map(({ message, line }) => ({ message, line })),
          [{ message: 'Await this, or write `void` beside the reason why nobody waits.', line: 2 }],
        );
      });
    }
    for (const [index, text] of awaited.entries()) {
      it(`and not in ${text.replaceAll('\n', '')}`, () => {
        assert.deepEqual(of(statementFile('awaited', index), isPlugin), []);
      });
    }
    it('in a function inside an awaited one', () => {
      assert.deepEqual(
        of(statementFile('nested', 0), isPlugin).map(({ line }) => line),
        [3],
      );
    });
  });

  describe('keeps one door for context keys', () => {
    const isDoor = ({ message }: Diagnostic): boolean => /Context keys have one door/.test(message);

    it('elsewhere it is an error', () => assert.equal(of('src/host/tree/setContext.ts', isDoor).length, 1));
    it('in host/contextKeys.ts it is not', () => assert.equal(of('src/host/contextKeys.ts', isDoor).length, 0));
  });

  describe('keeps one door for messages, progress, input boxes and quick picks', () => {
    const isDoor = ({ message }: Diagnostic): boolean => /have one door: host\/dialogs\.ts/.test(message);

    for (const [index, [text, verdict]] of dialogs.entries()) {
      it(`${text.replaceAll('\n', ' ')} is ${verdict}`, () => {
        assert.equal(of(statementFile('dialogs', index), isDoor).length, verdict === 'refused' ? 1 : 0);
      });
    }
    it('in host/dialogs.ts all is allowed', () => assert.equal(of(DOOR, isDoor).length, 0));
  });

  describe('keeps the layers', () => {
    for (const [index, [folder, imported, verdict]] of imports.entries()) {
      it(`${imported} is ${verdict} in ${folder}`, () => {
        const refusals = of(importFile(folder, index), ({ category }) => category === 'lint/style/noRestrictedImports');
        assert.equal(refusals.length, verdict === 'refused' ? 1 : 0);
      });
    }

    it('has rules for every room of core and host', () => {
      const config = JSON.parse(fs.readFileSync(at('biome.json'), 'utf8')) as { overrides: { includes: string[] }[] };
      const ruled = config.overrides.flatMap(({ includes }) => includes);
      const rooms = ['src/core', 'src/host'].flatMap((layer) =>
        fs
          .readdirSync(at(layer), { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => `${layer}/${name}/**`),
      );
      assert.notEqual(rooms.length, 0);
      assert.deepEqual(
        rooms.filter((room) => !ruled.includes(room)),
        [],
      );
    });
  });
});
