import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { commands } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, counter, counterAbove, growth } from '../support/sandbox.ts';
import { signInWithRefreshToken, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

type ProgressTask = (
  progress: vscode.Progress<{ message?: string }>,
  token: vscode.CancellationToken,
) => Promise<unknown>;

const GROUPS = 'identity GET /api/v1/organizations/meridian/groups';

describe('the organizations view', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  afterEach(clearFaults);

  it('is empty while nobody is signed in', async () => {
    scene().settings.ids = ['meridian'];
    await scene().startService();
    assert.deepEqual(await tree().view.getChildren(), []);
    assert.deepEqual(scene().asked, []);
  });

  it('shows the organizations of the settings, and asks for nothing before one is opened', async () => {
    await tree().serviceOf('administrator', 'big-sky', 'meridian', 'typed/by hand');
    assert.deepEqual(await tree().texts(), ['big-sky', 'meridian', 'typed/by hand']);
    assert.deepEqual(scene().asked, []);
  });

  it('shows groups and roles of an organization, with how many there are', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const sections = await tree().open('meridian');
    assert.deepEqual(
      sections.map((node) => [tree().text(node), tree().item(node).description]),
      [
        ['Groups', '12'],
        ['Roles', '9'],
      ],
    );
    assert.deepEqual((await tree().texts('meridian', 'Groups')).slice(0, 3), [
      'administrators',
      'platform-engineers',
      'site-reliability',
    ]);
    const roles = await tree().texts('meridian', 'Roles');
    assert.deepEqual([roles.length, roles.at(-1)], [10, 'Granted, but not listed']);
  });

  it('asks once for both lists, however much is opened, until it is refreshed', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const requests = await growth(GROUPS, async () => {
      await Promise.all([tree().open('meridian', 'Groups'), tree().open('meridian', 'Roles')]);
      await tree().open('meridian', 'Groups', 'administrators');
    });
    assert.equal(requests, 1);
    const again = await growth(GROUPS, async () => {
      const before = await counter(GROUPS);
      tree().data.refresh(); // Shows what was read, and reads.
      await tree().open('meridian', 'Groups');
      await counterAbove(GROUPS, before);
    });
    assert.equal(again, 1);
  });

  it('reads one organization again without the others', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await tree().open('meridian', 'Groups');
    await tree().open('big-sky', 'Groups');
    tree().data.refresh('meridian');
    scene().asked.length = 0;
    await tree().open('meridian', 'Groups');
    await tree().open('big-sky', 'Groups');
    assert.equal(scene().asked.length, 2);
    assert.ok(scene().asked.every((address) => address.includes('/meridian/')));
  });

  it('tells an ordinary user once why there is nothing, naming the organization', async () => {
    await tree().serviceOf('ordinaryUser', 'meridian');
    const nodes = await tree().open('meridian');
    assert.deepEqual(
      nodes.map(({ kind }) => kind),
      ['problem', 'step', 'step'],
    );
    assert.match(tree().text(nodes[0]), /You don’t have permission to view "meridian"/);
  });

  it('takes null for no roles and [] for no groups, which are no errors', async () => {
    await tree().serviceOf('ofEmptyNest', 'empty-nest');
    assert.deepEqual(
      (await tree().open('empty-nest')).map((node) => tree().item(node).description),
      ['0', '0'],
    );
    const [noGroups] = await tree().open('empty-nest', 'Groups');
    const [noRoles] = await tree().open('empty-nest', 'Roles');
    assert.deepEqual([noGroups?.kind, noRoles?.kind], ['empty', 'empty']);
    assert.match(tree().text(noGroups), /No groups/);
    assert.match(tree().text(noRoles), /No roles/);
  });

  it('shows what it can read of an organization whose other list fails', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/roles$', kind: 'status', status: 403, times: null });
    const sections = await tree().open('meridian');
    assert.deepEqual(
      sections.map((node) => tree().item(node).description),
      ['12', 'could not be read'],
    );
    const [problem] = await tree().open('meridian', 'Roles');
    assert.equal(problem?.kind, 'problem');
    assert.equal((await tree().open('meridian', 'Groups')).length, 12);
    // Not known is not the same as not listed.
    const [grant] = await tree().open('meridian', 'Groups', 'administrators', 'Roles granted');
    assert.equal(tree().description(grant), 'name unknown');
    const granted = (await tree().open('meridian', 'Roles')).at(-1);
    assert.equal(tree().text(granted), 'Granted by groups');
  });

  it('keeps the others when one item is not what the specification describes', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await addFault({
      service: 'identity',
      path: '/groups$',
      kind: 'malformedItem',
      body: { metadata: { id: 'g', name: 'half' } },
      times: 1,
    });
    const nodes = await tree().open('meridian', 'Groups');
    assert.equal(nodes.length, 13);
    const item = tree().item(nodes[0]);
    assert.equal(nodes[0]?.kind, 'malformed');
    assert.match(String(item.label), /A group could not be understood/);
    assert.match(String(item.description), /item 6: metadata\./);
    assert.deepEqual(
      nodes.slice(1).map(({ kind }) => kind),
      Array(12).fill('group'),
    );
  });

  it('tries again behind a proxy that answers in HTML, and says so meanwhile', async () => {
    const told: string[] = [];
    patches.set(vscode.window, 'withProgress', (options: vscode.ProgressOptions, task: ProgressTask) => {
      told.push(options.title ?? '');
      return task(
        { report: ({ message }) => void told.push(message ?? '') },
        new vscode.CancellationTokenSource().token,
      );
    });
    await tree().serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/groups$', kind: 'html', status: 502, times: 1 });
    assert.equal((await tree().open('meridian', 'Groups')).length, 12);
    assert.equal(told[0], 'Reading meridian');
    assert.match(told[1] ?? '', /502.*Trying again/);
    assert.doesNotMatch(told.join(), /</);
  });

  it('can be stopped while it reads, and reads when it is asked again', async () => {
    let stop = () => {};
    patches.set(vscode.window, 'withProgress', async (_options: unknown, task: ProgressTask) => {
      const source = new vscode.CancellationTokenSource();
      stop = () => source.cancel();
      return task({ report: () => {} }, source.token);
    });
    await tree().serviceOf('administrator', 'meridian');
    await addFault({
      service: 'identity',
      path: '/groups$',
      kind: 'status',
      status: 503,
      headers: { 'Retry-After': '9' },
      times: 1,
    });
    const reading = tree().open('meridian');
    await until('the reading shows that it takes long', () => {
      stop();
      return Promise.race([reading, Promise.resolve(undefined)]);
    });
    assert.deepEqual(
      (await reading).map(({ kind }) => kind),
      ['stopped'],
    );
    assert.equal(tree().item((await reading)[0]).command?.command, commands.refresh);
    assert.deepEqual(await tree().texts('meridian'), ['Groups', 'Roles']);
  });

  it('shows a failure that stays as a problem and not as an empty list', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await addFault({
      service: 'identity',
      path: '/(groups|roles)$',
      kind: 'status',
      status: 500,
      headers: { 'Retry-After': '0' },
      times: null,
    });
    const [problem, ...others] = await tree().open('meridian');
    assert.equal(problem?.kind, 'problem');
    assert.deepEqual(others.map(tree().text), ['Try Again']);
    assert.match(tree().text(problem), /The identity service failed/);
  });

  it('tries again when the service failed twice, and then shows what it reads', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const fails = {
      service: 'identity',
      path: '/groups$',
      kind: 'status',
      status: 500,
      headers: { 'Retry-After': '0' },
    };
    await addFault({ ...fails, times: 2 });
    assert.equal(await growth(GROUPS, () => tree().open('meridian', 'Groups')), 3);
    assert.equal((await tree().open('meridian', 'Groups')).length, 12);
  });

  it('asks to sign in again where every token is refused, after one renewal', async () => {
    scene().settings.ids = ['meridian'];
    const cloud = await scene().startService();
    await signInWithRefreshToken(cloud, 'administrator');
    const body = { error: 'access_denied', error_description: 'expired' };
    await addFault({ service: 'identity', path: '/(groups|roles)$', kind: 'status', status: 401, body, times: null });
    const renewals = await growth('identity POST /oauth2/v2/token', async () => {
      const [problem, ...others] = await tree().open('meridian');
      assert.deepEqual([problem?.kind, others.map(({ kind }) => kind)], ['problem', ['step']]);
      assert.match(tree().text(problem), /Sign in again/);
      assert.equal(tree().item(problem).command?.command, commands.signIn);
    });
    assert.equal(renewals, 1);
  });

  it('renews the token once for a 401 that both lists get', async () => {
    scene().settings.ids = ['meridian'];
    const cloud = await scene().startService();
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.tokenManager.signIn({ ...session, accessToken: 'superseded' });
    const renewals = await growth('identity POST /oauth2/v2/token', async () => {
      assert.equal((await tree().open('meridian', 'Groups')).length, 12);
    });
    assert.equal(renewals, 1);
    assert.equal(cloud.tokenManager.state.kind, 'signedIn');
  });

  it('gives every node an id of its own when the server repeats one', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const group = (name: string) => ({
      metadata: {
        id: 'same',
        name,
        creationTime: '2025-01-01T00:00:00Z',
        provisioningStatus: 'provisioned',
        healthStatus: 'healthy',
        organizationId: 'meridian',
      },
      spec: { serviceAccountIDs: ['s', 's'], roleIDs: ['r', 'r'], userIDs: ['s'] },
    });
    scene().network = async (address) =>
      Response.json(String(address).endsWith('/groups') ? [group('one'), group('two')] : null);
    const everything = async (nodes: readonly Node[]): Promise<Node[]> => {
      const below = await Promise.all(nodes.map(async (node) => everything(await tree().view.getChildren(node))));
      return [...nodes, ...below.flat()];
    };
    const nodes = await everything(await tree().view.getChildren());
    const ids = nodes.map((node) => tree().item(node).id);
    assert.ok(ids.length > 20);
    assert.equal(new Set(ids).size, ids.length);
    // The same again, so that VS Code keeps open what was open.
    const again = await everything(await tree().view.getChildren());
    assert.deepEqual(
      again.map(({ id }) => id),
      nodes.map(({ id }) => id),
    );
  });

  it('says of a role that the service does not list that it does not', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const grants = await tree().open('meridian', 'Groups', 'platform-engineers', 'Roles granted');
    const unlisted = grants.filter((node) => tree().description(node) === 'not listed');
    assert.equal(unlisted.length, 1);
    const tooltip = tree().item(unlisted[0]).tooltip as vscode.MarkdownString;
    assert.match(tooltip.value.replaceAll('&nbsp;', ' '), /does not list this role/);
    const listedApart = await tree().open('meridian', 'Roles', 'Granted, but not listed');
    assert.ok(listedApart.some((node) => tree().text(node) === tree().text(unlisted[0])));
  });

  it('shows 2,000 groups in buckets, every one of them once', async () => {
    await tree().serviceOf('administrator', 'big-sky');
    const buckets = await tree().open('big-sky', 'Groups');
    assert.deepEqual(buckets.map(tree().description), ['1–500', '501–1000', '1001–1500', '1501–2000']);
    const nodes = (await Promise.all(buckets.map((bucket) => tree().view.getChildren(bucket)))).flat();
    assert.equal(nodes.length, 2000);
    assert.equal(new Set(nodes.map((node) => tree().item(node).id)).size, 2000);
    assert.equal(tree().text(buckets[0]), `${tree().text(nodes[0])} … ${tree().text(nodes[499])}`);
  });

  it('refuses an id that is no path segment instead of asking another address', async () => {
    await tree().serviceOf('administrator', '..');
    const [problem] = await tree().open('..');
    assert.equal(problem?.kind, 'problem');
    assert.deepEqual(scene().asked, []);
  });

  it('shows what a refresh reads and not that the reading before was stopped', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const [meridian] = await tree().view.getChildren();
    await addFault({ service: 'identity', path: '/(groups|roles)$', kind: 'latency', ms: 300, times: 2 });
    const early = tree().view.getChildren(meridian);
    tree().data.refresh();
    assert.deepEqual((await early).map(tree().text), ['Groups', 'Roles']);
  });
});
