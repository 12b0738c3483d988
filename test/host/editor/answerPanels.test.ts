import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Answers } from '../../../src/host/editor/answers.ts';
import { PROTOCOL_VERSION, type ToPage } from '../../../src/webview/answer/protocol.ts';
import { FakeLog } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';

/** A tab of the editor without its page: what would be posted to that is kept. */
class FakePanel {
  readonly posted: ToPage[] = [];
  readonly received = new vscode.EventEmitter<unknown>();
  readonly viewState = new vscode.EventEmitter<void>();
  readonly disposed = new vscode.EventEmitter<void>();
  readonly onDidChangeViewState = this.viewState.event;
  readonly onDidDispose = this.disposed.event;
  visible = true;
  active = false;
  isDisposed = false;
  readonly webview = {
    html: '',
    onDidReceiveMessage: this.received.event,
    postMessage: async (message: ToPage) => this.posted.push(message),
    asWebviewUri: (uri: vscode.Uri) => uri,
  };
  readonly opened: readonly unknown[];

  constructor(opened: readonly unknown[]) {
    this.opened = opened;
  }

  begin(): void {
    this.received.fire({ version: PROTOCOL_VERSION, type: 'ready' });
  }

  dispose(): void {
    this.isDisposed = true;
    this.disposed.fire();
  }
}

describe('a rendered answer', () => {
  const patches = usePatches();
  let answers: Answers;
  let panels: FakePanel[];
  let active: { key: string; inferenceAccount: string | undefined };
  /** What the editor is asked to render; it answers when the test lets it. */
  let rendered: string[];
  let render: (markdown: string) => Promise<unknown>;
  let command: vscode.Disposable | undefined;
  const changed = new vscode.EventEmitter<void>();

  beforeEach(() => {
    panels = [];
    rendered = [];
    active = { key: 'a', inferenceAccount: 'one' };
    render = async (markdown) => `<p>${markdown}</p>`;
    // The editor of these tests has no Markdown extension: this stands in for it.
    command = vscode.commands.registerCommand('markdown.api.render', async (markdown: string) => {
      if (markdown === '') return ''; // Whether there is one is asked with nothing.
      rendered.push(markdown);
      return render(markdown);
    });
    patches.set(vscode.window, 'createWebviewPanel', (...opened: unknown[]) => {
      const panel = new FakePanel(opened);
      panels.push(panel);
      return panel;
    });
    const clouds = {
      get active() {
        return active as never;
      },
      onDidChange: changed.event,
    };
    answers = new Answers({ clouds, extensionUri: vscode.Uri.file('/extension'), log: new FakeLog() });
  });
  afterEach(() => {
    answers.dispose();
    command?.dispose();
  });

  async function open() {
    const answer = await answers.open('Answer: a.ts', { heading: '*why*', about: 'm · a.ts' });
    return { answer, panel: panels.at(-1) ?? assert.fail('no tab was opened') };
  }
  const newest = ({ posted }: FakePanel) => posted.at(-1);
  const htmlOf = (panel: FakePanel) =>
    newest(panel)
      ?.parts.map((part) => ('own' in part ? `own: ${part.own}` : part.html))
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
    assert.deepEqual([newest(panel)?.heading, newest(panel)?.about], ['*why*', 'm · a.ts']);
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

  it('is plain text where it cannot be rendered', async () => {
    const { answer, panel } = await open();
    panel.begin();
    render = async () => assert.fail('broken');
    answer.append('a < b && <img src=x>');
    answer.end();
    await until('it is shown', () => htmlOf(panel) === '<pre>a &lt; b &amp;&amp; &lt;img src=x></pre>');
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

  it('closes, emptied, when its account leaves the stage', async () => {
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
    answer.append('**one**');
    answer.end();
    await vscode.env.clipboard.writeText('mine');
    await answers.copy();
    assert.equal(await vscode.env.clipboard.readText(), 'mine');
    panel.active = true;
    await answers.copy();
    assert.equal(await vscode.env.clipboard.readText(), '**one**');
  });

  it('is a document where the editor has nothing that renders', async () => {
    command?.dispose();
    command = undefined;
    patches.set(vscode.window, 'showTextDocument', async () => undefined);
    await answers.open('Answer: a.ts');
    assert.deepEqual(panels, []);
  });
});
