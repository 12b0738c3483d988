import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ChangeMarks } from '../../../src/host/changeMarks.ts';
import { registerMatrix } from '../../../src/host/matrix/register.ts';
import { TreeDecorations } from '../../../src/host/tree/decorations.ts';
import { commands } from '../../../src/ids.ts';
import { versioned } from '../../../src/webview/matrix/protocol.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

/** A click is lost on what is drawn again under it: so nothing is, unless it looks different. */
describe('what is drawn again', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  /** What VS Code was told to draw again: nodes by their labels, all of them as `everything`. */
  let drawn: string[];
  /** The addresses whose decorations it was told to ask for again, by the ends of their paths. */
  let decorated: string[];
  /** The types of the messages that the page of the matrix was sent. */
  let posted: string[];
  let decorations: TreeDecorations;
  let received: vscode.EventEmitter<unknown>;

  beforeEach(() => {
    drawn = [];
    decorated = [];
    posted = [];
    tree().view.onDidChangeTreeData((node) => void drawn.push(node ? tree().text(node) : 'everything'));
    decorations = scene().own(new TreeDecorations(tree().data, scene().own(new ChangeMarks(tree().data))));
    const told: vscode.Event<undefined | vscode.Uri | vscode.Uri[]> = decorations.onDidChangeFileDecorations;
    told((what) => {
      const uris = what === undefined ? [undefined] : [what].flat();
      decorated.push(...uris.map((uri) => uri?.path.split('/').at(-1) ?? 'everything'));
    });
  });

  /** Nothing that was told before counts. */
  const forget = () => {
    for (const each of [drawn, decorated, posted]) each.length = 0;
  };
  /** Draws an organization down to its groups, as VS Code would, with their decorations. */
  const draw = async (organization: string): Promise<void> => {
    for (const node of await groupsOf(organization)) {
      const uri = tree().item(node).resourceUri;
      if (uri) decorations.provideFileDecoration(uri);
    }
  };
  const groupsOf = (organization: string) => tree().open(organization, 'Groups');
  /** The matrix of meridian, with its page begun. */
  const openMatrix = async (): Promise<void> => {
    const given = new Commands(patches);
    received = new vscode.EventEmitter<unknown>();
    const never: vscode.Event<never> = () => new vscode.Disposable(() => {});
    patches.set(vscode.window, 'createWebviewPanel', () => ({
      visible: true,
      onDidChangeViewState: never,
      onDidDispose: never,
      dispose: () => {},
      webview: {
        onDidReceiveMessage: received.event,
        asWebviewUri: (uri: vscode.Uri) => uri,
        postMessage: async ({ type }: { type: string }) => posted.push(type) > 0,
        html: '',
      },
    }));
    const { data, state, view } = tree();
    const extensionUri = vscode.Uri.file('/extension');
    const reveal = view.reveal.bind(view);
    scene().own(given.of(() => registerMatrix({ data, shared: state, reveal, extensionUri, log: scene().log })));
    await given.call(commands.showMatrix, await tree().node('meridian'));
    received.fire(versioned({ type: 'ready', mode: 'groups' }));
    assert.ok(posted.includes('matrix'), given.errors.join());
  };

  it('is nothing when the token of the same account is renewed, or a setting changes that is not shown', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    await draw('meridian');
    await openMatrix();
    forget();
    let renewals = 0;
    cloud.tokenManager.onDidChange(() => {
      renewals += 1;
    });
    await signInAs(cloud, 'administrator');
    scene().settings.minutes = 5;
    scene().settings.change();
    assert.ok(renewals > 0);
    assert.deepEqual({ drawn, decorated, posted }, { drawn: [], decorated: [], posted: [] });
  });

  it('is an organization once when it is first unfolded, which then tells when it was read', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    const [meridian = assert.fail()] = await tree().view.getChildren();
    assert.equal(tree().description(meridian), '');
    forget();
    await tree().view.getChildren(meridian);
    assert.deepEqual({ drawn, decorated }, { drawn: ['meridian'], decorated: [] });
    assert.match(tree().description(meridian), /^as of \d/);
    await draw('meridian');
    assert.deepEqual(drawn, ['meridian'], 'drawing it must not make it be drawn again for ever');
  });

  it('is one organization once when it was read again, and the marks that are others now', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await draw('meridian');
    await draw('big-sky');
    await openMatrix();
    const [, sick = assert.fail(), ...others] = (await groupsOf('meridian')).map((node) =>
      node.kind === 'group' ? node.entry.group : assert.fail(),
    );
    const groups = [sick, ...others].map(({ metadata, spec }) => ({ metadata, spec }));
    scene().network = async (address, init) =>
      String(address).endsWith('/meridian/groups')
        ? Response.json(
            groups.map(({ metadata, spec }) =>
              metadata.id === sick.metadata.id
                ? { metadata: { ...metadata, healthStatus: 'error' }, spec }
                : { metadata, spec },
            ),
          )
        : fetch(address, init);
    forget();
    tree().data.refresh('meridian');
    assert.deepEqual(drawn, [], 'what was read stays until there is something else');
    await until('it is drawn again', () => drawn.length > 0);
    await tree().open('meridian');
    await tree().open('big-sky');
    assert.deepEqual(drawn, ['meridian']);
    // Another group is missing in the answer, and has no mark, as before.
    assert.deepEqual(decorated, [encodeURIComponent(sick.metadata.id)]);
    assert.equal(posted.filter((type) => type === 'matrix').length, 1);
    forget();
    tree().data.refresh('big-sky');
    await until('it is drawn again', () => drawn.length > 0);
    assert.deepEqual({ drawn, decorated, posted }, { drawn: ['big-sky'], decorated: [], posted: [] });
  });

  it('is each organization that is on the screen once when all are refreshed, and no list that is the same', async () => {
    await signInAs(scene().enterSandbox(), 'administrator');
    await draw('meridian');
    await draw('big-sky');
    forget();
    tree().data.refresh();
    await until('both are drawn again', () => drawn.length > 1);
    assert.deepEqual(drawn.toSorted(), ['big-sky', 'meridian']);
    await tree().open('meridian');
    assert.equal(drawn.length, 2);
  });

  it('is everything when the list of organizations is another, or one has another label', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await tree().texts();
    forget();
    scene().settings.ids = ['meridian'];
    scene().settings.change();
    await until('it is told', () => drawn.length > 0);
    assert.deepEqual(await tree().texts(), ['meridian']);
    await scene().settings.labelOrganization('meridian', 'Meridian');
    await until('it is told', () => drawn.length > 1);
    assert.deepEqual(await tree().texts(), ['Meridian']);
    assert.deepEqual(drawn, ['everything', 'everything']);
  });

  it('is what is folded when it is refreshed, which VS Code then asks for when it is unfolded', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await draw('meridian');
    tree().collapse(await tree().node('meridian'));
    forget();
    scene().asked.length = 0;
    tree().data.refresh();
    tree().data.refresh();
    assert.deepEqual([drawn, scene().asked], [['meridian'], []]);
    tree().expand(await tree().node('meridian'));
    await draw('meridian');
    assert.equal(scene().asked.length, 2);
    forget();
    tree().shown.visible = false;
    tree().data.refresh('meridian');
    assert.deepEqual([drawn, scene().asked.length], [['meridian'], 2], 'nothing is read for a view that is not seen');
  });

  it('is nothing for a filter or an order that are there already', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await draw('meridian');
    const { key } = tree().data.requireSession().cloud;
    forget();
    await tree().state.setFilter(key, 'meridian', 'finance');
    await tree().state.setFilter(key, 'meridian', ' finance ');
    assert.deepEqual(drawn, ['meridian']);
    await tree().state.setOrder('name');
    await tree().state.setOrder('name');
    assert.deepEqual(drawn, ['meridian', 'meridian', 'big-sky']);
  });

  it('is an organization whose reading was stopped, once it is refreshed', async () => {
    let stop = () => {};
    patches.set(vscode.window, 'withProgress', async (_: unknown, task: (...args: unknown[]) => Promise<unknown>) => {
      const source = new vscode.CancellationTokenSource();
      stop = () => source.cancel();
      return task({ report: () => {} }, source.token);
    });
    await tree().serviceOf('administrator', 'meridian');
    const [meridian] = await tree().view.getChildren();
    const { network } = scene();
    scene().network = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const reading = tree().view.getChildren(meridian);
    await until('it is stopped', () => {
      stop();
      return Promise.race([reading, undefined]);
    });
    assert.deepEqual(
      (await reading).map(({ kind }) => kind),
      ['stopped'],
    );
    scene().network = network;
    forget();
    tree().data.refresh();
    await until('it is drawn again', () => drawn.length > 0);
    assert.deepEqual(await tree().texts('meridian'), ['Groups', 'Roles']);
    assert.deepEqual(drawn, ['meridian']);
  });
});
