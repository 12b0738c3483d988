import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { documentMarkdown } from '../../../src/core/access/pageDocument.ts';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import { targetUri } from '../../../src/host/accessTarget.ts';
import { ChangeMarks } from '../../../src/host/changeMarks.ts';
import { AccessFiles } from '../../../src/host/rules/accessFiles.ts';
import { QuickFixes } from '../../../src/host/rules/language.ts';
import { ruleCommands } from '../../../src/host/rules/ruleCommands.ts';
import type { RulesDeps } from '../../../src/host/rules/rules.ts';
import { TreeDecorations } from '../../../src/host/tree/decorations.ts';
import { commands } from '../../../src/ids.ts';
import { FakeLog } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder } from '../support/workspace.ts';
import { FakeAccess, file, MERIDIAN, shownProblems } from './scene.ts';

const APART =
  'rules:\n  - id: apart\n    kind: separation-of-duties\n    roles: [admin, auditor]\n    severity: error\n';

describe('access rules in the workspace', () => {
  const patches = usePatches();
  /** One for each test: the editor may still have the text of another. */
  let count = 0;
  const rules = {
    uri: () => vscode.Uri.joinPath(folder().uri, `m-${count}.access.yaml`),
    write: async (text: string) => vscode.workspace.fs.writeFile(rules.uri(), new TextEncoder().encode(text)),
  };
  let access: FakeAccess;
  let files: AccessFiles;
  let fixes: QuickFixes;
  let shown: Map<string, readonly vscode.Diagnostic[]>;
  let handlers: ReturnType<typeof ruleCommands>;

  beforeEach(() => {
    count += 1;
    shown = shownProblems(patches);
    access = new FakeAccess();
    const extensionUri = vscode.Uri.file('/extension');
    files = new AccessFiles({ data: access.data, extensionUri }, new FakeLog());
    fixes = new QuickFixes(files, access.data);
    const deps: Pick<RulesDeps, 'data' | 'extensionUri'> = { data: access.data, extensionUri };
    handlers = ruleCommands({ ...(deps as RulesDeps), files });
  });
  afterEach(async () => {
    fixes.dispose();
    files.dispose();
    const open = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === rules.uri().toString());
    if (open?.isDirty) await open.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(rules.uri());
  });

  const problems = () => shown.get(rules.uri().toString()) ?? [];
  const messages = () => problems().map(({ message }) => message);
  /** The quick fixes at a problem, the first unless given, by title. */
  const offered = async (problem = problems()[0]) => {
    const document = await vscode.workspace.openTextDocument(rules.uri());
    assert.ok(problem);
    const actions = fixes.provideCodeActions(document, problem.range, {
      diagnostics: problems().filter(({ range }) => range.isEqual(problem.range)),
    });
    return { document, actions, named: (title: string) => actions.find((action) => action.title === title) };
  };
  const textNow = async () => (await vscode.workspace.openTextDocument(rules.uri())).getText();
  it('shows a finding at the ID of its rule when a reading arrives, and nothing of it before', async () => {
    await rules.write(file(APART));
    await files.check();
    assert.deepEqual(messages(), ['Not checked: m has not been read. Open it in the Organizations view.']);
    assert.deepEqual(access.asked, [], 'a file makes nothing be read');
    access.arrive();
    await until('problems are shown', () => messages()[0]?.startsWith('ada@'));
    const [finding] = problems();
    assert.equal(finding?.message, 'ada@m.example has both admin and auditor, through ops and audit');
    const model = access.current?.model;
    const marked = [...(model?.findings.keys() ?? [])].map((entry) =>
      'group' in entry ? entry.group.metadata.name : entry.id,
    );
    assert.deepEqual(marked, ['sub-ada', 'ops', 'audit'], 'where the tree and the filter look');
    assert.equal(finding.severity, vscode.DiagnosticSeverity.Error);
    assert.deepEqual(
      [finding.range.start.line, finding.range.start.character, finding.range.end.character],
      [4, 8, 13],
    );
    const { value, target } = finding.code as { value: string; target: vscode.Uri };
    assert.deepEqual([value, target.path], ['separation-of-duties', '/extension/media/access-rules.md']);
    access.leave();
    await until('problems are shown', () => messages()[0]?.startsWith('Not checked'));
  });

  it('shows what was found, and not accepted, at the group in the tree', async () => {
    const decorations = new TreeDecorations(access.data, new ChangeMarks(access.data));
    const badge = () => {
      const target = { kind: 'group', key: 'g-2', organization: 'm', connection: 'c' } as const;
      const { badge: letter, tooltip } = decorations.provideFileDecoration(targetUri(target)) ?? {};
      return letter && `${letter} ${tooltip}`;
    };
    await rules.write(file(APART));
    access.arrive();
    assert.equal(badge(), undefined);
    const redrawn = new Promise((resolve) => decorations.onDidChangeFileDecorations(resolve));
    await until('it is marked', () => badge() === 'F ada@m.example has both admin and auditor, through ops and audit');
    await redrawn;
    await rules.write(
      file(
        `${APART}waivers:\n  - { rule: apart, for: ada@m.example, owner: l@m.example, reason: T, until: 2999-01-01 }\n`,
      ),
    );
    await until('it is accepted', () => badge() === undefined);
    decorations.dispose();
  });

  it('shows beside it that a group is degraded too', async () => {
    const decorations = new TreeDecorations(access.data, new ChangeMarks(access.data));
    const [ops, audit] = MERIDIAN;
    await rules.write(file(APART));
    access.arrive([ops, { ...audit, metadata: { ...audit.metadata, healthStatus: 'degraded' } }]);
    const given = () => {
      const target = { kind: 'group', key: 'g-2', organization: 'm', connection: 'c' } as const;
      const { badge, tooltip, color } = decorations.provideFileDecoration(targetUri(target)) ?? {};
      return `${badge} ${tooltip} ${color?.id}`;
    };
    assert.equal(given(), '! Degraded list.warningForeground');
    const finding = 'ada@m.example has both admin and auditor, through ops and audit';
    await until('both are shown', () => given() === `F! ${finding}\nDegraded list.warningForeground`);
    access.arrive([ops, { ...audit, metadata: { ...audit.metadata, healthStatus: 'error' } }]);
    await until('an error keeps its color', () => given() === `F! ${finding}\nIn error list.errorForeground`);
    decorations.dispose();
  });

  it('says once what is wrong in the file, where it stands, with what was probably meant', async () => {
    await rules.write(file('rules:\n  - { id: typo, kind: max-holders, role: admim, max: 1 }\n'));
    access.arrive();
    await until('problems are shown', () => messages()[0]?.startsWith('No role') === true);
    assert.deepEqual(messages(), ['No role is called "admim". Did you mean "admin"?']);
    await rules.write(file('rules:\n  - { id: typo, kind: max-holder, role: admin, max: 1 }\n'));
    await until('the kind is a problem', () => messages()[0]?.startsWith('Unknown value') === true);
    await rules.write(file('rulez: []\ndeclared:\n  groups:\n    - { name: "o*" }\n'));
    await until('the key is a problem', () => messages()[0]?.startsWith('Unknown key') === true);
    assert.deepEqual(messages(), [
      'Unknown key "rulez". Did you mean "rules"?',
      'A declared group is a single group, so patterns cannot be used.',
    ]);
  });

  it('offers to change a name to what was probably meant', async () => {
    await rules.write(file('rules:\n  - { id: typo, kind: max-holders, role: admim, max: 1 }\n'));
    access.arrive();
    await until('problems are shown', () => messages()[0]?.startsWith('No role') === true);
    const { actions } = await offered();
    assert.ok(actions.some(({ title }) => title === 'Change to "admin"'));
  });

  it('says at the rule what keeps it from being told and stands nowhere in the file', async () => {
    await rules.write(file('rules:\n  - { id: unlisted, kind: no-unlisted-roles }\n'));
    access.arrive(MERIDIAN, new RolecallError('forbidden', 'no'));
    await until('problems are shown', () => messages()[0]?.startsWith('Undetermined: ') === true);
    assert.deepEqual(messages(), ['Undetermined: The roles could not be read.']);
  });

  it('says once that its people have a mistake, however many rules that keeps from being told', async () => {
    const people = 'people:\n  - { name: Ada, is: ["user:1"] }\n  - { name: Ada, is: ["user:2"] }\n';
    const few = '  - { id: few, kind: max-holders, role: admin, max: 1 }\n';
    await rules.write(file(`${APART}${few}${people}`));
    access.arrive();
    await until('problems are shown', () => messages().some((message) => message.startsWith('The name')));
    assert.deepEqual(
      messages().filter((message) => message.startsWith('Undetermined') || message.includes('twice')),
      ['The name "Ada" is used twice.'],
    );
  });

  it('opens a new file that is not saved yet, beside those that are there', async () => {
    const taken = vscode.Uri.joinPath(folder().uri, 'm.access.yaml');
    await vscode.workspace.fs.writeFile(taken, new Uint8Array());
    await rules.write(file(APART));
    access.arrive();
    await handlers[commands.newAccessRules](undefined);
    const document = vscode.window.activeTextEditor?.document;
    assert.deepEqual(
      [document?.isUntitled, document?.uri.path.split('/').at(-1)],
      [true, 'm-2.access.yaml'],
      'one that is there stays',
    );
    assert.match(document?.getText() ?? '', /^# .*\nformat: rolecall\.access-rules\nversion: 1\norganization: m\n/);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.workspace.fs.delete(taken);
  });

  it('fades a waived finding, with its waiver and the declared group as related places', async () => {
    const declared = 'declared:\n  groups:\n    - { name: ops }\n';
    const waiver =
      'waivers:\n  - { rule: apart, for: ada@m.example, owner: l@m.example, reason: T-1, until: 2999-01-01 }\n';
    await rules.write(file(APART + declared + waiver));
    access.arrive();
    await until('problems are shown', () => problems().length === 2); // The waiver is for more than a year.
    const waived = problems().find(({ tags }) => tags?.includes(vscode.DiagnosticTag.Unnecessary));
    assert.equal(waived?.severity, vscode.DiagnosticSeverity.Information);
    assert.match(waived.message, /waived until 2999-01-01: T-1/);
    assert.deepEqual(
      waived.relatedInformation?.map(({ message, location }) => [message, location.range.start.line]),
      [
        ['The waiver', 12],
        ['ops is declared here', 10],
        ['audit gives auditor to ada@m.example', 6],
      ],
    );
    const { actions } = await offered(waived);
    assert.deepEqual(
      actions.map(({ title }) => title),
      ['Go to Group or Role'],
    );
  });

  it('shows fifty findings of a rule, and how many there are besides', async () => {
    const many = Array.from({ length: 60 }, (_, at) => ({
      ...MERIDIAN[0],
      metadata: { ...MERIDIAN[0].metadata, id: `g-${at}`, name: `x-${at}` },
    }));
    await rules.write(file('rules:\n  - { id: names, kind: naming, of: groups, match: [team] }\n'));
    access.arrive(many);
    await until('problems are shown', () => problems().length === 51);
    assert.match(messages().at(-1) ?? '', /^10 more findings of this rule\./);
  });

  it('adds a waiver, after which the finding is accepted', async () => {
    await rules.write(file(APART));
    access.arrive();
    await until('problems are shown', () => problems().length === 1);
    const { named } = await offered();
    const add = named('Add Waiver…');
    assert.ok(add?.command && named('Go to Group or Role'));
    const typed = ['T-7', 'lead@m.example', '2030-01-31'];
    const offeredTexts: (string | undefined)[] = [];
    patches.set(vscode.window, 'showInputBox', async ({ value }: vscode.InputBoxOptions = {}) => {
      offeredTexts.push(value);
      return typed.shift();
    });
    await (handlers[commands.addWaiver] as (...args: unknown[]) => unknown)(...(add.command.arguments ?? []));
    assert.match(
      await textNow(),
      /\nwaivers:\n {2}- \{ rule: apart, for: ada@m\.example, owner: lead@m\.example, reason: T-7, until: 2030-01-31 \}\n$/,
    );
    assert.equal(offeredTexts[1], 'ines@m.example', 'whose account it is');
    const document = await vscode.workspace.openTextDocument(rules.uri());
    assert.equal(files.checkText(document.uri, document.getText()).result?.check.rules[0]?.status, 'waived');
  });

  it('replaces a waiver that has expired by the new one', async () => {
    const waivers =
      'waivers:\n  - { rule: apart, for: ada@m.example, owner: l@m.example, reason: T, until: 2020-01-31 }\n';
    await rules.write(file(APART + waivers));
    access.arrive();
    await until('problems are shown', () => problems().length === 2);
    const { named } = await offered(problems().find(({ message }) => message.startsWith('ada@')));
    const typed = ['T-8', 'lead@m.example', '2030-01-31'];
    patches.set(vscode.window, 'showInputBox', async () => typed.shift());
    const { arguments: args = [] } = named('Add Waiver…')?.command ?? assert.fail('not offered');
    await (handlers[commands.addWaiver] as (...args: unknown[]) => unknown)(...args);
    assert.match(
      await textNow(),
      /\nwaivers:\n {2}- \{ rule: apart, for: ada@m\.example, owner: lead@m\.example, reason: T-8, until: 2030-01-31 \}\n$/,
    );
  });

  it('accepts a difference into the declaration, or copies it as something to do', async () => {
    await rules.write(
      file('declared:\n  groups:\n    - name: ops # the team\n      members:\n        - ada@m.example\n'),
    );
    access.arrive();
    await until('problems are shown', () => problems().length === 1);
    const { named } = await offered();
    const accept = named('Update Declaration to Match');
    assert.ok(accept?.edit);
    await vscode.workspace.applyEdit(accept.edit);
    assert.equal(
      await textNow(),
      file(
        'declared:\n  groups:\n    - name: ops # the team\n      members:\n        - ada@m.example\n        - ben@m.example\n',
      ),
    );
    assert.deepEqual(named('Copy as To-Do List')?.command?.arguments, [
      '- [ ] ben@m.example is in ops, but isn’t declared there',
    ]);
  });

  it('declares what is there in the file that is looked at, without a question', async () => {
    access.organizations = ['m', 'other'];
    patches.set(vscode.window, 'showQuickPick', () => assert.fail('a question'));
    await rules.write(file(APART));
    access.arrive();
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(rules.uri()));
    await handlers[commands.declareAccess](undefined);
    assert.match(await textNow(), /\ndeclared:\n/);
  });

  it('declares what is there, and keeps the rules of the file', async () => {
    await rules.write(file(APART));
    access.arrive();
    await handlers[commands.declareAccess](undefined);
    const text = await textNow();
    const written = await vscode.workspace.fs.readFile(rules.uri());
    assert.equal(new TextDecoder().decode(written), file(APART), 'it is not saved yet');
    assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), rules.uri().toString());
    assert.ok(text.startsWith(file(APART)), text);
    assert.match(text, /\ndeclared:\n {2}complete: true\n {2}groups:\n {4}- name: audit\n {6}id: g-2\n/);
    assert.deepEqual(files.checkText(rules.uri(), text).result?.check.drift?.findings, []);
  });

  it('asks before it replaces what a file declares', async () => {
    const text = file(`${APART}declared:\n  groups: []\n`);
    await rules.write(text);
    access.arrive();
    const questions: string[] = [];
    let answer: string | undefined;
    patches.set(vscode.window, 'showWarningMessage', async (question: string) => {
      questions.push(question);
      return answer;
    });
    await assert.rejects(handlers[commands.declareAccess](undefined) ?? assert.fail(), isCancelled);
    assert.match(questions.join(), /^Replace the declared state in .*\.access\.yaml\?$/);
    const document = await vscode.workspace.openTextDocument(rules.uri());
    assert.equal(document.getText(), text);
    answer = 'Replace';
    await handlers[commands.declareAccess](undefined);
    assert.match(await textNow(), /\ndeclared:\n {2}complete: true\n/);
  });

  it('asks, too, where the declaration is not saved', async () => {
    await rules.write(file(APART));
    access.arrive();
    const document = await vscode.workspace.openTextDocument(rules.uri());
    const edit = new vscode.WorkspaceEdit();
    edit.insert(rules.uri(), document.positionAt(document.getText().length), 'declared:\n  groups: []\n');
    await vscode.workspace.applyEdit(edit);
    let question = '';
    patches.set(vscode.window, 'showWarningMessage', async (asked: string) => {
      question = asked;
    });
    await assert.rejects(handlers[commands.declareAccess](undefined) ?? assert.fail(), isCancelled);
    assert.match(question, /^Replace the declared state in /);
    assert.match(document.getText(), /declared:\n {2}groups: \[\]\n$/);
  });

  it('says why a file is not checked: at its organization, and on the page', async () => {
    const page: { markdown?: string } = {};
    const pages = async () => ({
      open: () => ({
        closed: new AbortController().signal,
        close: () => {},
        show: ({ document }: { document: Parameters<typeof documentMarkdown>[0] }) => {
          page.markdown = documentMarkdown(document);
        },
      }),
    });
    const deps = { data: access.data, extensionUri: vscode.Uri.file('/extension'), pages } as unknown as RulesDeps;
    const { [commands.showCheck]: showCheck } = ruleCommands({ ...deps, files });
    const severities = () => problems().map(({ severity }) => vscode.DiagnosticSeverity[severity]);
    await rules.write(file(APART));
    access.isSignedIn = false;
    access.leave();
    await until('it is signed out', () => messages()[0] === 'Not checked. Sign in to check it.');
    access.isSignedIn = true;
    const refusal = new RolecallError('forbidden', 'You don’t have permission to view "m".');
    access.arrive(refusal, refusal);
    await until('it is refused', () => messages()[0] === 'Undetermined: You don’t have permission to view "m".');
    assert.deepEqual([messages().length, severities()], [1, ['Warning']]);
    await showCheck();
    const shownText = page.markdown ?? '';
    assert.match(shownText, /Undetermined: You don’t have permission to view "m"\.\n\n\*\*undetermined/);
    assert.match(shownText, /\| apart \| The groups could not be read\./);
    access.organizations = ['meridian'];
    await rules.write(file(APART, 'meridain'));
    const slip = 'meridain is not one of the organizations that you show. Did you mean "meridian"?';
    access.leave();
    await until('the slip is named', () => messages()[0] === slip);
    assert.deepEqual(severities(), ['Warning']);
    const { document, named } = await offered();
    assert.equal(document.getText(problems()[0]?.range), 'meridain');
    assert.ok(named('Change to "meridian"')?.edit);
    await showCheck();
    assert.ok(page.markdown?.includes(`Undetermined: ${slip}`), page.markdown);
    assert.deepEqual(access.asked, ['m'], 'only what the user shows');
  });
});
