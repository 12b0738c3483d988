import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { registerMatrix } from '../../../src/host/matrix/register.ts';
import { commands } from '../../../src/ids.ts';
import {
  type MatrixMessage,
  type NoticesMessage,
  PROTOCOL_VERSION,
  readToPage,
  type ToHost,
  type ToPage,
  type ViewMessage,
  versioned,
} from '../../../src/webview/matrix/protocol.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

/** Stands in for a tab that VS Code shows, and for the page in it. */
class FakePanel {
  readonly posted: ToPage[] = [];
  html = '';
  readonly #received = new vscode.EventEmitter<unknown>();
  readonly #viewState = new vscode.EventEmitter<unknown>();
  readonly #disposed = new vscode.EventEmitter<void>();
  readonly onDidChangeViewState = this.#viewState.event;
  readonly onDidDispose = this.#disposed.event;
  readonly webview: Record<string, unknown>;
  readonly args: unknown[];
  title: unknown;
  visible = true;
  isClosed = false;
  revealed = 0;

  constructor(args: unknown[]) {
    this.args = args;
    this.title = args[1];
    const panel = this;
    this.webview = {
      onDidReceiveMessage: this.#received.event,
      asWebviewUri: (uri: vscode.Uri) => uri.with({ scheme: 'https', authority: 'page.example' }),
      postMessage: async (message: unknown) => {
        assert.ok(!panel.isClosed, 'nothing is posted to a tab that is closed');
        // As it arrives: through the schemas of the page.
        panel.posted.push(
          readToPage(structuredClone(message)) ?? assert.fail(`not understood: ${JSON.stringify(message)}`),
        );
        return true;
      },
      get html() {
        return panel.html;
      },
      set html(value: string) {
        panel.html = value;
      },
    };
  }

  reveal(): void {
    this.revealed += 1;
  }

  send(message: ToHost): void {
    this.#received.fire(versioned(message));
  }

  sendRaw(message: unknown): void {
    this.#received.fire(message);
  }

  see(visible: boolean): void {
    this.visible = visible;
    this.#viewState.fire({});
  }

  dispose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#disposed.fire();
  }

  last<T extends ToPage['type']>(type: T): Extract<ToPage, { type: T }> {
    const found = this.posted.findLast((each) => each.type === type);
    return (found ?? assert.fail(`no ${type} was posted`)) as Extract<ToPage, { type: T }>;
  }

  count(type: ToPage['type']): number {
    return this.posted.filter((each) => each.type === type).length;
  }
}

describe('the access matrix', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let given: Commands;
  let panels: FakePanel[];

  beforeEach(() => {
    panels = [];
    given = new Commands(patches);
    patches.set(vscode.window, 'createWebviewPanel', (...args: unknown[]) => {
      const panel = new FakePanel(args);
      panels.push(panel);
      return panel;
    });
    const { data, state, view } = tree();
    const reveal = view.reveal.bind(view);
    const extensionUri = vscode.Uri.file('/extension');
    scene().own(given.of(() => registerMatrix({ data, shared: state, reveal, extensionUri, log: scene().log })));
  });
  afterEach(clearFaults);

  const key = () => tree().data.session?.cloud.key ?? assert.fail('nobody is signed in');
  /** The matrix of meridian, with its page begun. */
  const open = async (mode: 'groups' | 'people' = 'groups'): Promise<FakePanel> => {
    await tree().serviceOf('administrator', 'meridian');
    await given.call(commands.showMatrix);
    const panel = panels[0] ?? assert.fail(given.errors.join('\n'));
    panel.send({ type: 'ready', mode });
    return panel;
  };
  const failing = (path: string, status: number) =>
    addFault({ service: 'identity', path, kind: 'status', status, headers: { 'Retry-After': '0' }, times: null });
  const shownLabels = ({ rows }: MatrixMessage, view: ViewMessage) => [...view.rows].map((at) => rows.labels[at]);
  /** The key of the row whose label begins so. */
  const keyOf = ({ rows }: MatrixMessage, label: string) => {
    const at = rows.labels.findIndex((each) => each.startsWith(label));
    return rows.keys[at] ?? assert.fail(`there is no ${label}`);
  };
  const columnKey = ({ columns }: MatrixMessage, label: string) =>
    columns.keys[columns.labels.indexOf(label)] ?? assert.fail(`there is no ${label}`);
  const revealed = () => tree().shown.revealed.map(tree().text);

  describe('as a tab', () => {
    it('is opened once for each organization, from the palette, a node, or the only organization there is', async () => {
      await tree().serviceOf('administrator', 'meridian', 'big-sky');
      given.choices.push(/big-sky/);
      await given.call(commands.showMatrix);
      assert.deepEqual(given.offered, [['meridian', 'big-sky']]);
      await given.call(commands.showMatrix, await tree().node('meridian'));
      await given.call(commands.showMatrix, await tree().node('big-sky'));
      assert.deepEqual(
        panels.map(({ title }) => title),
        ['Access Matrix: big-sky', 'Access Matrix: meridian'],
      );
      assert.deepEqual(
        panels.map(({ revealed: times }) => times),
        [1, 0],
      );
    });

    it('names no host in its policy, has a nonce of its own, and holds nothing of the organization', async () => {
      const panel = await open();
      const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(panel.html) ?? [];
      const [, nonce = ''] = /nonce-([\w-]{22})'/.exec(policy) ?? [];
      assert.equal(
        policy,
        `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`,
      );
      assert.equal([...panel.html.matchAll(/<(?:script|link)\b/g)].length, 2);
      assert.equal([...panel.html.matchAll(new RegExp(`<(?:script|link)[^>]* nonce="${nonce}"`, 'g'))].length, 2);
      assert.doesNotMatch(panel.html, /meridian|platform|\bon\w+=|style=/i);
      const options = panel.args[3] as vscode.WebviewOptions & vscode.WebviewPanelOptions;
      assert.deepEqual(
        [
          options.localResourceRoots?.map(({ path }) => path),
          options.enableCommandUris,
          options.retainContextWhenHidden,
        ],
        [['/extension/dist'], undefined, undefined],
      );
      tree().data.refresh();
      panel.dispose();
      await given.call(commands.showMatrix);
      assert.ok(!panels[1]?.html.includes(nonce));
    });

    it('is emptied and closed when the user signs out', async () => {
      const panel = await open();
      assert.notEqual(panel.html, '');
      await tree().data.session?.cloud.tokenManager.signOut();
      assert.deepEqual([panel.isClosed, panel.html], [true, '']);
    });

    it('is closed when another account comes, also while it reads', async () => {
      const panel = await open();
      const before = panel.posted.length;
      const { cloud } = tree().data.requireSession();
      await addFault({ service: 'identity', path: '/groups$', kind: 'latency', ms: 300, times: null });
      const session = tree().data.requireSession();
      panel.send({ type: 'refresh' });
      assert.equal(panel.last('notices').isReading, true);
      const reading = tree().data.read(session, 'meridian');
      await signInAs(cloud, 'ordinaryUser');
      assert.equal(panel.isClosed, true);
      // Whatever the reading brings now is for nobody: FakePanel fails on anything that is posted.
      await reading;
      assert.deepEqual(
        panel.posted.slice(before).map(({ type }) => type),
        ['notices'],
      );
    });

    it('is named by the label of its organization, also when that changes', async () => {
      const panel = await open();
      await tree().data.setLabel('meridian', 'Main');
      assert.equal(panel.title, 'Access Matrix: Main (meridian)');
      assert.equal(panel.last('texts').texts.title, 'Access matrix of Main (meridian)');
    });

    it('is closed when its organization is taken out of the view', async () => {
      const panel = await open();
      await scene().settings.removeOrganization('meridian');
      await until('the tab is closed', () => panel.isClosed);
    });

    it('does not open where nobody is signed in, or nothing may be read', async () => {
      await scene().startService();
      await given.call(commands.showMatrix);
      await tree().serviceOf('ordinaryUser', 'meridian');
      await given.call(commands.showMatrix);
      assert.equal(panels.length, 0);
      assert.match(given.errors.join('\n'), /Sign in to .* first\.\n.*You don’t have permission to view "meridian"/);
    });
  });

  describe('what it shows', () => {
    it('is every group and role, with a bit for each grant and what is unusual in words', async () => {
      const panel = await open();
      const matrix = panel.last('matrix');
      const { rows, columns } = panel.last('view');
      assert.deepEqual([rows.length, columns.length], [12, 10]);
      const of = (label: string) => {
        const at = matrix.rows.labels.indexOf(label);
        return [matrix.rows.notes[at], matrix.rows.states[at]];
      };
      assert.deepEqual(of('site-reliability'), ['degraded', 'degraded']);
      assert.deepEqual(of('data-science'), ['error', 'error']);
      assert.deepEqual(of('finance'), ['', '']);
      assert.deepEqual(matrix.columns.listed.filter((listed) => !listed).length, 1);
      const grants = [...matrix.bits].reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
      const model = tree().data.last('meridian')?.model;
      assert.equal(
        grants,
        model?.groups.reduce((sum, group) => sum + group.roles.length, 0),
      );
      assert.match(panel.last('texts').texts.title, /meridian/);
    });

    it('marks what access rules have found about groups, people and roles', async () => {
      const panel = await open();
      const model = tree().data.last('meridian')?.model ?? assert.fail('nothing was read');
      const { findings, groups, principals, roles } = model;
      const [group, person, role] = [groups[8], principals[0], roles[1]];
      assert.ok(group && person && role);
      const found = { rule: 'apart', message: 'dora has both\nof them', accepted: undefined };
      for (const entry of [group, person, role]) findings.set(entry, [found, { ...found, accepted: 'until then' }]);
      tree().data.announceFindings('meridian');
      const marked = (all: readonly string[]) => all.flatMap((text, at) => (text === '' ? [] : [[at, text]]));
      const { rows, columns } = panel.last('matrix');
      const said = 'dora has both\\u{a}of them';
      assert.deepEqual([marked(rows.findings), marked(columns.findings)], [[[8, said]], [[1, said]]]);
      panel.send({ type: 'active', mode: 'groups', row: group.key, column: null, place: 1 });
      await until('the row is described', () => panel.count('detail') > 0);
      assert.ok(panel.last('detail').text.endsWith(` · ${said}`));
      panel.send({ type: 'mode', mode: 'people' });
      assert.deepEqual(marked(panel.last('matrix').rows.findings), [[0, said]]);
      await tree().state.setFilter(key(), 'meridian', 'is:finding');
      assert.deepEqual([...panel.last('view').rows], [0]);
      panel.send({ type: 'mode', mode: 'groups' });
      assert.deepEqual([...panel.last('view').rows], [8]);
    });

    it('turns to people and back, and begins again as it was when the tab was out of sight', async () => {
      const panel = await open();
      panel.send({ type: 'mode', mode: 'people' });
      assert.deepEqual([panel.last('matrix').mode, panel.last('view').mode], ['people', 'people']);
      const { rows } = panel.last('matrix');
      assert.ok(rows.notes.includes('service account'));
      // IDs mostly differ at the end: drawn by both ends, and whole in the tooltip.
      const at = rows.names.findIndex((name) => /^[\w-]{25,}$/.test(name));
      const name = rows.names[at] ?? assert.fail('nobody has a long ID');
      assert.equal(rows.labels[at], `${name.slice(0, 8)}…${name.slice(-8)}`);
      panel.see(false);
      const before = panel.posted.length;
      await tree().state.setFilter(key(), 'meridian', 'ada');
      assert.equal(panel.posted.length, before, 'nothing is posted to a page that is not there');
      panel.see(true);
      panel.send({ type: 'ready', mode: 'people' });
      assert.deepEqual([panel.last('view').mode, panel.last('view').filter], ['people', 'ada']);
    });

    it('is read again with the tree, at once when it is seen and else when it is seen again', async () => {
      const panel = await open();
      const posted = panel.count('matrix');
      tree().data.refresh('meridian');
      await until('it is shown anew', () => panel.count('matrix') > posted);
      assert.equal(panel.last('notices').isReading, false);
      panel.see(false);
      scene().asked.length = 0;
      tree().data.refresh('meridian');
      assert.deepEqual(scene().asked, []);
      panel.see(true);
      await until('it is read', () => scene().asked.some((address) => address.endsWith('/groups')));
    });

    it('says that it is of before when it cannot be read again, and that nothing is left when it may not be', async () => {
      const panel = await open();
      const kinds = () => panel.last('notices').notices.map(({ kind }) => kind);
      assert.deepEqual(kinds(), []);
      await failing('/(groups|roles)$', 500);
      panel.send({ type: 'refresh' });
      await until('it says so', () => kinds().length > 0);
      const stale = panel.last('notices');
      assert.deepEqual(kinds(), ['stale', 'stale']);
      assert.match(stale.notices[0]?.text ?? '', /could not be refreshed, so earlier data is shown/);
      assert.equal(panel.last('view').rows.length, 12);
      await clearFaults();
      await failing('/(groups|roles)$', 403);
      panel.send({ type: 'refresh' });
      await until('it is empty', () => kinds().includes('problem'));
      assert.equal(panel.last('view').rows.length, 0);
      assert.equal(panel.last('view').empty, 'Unknown: the groups could not be read');
      assert.deepEqual(panel.last('matrix').rows.labels, []);
    });

    it('says that roles are missing, and calls none of them "not listed" then', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await failing('/roles$', 403);
      await given.call(commands.showMatrix);
      const panel = panels[0] ?? assert.fail();
      panel.send({ type: 'ready', mode: 'groups' });
      const { notices }: NoticesMessage = panel.last('notices');
      assert.match(
        notices.map(({ kind, text }) => `${kind}: ${text}`).join('\n'),
        /^problem: The roles could not be read\./,
      );
      assert.ok(panel.last('matrix').columns.listed.every((listed) => listed));
    });
  });

  describe('its filter', () => {
    it('is that of the tree, both ways, without sending the matrix again', async () => {
      const panel = await open();
      await tree().texts(); // The tree is on the screen too.
      panel.send({ type: 'filter', text: ' role:cluster-operator ', sequence: 7 });
      assert.equal(tree().state.filterOf(key(), 'meridian'), 'role:cluster-operator');
      assert.match(tree().shown.message, /meridian filtered by "role:cluster-operator"/);
      const view = panel.last('view');
      assert.deepEqual([view.filter, view.answered, view.rows.length], ['role:cluster-operator', 7, 3]);
      await tree().state.setFilter(key(), 'meridian', 'finance');
      assert.deepEqual(shownLabels(panel.last('matrix'), panel.last('view')), ['finance']);
      await tree().state.setFilter(key(), 'meridian', 'helth:error');
      assert.match(
        panel
          .last('notices')
          .notices.map(({ text }) => text)
          .join(),
        /Did you mean "health:"\?/,
      );
      await tree().state.setFilter(key(), 'meridian', 'finance');
      assert.deepEqual(panel.last('notices').notices, []);
      await tree().state.setFilter(key(), 'another', 'x');
      assert.equal(panel.last('view').filter, 'finance');
      assert.equal(panel.count('matrix'), 1);
    });

    it('never hides a role that a shown group has', async () => {
      const panel = await open();
      await tree().state.setFilter(key(), 'meridian', 'platform-engineers');
      const { columns } = panel.last('view');
      const labels = [...columns].map((at) => panel.last('matrix').columns.labels[at]);
      assert.deepEqual(labels.slice(0, 3), ['user', 'cluster-operator', 'network-operator']);
      assert.equal(labels.length, 4);
    });

    it('says so when nothing passes it, and follows the order of the tree', async () => {
      const panel = await open();
      await tree().state.setFilter(key(), 'meridian', 'nothing-is-called-so');
      assert.equal(panel.last('view').empty, 'No matching groups');
      await tree().state.setFilter(key(), 'meridian', '');
      await tree().state.setOrder('name');
      const labels = shownLabels(panel.last('matrix'), panel.last('view'));
      const sorted = [...labels].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare as never);
      assert.deepEqual(labels, sorted);
    });
  });

  describe('what is chosen', () => {
    it('is shown in the tree: a row and a cell as their group, a column as its role', async () => {
      const panel = await open();
      const matrix = panel.last('matrix');
      const row = keyOf(matrix, 'finance');
      const column = columnKey(matrix, 'billing-viewer');
      panel.send({ type: 'reveal', mode: 'groups', row, column: null });
      await until('the row', () => revealed().length === 1);
      panel.send({ type: 'reveal', mode: 'groups', row: null, column });
      await until('the column', () => revealed().length === 2);
      panel.send({ type: 'reveal', mode: 'groups', row, column });
      await until('the cell', () => revealed().length === 3);
      assert.deepEqual(revealed(), ['finance', 'billing-viewer', 'finance']);
    });

    it('of somebody in several groups is the one that is picked, among those that give the role', async () => {
      const panel = await open('people');
      const matrix = panel.last('matrix');
      const model = tree().data.last('meridian')?.model ?? assert.fail();
      const several = model.principals.find(({ groups }) => groups.length > 1) ?? assert.fail();
      given.choices.push(/./);
      panel.send({ type: 'reveal', mode: 'people', row: several.key, column: null });
      await until('it is shown', () => revealed().length === 1);
      assert.deepEqual(given.offered, [several.groups.map(({ group }) => group.metadata.name)]);
      const single = model.roles.find(
        (role) => several.groups.filter(({ roles }) => roles.includes(role)).length === 1,
      );
      const through = several.groups.find(({ roles }) => single && roles.includes(single));
      panel.send({ type: 'reveal', mode: 'people', row: several.key, column: single?.key ?? assert.fail() });
      await until('it is shown', () => revealed().length === 2);
      assert.deepEqual([given.offered.length, revealed()[1]], [1, through?.group.metadata.name]);
      const lacking = model.roles.find((role) => !several.groups.some(({ roles }) => roles.includes(role)));
      panel.send({ type: 'reveal', mode: 'people', row: several.key, column: lacking?.key ?? assert.fail() });
      panel.send({ type: 'reveal', mode: 'people', row: several.key, column: single?.key ?? assert.fail() });
      await until('the role that it has is shown', () => revealed().length === 3);
      assert.equal(given.offered.length, 1, 'nothing is asked about a role that it does not have');
      assert.ok(matrix.rows.keys.includes(several.key));
    });

    it('and is gone meanwhile is said, once', async () => {
      const panel = await open();
      panel.send({ type: 'reveal', mode: 'groups', row: 'gone', column: null });
      await until('it is said', () => given.errors.length > 0);
      assert.deepEqual(given.errors, ['This is no longer in the loaded data. Refresh and try again.']);
    });

    it('has its sentence, with every path of a person', async () => {
      const panel = await open();
      const matrix = panel.last('matrix');
      const ask = (mode: 'groups' | 'people', row: string | null, column: string | null) => {
        panel.send({ type: 'active', mode, row, column, place: panel.posted.length });
        return panel.last('detail').text;
      };
      const [finance, viewer] = [keyOf(matrix, 'finance'), columnKey(matrix, 'billing-viewer')];
      assert.equal(ask('groups', finance, viewer), 'finance has the billing-viewer role');
      assert.equal(
        ask('groups', finance, columnKey(matrix, 'administrator')),
        'finance does not have the administrator role',
      );
      assert.match(ask('groups', finance, null), /^finance · [\w-]+ · \d+ subjects?, \d+ user IDs?$/);
      assert.match(ask('groups', null, viewer), /^billing-viewer · [\w-]+$/);
      assert.equal(ask('groups', null, null), '');
      assert.equal(ask('groups', 'gone', null), '');
      panel.send({ type: 'mode', mode: 'people' });
      const ines = keyOf(panel.last('matrix'), 'ines.');
      assert.match(
        ask('people', ines, viewer),
        /^ines\.carvalho@meridian\.example has billing-viewer through finance$/,
      );
      assert.match(ask('people', ines, columnKey(matrix, 'reader')), /does not have reader$/);
      assert.match(
        ask('people', ines, null),
        /^ines\.carvalho@meridian\.example \(subject\) is in administrators, finance$/,
      );
    });
  });

  it('does nothing with what is no message of its page, and says so in the log', async () => {
    const panel = await open();
    const before = panel.posted.length;
    for (const odd of [undefined, 'ready', { type: 'refresh' }, { version: PROTOCOL_VERSION + 1, type: 'refresh' }])
      panel.sendRaw(odd);
    assert.equal(panel.posted.length, before);
    assert.equal(
      scene().log.lines.filter((line) => /^warn .*message that this version does not know/.test(line)).length,
      4,
    );
  });
});
