import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { PageDocument } from '../../src/core/access/pageDocument.ts';
import { Answers } from '../../src/host/editor/answer.ts';
import { commands, documentPanel } from '../../src/ids.ts';
import { PROTOCOL_VERSION } from '../../src/webview/page/protocol.ts';
import { FakeLog } from './support/fakes.ts';
import { type FakePanel, pagesFor, usePanels } from './support/pages.ts';
import { usePatches } from './support/patches.ts';
import { until } from './support/wait.ts';

describe('a rendered answer', () => {
  const patches = usePatches();
  const panels = usePanels(patches, false);
  let answers: Answers;
  let active: { key: string; inferenceAccount: string | undefined };
  /** What the editor is asked to render; it answers when the test lets it. */
  let rendered: string[];
  let render: (markdown: string) => Promise<unknown>;
  let command: vscode.Disposable | undefined;
  const changed = new vscode.EventEmitter<void>();

  let pages: ReturnType<typeof pagesFor>;
  let log: FakeLog;

  beforeEach(() => {
    rendered = [];
    active = { key: 'a', inferenceAccount: 'one' };
    render = async (markdown) => `<p>${markdown}</p>`;
    // The editor of these tests has no Markdown extension: this stands in for it.
    command = vscode.commands.registerCommand('markdown.api.render', async (markdown: string) => {
      rendered.push(markdown);
      return render(markdown);
    });
    log = new FakeLog();
    pages = pagesFor(log);
    const clouds = {
      get active() {
        return active as never;
      },
      onDidChange: changed.event,
    };
    answers = new Answers({ clouds, pages });
  });
  afterEach(() => {
    answers.dispose();
    pages.dispose();
    command?.dispose();
  });

  async function open() {
    const answer = await answers.open('Answer: a.ts', { heading: '*why*', about: 'm · a.ts' });
    return { answer, panel: panels.at(-1) ?? assert.fail('no tab was opened') };
  }
  const newest = ({ newest }: FakePanel) => newest;
  const htmlOf = (panel: FakePanel) =>
    newest(panel)
      ?.parts.map((part) => ('own' in part ? `own: ${part.own}` : 'html' in part ? part.html : JSON.stringify(part)))
      .join('|');

  it('opens beside the editor and leaves the focus where it is; where none is open, in its place', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const { panel: alone } = await open();
    assert.deepEqual(alone.opened[2], { viewColumn: vscode.ViewColumn.Active, preserveFocus: true });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'text' }));
    const { panel } = await open();
    const [kind, title, column, options] = panel.opened;
    assert.equal(kind, 'rolecall.answer');
    assert.equal(title, 'Answer: a.ts');
    assert.deepEqual(column, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
    const { enableCommandUris, localResourceRoots } = options as vscode.WebviewOptions;
    assert.equal(enableCommandUris, undefined);
    assert.deepEqual(localResourceRoots?.map(String), ['file:///extension/dist']);
  });

  it('is shown in a page that may load and send nothing', async () => {
    const { panel } = await open();
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(panel.webview.html)?.[1] ?? '';
    const rules = policy.split('; ').map((rule) => rule.replace(/nonce-[\w-]+/, 'nonce'));
    assert.deepEqual(rules, [
      "default-src 'none'",
      "script-src 'nonce'",
      "style-src 'nonce'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  it('waits for its page, grows, and says when it is whole', async () => {
    const { answer, panel } = await open();
    answer.append('one');
    await until('it is rendered', () => rendered.length > 0);
    assert.deepEqual(panel.posted, []);
    panel.begin();
    await until('the first words', () => htmlOf(panel) === '<p>one</p>');
    assert.equal(newest(panel)?.isWhole, false);
    assert.deepEqual([newest(panel)?.heading, newest(panel)?.about], ['*why*', ['m · a.ts']]);
    answer.append(' two');
    answer.end();
    await until('all of it', () => htmlOf(panel) === '<p>one two</p>');
    assert.equal(newest(panel)?.isWhole, true);
  });

  it('is rendered once at a time: what comes meanwhile is rendered together', async () => {
    const { answer, panel } = await open();
    panel.begin();
    const waiting: (() => void)[] = [];
    render = (markdown) => new Promise((resolve) => waiting.push(() => resolve(markdown)));
    answer.append('1');
    answer.end();
    await until('the first begins', () => waiting.length === 1);
    for (const more of ['2', '3', '4']) {
      answer.append(more);
      answer.end();
    }
    waiting[0]?.();
    await until('the next begins', () => waiting.length === 2);
    waiting[1]?.();
    await until('all of it', () => htmlOf(panel) === '1234');
    assert.deepEqual(rendered, ['1', '1234']);
  });

  it('is posted again to a page that begins again after it was out of sight', async () => {
    const { answer, panel } = await open();
    panel.begin();
    answer.append('one');
    answer.end();
    await until('it is shown', () => panel.posted.length === 1);
    panel.visible = false;
    panel.viewState.fire();
    answer.append(' two');
    answer.end();
    await until('it is rendered', () => rendered.length === 2);
    assert.equal(panel.posted.length, 1);
    panel.visible = true;
    panel.viewState.fire();
    panel.begin();
    await until('it is posted', () => htmlOf(panel) === '<p>one two</p>');
  });

  it('takes Rolecall’s own lines past the renderer, and renders again only what has grown', async () => {
    const { answer, panel } = await open();
    panel.begin();
    answer.write({ kind: 'text', text: 'one' });
    answer.write({ kind: 'line', text: '*Used* f.' });
    answer.end();
    await until('both', () => htmlOf(panel) === '<p>one</p>|own: *Used* f.');
    answer.write({ kind: 'text', text: '*Used* g.' });
    answer.end();
    await until('all of it', () => htmlOf(panel) === '<p>one</p>|own: *Used* f.|<p>*Used* g.</p>');
    assert.deepEqual(rendered, ['one', '*Used* g.']);
  });

  it('is shown as it is where the editor has nothing that renders, which the log is told once', async () => {
    const { answer, panel } = await open();
    panel.begin();
    command?.dispose();
    command = undefined;
    answer.append('a < b && <img src=x>');
    answer.end();
    await until('it is shown', () => htmlOf(panel) === '{"plain":"a < b && <img src=x>"}');
    answer.write({ kind: 'line', text: 'Used f.' });
    answer.append('c');
    answer.end();
    await until('all of it', () => htmlOf(panel) === '{"plain":"a < b && <img src=x>"}|own: Used f.|{"plain":"c"}');
    assert.equal(log.lines.filter((line) => /shown as plain text/.test(line)).length, 1);
  });

  it('stops when its tab is closed', async () => {
    const { answer, panel } = await open();
    assert.equal(answer.closed.aborted, false);
    panel.dispose();
    assert.equal(answer.closed.aborted, true);
    answer.append('late');
    answer.end();
    assert.deepEqual(panel.posted, []);
  });

  it('closes, emptied, when its account is no longer active', async () => {
    const { answer, panel } = await open();
    panel.begin();
    answer.append('secret');
    answer.end();
    await until('it is shown', () => panel.posted.length === 1);
    changed.fire(); // The same account: a token was renewed, for instance.
    assert.equal(panel.isDisposed, false);
    active = { key: 'a', inferenceAccount: undefined };
    changed.fire();
    assert.deepEqual([panel.isDisposed, panel.webview.html, answer.closed.aborted], [true, '', true]);
    panel.begin();
    answer.append(' and late');
    answer.end();
    assert.equal(panel.posted.length, 1);
  });

  it('can be copied as Markdown while it is looked at', async () => {
    const { answer, panel } = await open();
    const { [commands.copyPage]: copy } = (await pages()).commands;
    answer.append('**one**');
    answer.end();
    await vscode.env.clipboard.writeText('mine');
    await copy();
    assert.equal(await vscode.env.clipboard.readText(), 'mine');
    panel.active = true;
    await copy();
    assert.equal(await vscode.env.clipboard.readText(), '**one**');
  });
});

describe('a page with a document', () => {
  const patches = usePatches();
  const panels = usePanels(patches);
  let pages: ReturnType<typeof pagesFor>;
  let followed: string[];
  const table = (rows: number): PageDocument<string> => ({
    title: 'T\u202e',
    about: [{ text: 'meridian', link: 'organization' }, ' · now'],
    blocks: [
      { kind: 'notice', text: '<b>' },
      {
        kind: 'table',
        columns: ['Name', 'ID'],
        rows: Array.from({ length: rows }, (_, at) => [[{ text: `n\n${at}`, link: `row ${at}` }], [{ small: 'i' }]]),
      },
    ],
  });

  beforeEach(() => {
    pages = pagesFor(new FakeLog());
    followed = [];
  });
  afterEach(() => pages.dispose());

  async function open(key?: string) {
    const page = (await pages()).open<string>({
      ...(key !== undefined && { key }),
      kind: documentPanel,
      title: 'T',
      icon: 'key',
      column: 'active',
      follow: async (link) => void followed.push(link),
    });
    return { page, panel: panels.at(-1) ?? assert.fail('no tab was opened') };
  }

  it('is posted without any markup, and what its links lead to stays behind', async () => {
    const { page, panel } = await open();
    page.show({ document: table(2) });
    await until('it is shown', () => panel.text !== '');
    assert.deepEqual(panel.text.split('\n'), [
      'T\\u{202e}',
      'meridian · now',
      '! <b>',
      'Name | ID',
      'n\\u{a}0 | i',
      'n\\u{a}1 | i',
    ]);
    assert.doesNotMatch(JSON.stringify(panel.posted), /row \d|organization/);
    panel.follow('n\\u{a}1');
    panel.follow('meridian');
    assert.deepEqual(followed, ['row 1', 'organization']);
  });

  it('takes no number that is not of what it shows now', async () => {
    const { page, panel } = await open();
    page.show({ document: table(2) });
    await until('it is shown', () => panel.newest?.revision === 1);
    page.show({ document: table(1) });
    await until('it is shown', () => panel.newest?.revision === 2);
    const send = (message: object) => panel.received.fire({ version: PROTOCOL_VERSION, type: 'follow', ...message });
    for (const link of [-1, 2, 0.5, '1', '__proto__', null]) send({ revision: 2, link });
    send({ revision: 1, link: 1 });
    send({ type: 'command', revision: 2, link: 1 });
    assert.deepEqual(followed, []);
    page.close();
    send({ revision: 2, link: 1 });
    assert.deepEqual(followed, []);
  });

  it('has one tab for each key, for as long as that is open', async () => {
    const { panel } = await open('k');
    await open('k');
    assert.deepEqual([panels.length, panel.revealed], [1, 1]);
    panel.dispose();
    await open('k');
    await open();
    assert.equal(panels.length, 3);
  });

  it('shows the beginning of a long table, and says how much is left', async () => {
    const { page, panel } = await open();
    page.show({ document: table(2500) });
    await until('it is shown', () => panel.text !== '');
    const lines = panel.text.split('\n');
    assert.deepEqual(
      [lines.length, lines.at(-1)],
      [2005, '! 500 more rows are not shown. Save this document to see all of them.'],
    );
  });

  it('is copied and saved as Markdown, whole, and says where it was saved', async () => {
    const { page, panel } = await open();
    const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail(), 'saved page.md');
    patches.set(vscode.window, 'showSaveDialog', async () => file);
    const told: string[] = [];
    patches.set(vscode.window, 'showInformationMessage', async (message: string, button: string) => {
      told.push(message);
      return button;
    });
    page.show({ document: table(2500) });
    panel.active = true;
    const { [commands.copyPage]: copy, [commands.savePage]: save } = (await pages()).commands;
    await copy();
    const text = await vscode.env.clipboard.readText();
    assert.equal(text.split('\n').length, 2509);
    await save();
    try {
      assert.equal(new TextDecoder().decode(await vscode.workspace.fs.readFile(file)), text);
      assert.deepEqual(told, ['Page saved to saved page.md.']);
      assert.equal(vscode.window.activeTextEditor?.document.uri.path, file.path);
    } finally {
      await vscode.workspace.fs.delete(file);
    }
  });

  it('is not saved when it was closed while the dialog stood open', async () => {
    const { page, panel } = await open();
    const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail(), 'saved page.md');
    patches.set(vscode.window, 'showSaveDialog', async () => {
      page.close();
      return file;
    });
    page.show({ document: table(1) });
    panel.active = true;
    await assert.rejects(async () => (await pages()).commands[commands.savePage](), { kind: 'cancelled' });
    await assert.rejects(async () => vscode.workspace.fs.stat(file));
  });
});
