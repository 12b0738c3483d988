import assert from 'node:assert/strict';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { addFault, clearFaults, connectionTo } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';

describe('the organizations view', () => {
  const scene = useScene();
  const tree = useTree(scene);
  afterEach(clearFaults);

  describe('of the sandbox', () => {
    it('lists the organizations the sandbox knows', async () => {
      scene().settings.ids = ['of-the-settings'];
      await signInAs(scene().enterSandbox(), 'administrator');
      assert.deepEqual(await tree().texts(), ['meridian', 'big-sky']);
    });

    it('says above the view that this is the sandbox, signed in or not, and no longer once it was left', () => {
      scene().enterSandbox();
      assert.equal(tree().shown.description, 'Sandbox');
      scene().clouds.leaveSandbox();
      assert.equal(tree().shown.description, '');
    });

    it('asks for them once, until it is refreshed', async () => {
      await signInAs(scene().enterSandbox(), 'administrator');
      await tree().view.getChildren();
      await tree().view.getChildren();
      assert.equal(scene().asked.length, 1);
      tree().data.refresh();
      await tree().view.getChildren();
      assert.equal(scene().asked.length, 2);
    });

    it('does not look empty when it did not say which it has', async () => {
      await addFault({ service: 'identity', path: '/organizations$', kind: 'status', status: 404, times: 1 });
      await signInAs(scene().enterSandbox(), 'administrator');
      const [problem, ...others] = await tree().view.getChildren();
      assert.equal(problem?.kind, 'problem');
      assert.deepEqual(others, []);
      tree().data.refresh();
      assert.deepEqual(await tree().texts(), ['meridian', 'big-sky']);
    });
  });

  describe('after a switch', () => {
    const changes: (Node | undefined)[] = [];
    beforeEach(() => {
      changes.length = 0;
      tree().view.onDidChangeTreeData((node) => {
        changes.push(node);
      });
    });

    it('is asked for again when somebody signs in, also where nobody has looked at it before', async () => {
      await tree().serviceOf('administrator', 'meridian');
      assert.ok(changes.length > 0, 'VS Code is told');
      assert.deepEqual([...new Set(changes)], [undefined]);
      assert.deepEqual(await tree().texts(), ['meridian']);
    });

    it('gives nothing of the account before, not even below nodes that are still on screen', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      const organizations = await tree().view.getChildren();
      const groups = await tree().open('meridian', 'Groups');
      changes.length = 0;
      await signInAs(cloud, 'ordinaryUser');
      assert.deepEqual(changes, [undefined]);
      for (const node of [...organizations, ...groups]) assert.deepEqual(await tree().view.getChildren(node), []);
      assert.equal((await tree().open('meridian'))[0]?.kind, 'problem');
    });

    it('gives nothing of what the account before had asked for', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      const [meridian] = await tree().view.getChildren();
      await addFault({ service: 'identity', path: '/groups$', kind: 'latency', ms: 300, times: 1 });
      const late = tree().view.getChildren(meridian);
      await signInAs(cloud, 'ordinaryUser');
      assert.deepEqual(await late, []);
    });

    it('gives nothing of the services in the sandbox, and nothing of the sandbox afterwards', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const ofService = await tree().open('meridian', 'Groups');
      await signInAs(scene().enterSandbox(), 'ofEmptyNest');
      assert.deepEqual(await tree().view.getChildren(ofService[0]), []);
      assert.deepEqual(await tree().texts(), ['empty-nest']);
      const [ofSandbox] = await tree().view.getChildren();
      scene().clouds.leaveSandbox();
      assert.deepEqual(await tree().view.getChildren(ofSandbox), []);
      assert.deepEqual(await tree().texts(), ['meridian']);
    });

    it('gives nothing after a sign-out', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      const groups = await tree().open('meridian', 'Groups');
      await cloud.tokenManager.signOut();
      assert.deepEqual(await tree().view.getChildren(), []);
      assert.deepEqual(await tree().view.getChildren(groups[0]), []);
    });

    it('keeps what was read when only the token or the settings have changed', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      const groups = await tree().open('meridian', 'Groups');
      await signInAs(cloud, 'administrator');
      scene().settings.change();
      scene().asked.length = 0;
      assert.notEqual((await tree().view.getChildren(groups[0])).length, 0);
      assert.equal((await tree().open('meridian', 'Groups')).length, 12);
      assert.deepEqual(scene().asked, []);
    });
  });

  it('keys its nodes by the connection', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const [ofService] = await tree().view.getChildren();
    await signInAs(scene().enterSandbox(), 'administrator');
    const [ofSandbox] = await tree().view.getChildren();
    assert.equal(tree().text(ofService), tree().text(ofSandbox));
    assert.notEqual(ofService?.id, ofSandbox?.id);
    assert.ok(ofService?.id.includes(connectionTo('service').identityUrl));
  });
});
