import assert from 'node:assert/strict';
import { connectionKey } from '../../src/core/base/connection.ts';
import { RolecallError } from '../../src/core/base/errors.ts';
import { writeSession } from '../../src/core/oauth/session.ts';
import { connectionTo } from './support/sandbox.ts';
import { sessionOf, signInAs, useScene } from './support/scene.ts';

describe('clouds', () => {
  const scene = useScene();

  it('say what to set while nothing is configured', async () => {
    const { clouds } = scene();
    await clouds.start();
    assert.equal(clouds.active, undefined);
    assert.deepEqual(clouds.all, []);
    assert.throws(
      () => clouds.require(),
      (error) =>
        error instanceof RolecallError &&
        error.kind === 'configuration' &&
        /rolecall\.identity\.url/.test(error.message),
    );
  });

  it('hand on what is wrong with the settings, and forget it when it is corrected', async () => {
    const { clouds, settings } = scene();
    const problem = new RolecallError('configuration', 'rolecall.identity.url must be another.');
    settings.problem = problem;
    await clouds.start();
    assert.equal(clouds.problem, problem);
    assert.throws(() => clouds.require(), problem);

    settings.problem = undefined;
    settings.connection = connectionTo('service');
    settings.change();
    assert.equal(clouds.problem, undefined);
    assert.equal(clouds.require().connection, settings.connection);
  });

  it('read the stored session at the start, and ask the services nothing', async () => {
    const { clouds, settings, stores, asked } = scene();
    const connection = connectionTo('service');
    const stored = writeSession(sessionOf({ connection }, 'administrator', { accessToken: 'kept-token' }));
    settings.connection = connection;
    stores.set('service', {
      read: async () => stored,
      write: async () => assert.fail(),
    });
    await clouds.start();
    assert.equal(clouds.active?.tokenManager.session?.accessToken, 'kept-token');
    assert.deepEqual(asked, []);
  });

  it('keep the connection and its session when other settings change, and make a new one when it does', async () => {
    const { clouds, settings } = scene();
    const cloud = await scene().startService();
    settings.ids = ['meridian'];
    settings.change();
    assert.equal(clouds.active, cloud);

    settings.connection = { ...connectionTo('service'), clientId: 'another' };
    settings.change();
    assert.notEqual(clouds.active, cloud);
    assert.equal(clouds.active?.connection.clientId, 'another');

    settings.connection = undefined;
    settings.change();
    assert.equal(clouds.active, undefined);
  });

  describe('with the sandbox', () => {
    it('make it active beside the first connection and touch neither its session nor its store', async () => {
      const { clouds, stores } = scene();
      const service = await scene().startService();
      await signInAs(service, 'administrator');
      const kept = await stores.get('service')?.read();
      assert.ok(kept);

      const sandbox = scene().enterSandbox();
      assert.equal(clouds.active, sandbox);
      assert.deepEqual(clouds.all, [sandbox, service]);
      assert.notEqual(sandbox.key, service.key);
      assert.equal(sandbox.tokenManager.session, undefined);
      await signInAs(sandbox, 'ordinaryUser');
      await sandbox.tokenManager.signOut();

      assert.equal(await stores.get('service')?.read(), kept);
      assert.equal(service.tokenManager.state.kind, 'signedIn');

      clouds.leaveSandbox();
      assert.equal(clouds.active, service);
      assert.deepEqual(clouds.all, [service]);
      assert.equal(clouds.active?.tokenManager.session?.account.label, 'ada.moreau@meridian.example');
    });

    it('work without any settings, and hide what is wrong with them', async () => {
      const { clouds, settings } = scene();
      settings.problem = new RolecallError('configuration', 'Wrong.');
      await clouds.start();
      const sandbox = scene().enterSandbox();
      assert.equal(clouds.require(), sandbox);
      assert.equal(clouds.problem, undefined);
      clouds.leaveSandbox();
      assert.ok(clouds.problem);
    });

    it('let the settings change while it stays active', async () => {
      const { clouds, settings } = scene();
      await clouds.start();
      const sandbox = scene().enterSandbox();
      settings.connection = connectionTo('service');
      settings.change();
      assert.equal(clouds.active, sandbox);
      assert.deepEqual(
        clouds.all.map(({ connection }) => connection.id),
        ['sandbox', 'service'],
      );
    });

    it('give each connection a key of its own, although address and client are the same', () => {
      assert.notEqual(connectionKey(connectionTo('sandbox')), connectionKey(connectionTo('service')));
    });
  });

  it('tell of every change of a session, of the one that is not shown too', async () => {
    const { clouds } = scene();
    const service = await scene().startService();
    scene().enterSandbox();
    let changes = 0;
    clouds.onDidChange(() => {
      changes += 1;
    });
    await signInAs(service, 'administrator');
    assert.equal(changes, 1);
    await service.tokenManager.signOut();
    assert.equal(changes, 2);
  });

  it('hear nothing any more of a connection that was replaced', async () => {
    const { clouds, settings } = scene();
    const old = await scene().startService();
    settings.connection = { ...connectionTo('service'), clientId: 'another' };
    settings.change();
    await clouds.active?.load();
    let changes = 0;
    clouds.onDidChange(() => {
      changes += 1;
    });
    await assert.rejects(old.tokenManager.signOut(), /Canceled/);
    assert.equal(changes, 0);
  });
});
