import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { OrganizationsView } from '../../../src/host/tree/organizationsView.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, connectionTo, growth } from '../support/sandbox.ts';
import { signInAs, signInWithRefreshToken, useScene } from '../support/scene.ts';

const GROUPS = 'identity GET /api/v1/organizations/meridian/groups';

describe('the organizations view', () => {
  const scene = useScene();
  const patches = usePatches();
  /** Stands in for the tree view, whose id belongs to the running extension. */
  let shown: { message: string; messages: string[]; description: string };
  let view: OrganizationsView;

  beforeEach(() => {
    const messages: string[] = [];
    shown = {
      messages,
      description: '',
      get message() {
        return messages.at(-1) ?? '';
      },
      set message(text: string) {
        messages.push(text);
      },
    };
    patches.set(vscode.window, 'createTreeView', () => Object.assign(shown, { dispose: () => {} }));
    view = scene().own(new OrganizationsView(scene().clouds, scene().settings));
  });
  afterEach(clearFaults);

  /** As `Meridian > Groups > administrators`; a node's text is its label, description and so on. */
  async function open(...path: string[]): Promise<Node[]> {
    let nodes = await view.getChildren();
    for (const label of path) {
      const node = nodes.find((each) => text(each) === label);
      assert.ok(node, `${label} among ${nodes.map(text).join(', ')}`);
      nodes = await view.getChildren(node);
    }
    return nodes;
  }

  const text = (node: Node): string => String(view.getTreeItem(node).label);
  const texts = async (...path: string[]) => (await open(...path)).map(text);

  async function serviceOf(name: Parameters<typeof signInAs>[1], ...organizations: string[]) {
    scene().settings.ids = organizations;
    const cloud = await scene().startService();
    await signInAs(cloud, name);
    return cloud;
  }

  it('is empty while nobody is signed in', async () => {
    scene().settings.ids = ['meridian'];
    await scene().startService();
    assert.deepEqual(await view.getChildren(), []);
    assert.deepEqual(scene().asked, []);
  });

  it('shows the organizations of the settings, and asks for nothing before one is opened', async () => {
    await serviceOf('administrator', 'big-sky', 'meridian', 'typed/by hand');
    assert.deepEqual(await texts(), ['big-sky', 'meridian', 'typed/by hand']);
    assert.deepEqual(scene().asked, []);
  });

  it('shows groups and roles of an organization, with how many there are', async () => {
    await serviceOf('administrator', 'meridian');
    const sections = await open('meridian');
    assert.deepEqual(
      sections.map((node) => [text(node), view.getTreeItem(node).description]),
      [
        ['Groups', '12'],
        ['Roles', '9'],
      ],
    );
    assert.deepEqual((await texts('meridian', 'Groups')).slice(0, 3), [
      'administrators',
      'platform-engineers',
      'site-reliability',
    ]);
    assert.equal((await texts('meridian', 'Roles')).length, 9);
  });

  it('asks once for both lists, however much is opened, until it is refreshed', async () => {
    await serviceOf('administrator', 'meridian');
    const requests = await growth(GROUPS, async () => {
      await Promise.all([open('meridian', 'Groups'), open('meridian', 'Roles')]);
      await open('meridian', 'Groups', 'administrators');
    });
    assert.equal(requests, 1);
    view.refresh();
    assert.equal(await growth(GROUPS, () => open('meridian', 'Groups')), 1);
  });

  it('reads one organization again without the others', async () => {
    await serviceOf('administrator', 'meridian', 'big-sky');
    await open('meridian', 'Groups');
    await open('big-sky', 'Groups');
    const [meridian] = await view.getChildren();
    view.refresh(meridian);
    scene().asked.length = 0;
    await open('meridian', 'Groups');
    await open('big-sky', 'Groups');
    assert.equal(scene().asked.length, 2);
    assert.ok(scene().asked.every((address) => address.includes('/meridian/')));
  });

  it('tells an ordinary user once why there is nothing, naming the organization', async () => {
    await serviceOf('ordinaryUser', 'meridian');
    const nodes = await open('meridian');
    assert.deepEqual(
      nodes.map(({ kind }) => kind),
      ['problem'],
    );
    assert.match(text(nodes[0] ?? assert.fail()), /You may not read “meridian”/);
  });

  it('takes null for no roles and [] for no groups, which are no errors', async () => {
    await serviceOf('ofEmptyNest', 'empty-nest');
    assert.deepEqual(
      (await open('empty-nest')).map((node) => view.getTreeItem(node).description),
      ['0', '0'],
    );
    const [noGroups] = await open('empty-nest', 'Groups');
    const [noRoles] = await open('empty-nest', 'Roles');
    assert.deepEqual([noGroups?.kind, noRoles?.kind], ['empty', 'empty']);
    assert.match(text(noGroups ?? assert.fail()), /No groups/);
    assert.match(text(noRoles ?? assert.fail()), /No roles/);
  });

  it('shows what it can read of an organization whose other list fails', async () => {
    await serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/roles$', kind: 'status', status: 403, times: null });
    const sections = await open('meridian');
    assert.deepEqual(
      sections.map((node) => view.getTreeItem(node).description),
      ['12', 'could not be read'],
    );
    const [problem] = await open('meridian', 'Roles');
    assert.equal(problem?.kind, 'problem');
    assert.equal((await open('meridian', 'Groups')).length, 12);
    // Not known is not the same as not listed: nothing is said of a role that could not be looked up.
    const [grant] = await open('meridian', 'Groups', 'administrators');
    assert.ok(grant);
    assert.equal(view.getTreeItem(grant).description, 'role');
  });

  it('keeps the others when one item is not what the specification describes', async () => {
    await serviceOf('administrator', 'meridian');
    await addFault({
      service: 'identity',
      path: '/groups$',
      kind: 'malformedItem',
      body: { metadata: { id: 'g', name: 'half' } },
      times: 1,
    });
    const nodes = await open('meridian', 'Groups');
    assert.equal(nodes.length, 13);
    const item = view.getTreeItem(nodes[0] ?? assert.fail());
    assert.equal(nodes[0]?.kind, 'malformed');
    assert.match(String(item.label), /One group cannot be read/);
    assert.match(String(item.description), /item 6: metadata\./);
    assert.deepEqual(
      nodes.slice(1).map(({ kind }) => kind),
      Array(12).fill('group'),
    );
  });

  it('tries again behind a proxy that answers in HTML, and says so meanwhile', async () => {
    await serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/groups$', kind: 'html', status: 502, times: 1 });
    assert.equal((await open('meridian', 'Groups')).length, 12);
    const told = shown.messages.find((message) => message !== '');
    assert.match(told ?? '', /502.*Trying again/);
    assert.doesNotMatch(told ?? '', /</);
    assert.equal(shown.message, '');
  });

  it('shows a failure that stays as a problem and not as an empty list', async () => {
    await serviceOf('administrator', 'meridian');
    await addFault({
      service: 'identity',
      path: '/(groups|roles)$',
      kind: 'status',
      status: 500,
      headers: { 'Retry-After': '0' },
      times: null,
    });
    const [problem, ...others] = await open('meridian');
    assert.equal(problem?.kind, 'problem');
    assert.deepEqual(others, []);
    assert.match(text(problem ?? assert.fail()), /It may be transient/);
  });

  it('renews the token once for a 401 that both lists get', async () => {
    scene().settings.ids = ['meridian'];
    const cloud = await scene().startService();
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.keeper.adopt({ ...session, accessToken: 'superseded' });
    const renewals = await growth('identity POST /oauth2/v2/token', async () => {
      assert.equal((await open('meridian', 'Groups')).length, 12);
    });
    assert.equal(renewals, 1);
    assert.equal(cloud.keeper.state.kind, 'signedIn');
  });

  it('gives every node an id of its own when the server repeats one', async () => {
    await serviceOf('administrator', 'meridian');
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
    const nodes = await open('meridian', 'Groups');
    const below = [...(await view.getChildren(nodes[0])), ...(await view.getChildren(nodes[1]))];
    const ids = [...nodes, ...below].map((node) => view.getTreeItem(node).id);
    assert.equal(ids.length, 12);
    assert.equal(new Set(ids).size, 12);
    // The same again, so that VS Code keeps open what was open.
    const again = await open('meridian', 'Groups');
    assert.deepEqual(
      again.map(({ id }) => id),
      nodes.map(({ id }) => id),
    );
  });

  it('says of a role that the service does not list that it does not', async () => {
    await serviceOf('administrator', 'meridian');
    const grants = await open('meridian', 'Groups', 'platform-engineers');
    const unlisted = grants.filter((node) => view.getTreeItem(node).description === 'role, not listed');
    assert.deepEqual(
      unlisted.map((node) => text(node)),
      grants.flatMap((node) => (node.kind === 'grant' && !node.role ? [node.roleId] : [])),
    );
    assert.equal(unlisted.length, 1);
    const tooltip = view.getTreeItem(unlisted[0] ?? assert.fail()).tooltip as vscode.MarkdownString;
    assert.match(tooltip.value.replaceAll('&nbsp;', ' '), /does not list this role/);
  });

  it('shows 2,000 groups, every one of them once', async () => {
    await serviceOf('administrator', 'big-sky');
    const nodes = await open('big-sky', 'Groups');
    assert.equal(nodes.length, 2000);
    assert.equal(new Set(nodes.map((node) => view.getTreeItem(node).id)).size, 2000);
  });

  it('refuses an id that is no path segment instead of asking another address', async () => {
    await serviceOf('administrator', '..');
    const [problem] = await open('..');
    assert.equal(problem?.kind, 'problem');
    assert.deepEqual(scene().asked, []);
  });

  describe('of the sandbox', () => {
    it('lists the organizations the sandbox knows, and marks the view', async () => {
      scene().settings.ids = ['of-the-settings'];
      await signInAs(scene().enterSandbox(), 'administrator');
      assert.deepEqual(await texts(), ['meridian', 'big-sky']);
      assert.equal(shown.description, 'sandbox');
      scene().clouds.leaveSandbox();
      assert.equal(shown.description, '');
    });

    it('asks for them once, until it is refreshed', async () => {
      await signInAs(scene().enterSandbox(), 'administrator');
      await view.getChildren();
      await view.getChildren();
      assert.equal(scene().asked.length, 1);
      view.refresh();
      await view.getChildren();
      assert.equal(scene().asked.length, 2);
    });

    it('does not look empty when it did not say which it has', async () => {
      await signInAs(scene().enterSandbox(), 'administrator');
      await addFault({ service: 'identity', path: '/organizations$', kind: 'status', status: 404, times: 1 });
      const [problem, ...others] = await view.getChildren();
      assert.equal(problem?.kind, 'problem');
      assert.deepEqual(others, []);
      view.refresh();
      assert.deepEqual(await texts(), ['meridian', 'big-sky']);
    });
  });

  describe('after a switch', () => {
    const changes: (Node | undefined)[] = [];
    beforeEach(() => {
      changes.length = 0;
      view.onDidChangeTreeData((node) => {
        changes.push(node);
      });
    });

    it('gives nothing of the account before, not even below nodes that are still on screen', async () => {
      const cloud = await serviceOf('administrator', 'meridian');
      const organizations = await view.getChildren();
      const groups = await open('meridian', 'Groups');
      changes.length = 0;
      await signInAs(cloud, 'ordinaryUser');
      assert.deepEqual(changes, [undefined]);
      for (const node of [...organizations, ...groups]) assert.deepEqual(await view.getChildren(node), []);
      assert.deepEqual(
        (await open('meridian')).map(({ kind }) => kind),
        ['problem'],
      );
    });

    it('gives nothing of what the account before had asked for', async () => {
      const cloud = await serviceOf('administrator', 'meridian');
      const [meridian] = await view.getChildren();
      await addFault({ service: 'identity', path: '/groups$', kind: 'latency', ms: 300, times: 1 });
      const late = view.getChildren(meridian);
      await signInAs(cloud, 'ordinaryUser');
      assert.deepEqual(await late, []);
    });

    it('gives nothing of the services in the sandbox, and nothing of the sandbox afterwards', async () => {
      await serviceOf('administrator', 'meridian');
      const ofService = await open('meridian', 'Groups');
      await signInAs(scene().enterSandbox(), 'ofEmptyNest');
      assert.deepEqual(await view.getChildren(ofService[0]), []);
      assert.deepEqual(await texts(), ['empty-nest']);
      const [ofSandbox] = await view.getChildren();
      scene().clouds.leaveSandbox();
      assert.deepEqual(await view.getChildren(ofSandbox), []);
      assert.deepEqual(await texts(), ['meridian']);
    });

    it('gives nothing after a sign-out', async () => {
      const cloud = await serviceOf('administrator', 'meridian');
      const groups = await open('meridian', 'Groups');
      await cloud.keeper.forget();
      assert.deepEqual(await view.getChildren(), []);
      assert.deepEqual(await view.getChildren(groups[0]), []);
    });

    it('keeps what was read when only the token or the settings have changed', async () => {
      const cloud = await serviceOf('administrator', 'meridian');
      const groups = await open('meridian', 'Groups');
      await signInAs(cloud, 'administrator');
      scene().settings.change();
      scene().asked.length = 0;
      assert.notEqual((await view.getChildren(groups[0])).length, 0);
      assert.equal((await open('meridian', 'Groups')).length, 12);
      assert.deepEqual(scene().asked, []);
    });
  });

  it('shows what a refresh reads and not that the reading before was stopped', async () => {
    await serviceOf('administrator', 'meridian');
    const [meridian] = await view.getChildren();
    await addFault({ service: 'identity', path: '/(groups|roles)$', kind: 'latency', ms: 300, times: 2 });
    const early = view.getChildren(meridian);
    view.refresh();
    assert.deepEqual((await early).map(text), ['Groups', 'Roles']);
  });

  it('keys its nodes by the connection', async () => {
    await serviceOf('administrator', 'meridian');
    const [ofService] = await view.getChildren();
    await signInAs(scene().enterSandbox(), 'administrator');
    const [ofSandbox] = await view.getChildren();
    assert.equal(text(ofService ?? assert.fail()), text(ofSandbox ?? assert.fail()));
    assert.notEqual(ofService?.id, ofSandbox?.id);
    assert.ok(ofService?.id.includes(connectionTo('service').identityUrl));
  });
});
