import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { registerRuleLanguage } from '../../../src/host/rules/language.ts';
import { folder } from '../support/workspace.ts';
import { FakeAccess, file } from './scene.ts';

describe('the editor of access rules and reviews', () => {
  const uris: vscode.Uri[] = [];
  let access: FakeAccess;
  let language: vscode.Disposable;

  beforeEach(() => {
    access = new FakeAccess();
    access.arrive();
    language = registerRuleLanguage(access.data);
  });
  afterEach(async () => {
    language.dispose();
    for (const uri of uris.splice(0)) await vscode.workspace.fs.delete(uri);
  });

  /** A file of its own with this text, and the position that `|` marks in it. */
  const opened = async (marked: string, kind = 'access') => {
    const uri = vscode.Uri.joinPath(folder().uri, `language-${Math.random()}.${kind}.yaml`);
    uris.push(uri);
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(marked.replace('|', '')));
    const document = await vscode.workspace.openTextDocument(uri);
    return { document, at: document.positionAt(marked.indexOf('|')) };
  };
  const completions = async (marked: string, kind?: string) => {
    const { document, at } = await opened(marked, kind);
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      at,
    );
    return { document, items, named: (label: string) => items.find((item) => item.label === label) };
  };
  const hovers = async (marked: string) => {
    const { document, at } = await opened(marked);
    const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, at);
    const texts = found.flatMap(({ contents }) => contents.map((each) => (each as vscode.MarkdownString).value));
    return { document, found, texts };
  };

  it('completes names from what was read, at their place', async () => {
    const { document, named } = await completions(
      file('rules:\n  - { id: a, kind: max-holders, role: aud|, max: 1 }\n'),
    );
    const item = named('auditor') ?? assert.fail('the role is not offered');
    assert.equal(item.kind, vscode.CompletionItemKind.Constant);
    assert.equal(document.getText(item.range as vscode.Range), 'aud');
    assert.ok(named('admin'));
  });

  it('completes people, and names of another organization nowhere', async () => {
    const body = 'rules:\n  - { id: a, kind: allowed-holders, role: admin, holders: [|] }\n';
    const person = (await completions(file(body))).named('ben@m.example');
    assert.equal(person?.kind, vscode.CompletionItemKind.User);
    assert.equal((await completions(file(body, 'other'))).named('ben@m.example'), undefined);
  });

  it('completes the decisions of a review', async () => {
    const head = 'format: rolecall.campaign\nversion: 1\norganization: m\nitems:\n';
    const { named } = await completions(`${head}  - group: g-1\n    who: user u\n    decision: |\n`, 'review');
    for (const decision of ['keep', 'revoke', 'ask']) assert.ok(named(decision), decision);
  });

  it('explains a key, and what a name stands for, as plain text', async () => {
    const rule = 'rules:\n  - { id: a, kind: only-through, role: admin, groups: [ops] }\n';
    const key = await hovers(file(rule.replace('groups', 'gr|oups')));
    assert.ok(key.texts.some((text) => /The groups that can have it/.test(text)));
    const [ops] = access.current?.model.groups ?? [];
    assert.ok(ops);
    Object.assign(ops.group.metadata, { name: '[x](command:y)' });
    const name = await hovers(file(rule.replace('ops', 'id:g-|1')));
    const shown = name.texts.find((text) => text.includes('command:y')) ?? assert.fail(name.texts.join('\n'));
    assert.doesNotMatch(shown, /(?<!\\)\[x/);
    const [{ range } = assert.fail()] = name.found;
    assert.equal(name.document.getText(range), 'id:g-1');
  });
});
