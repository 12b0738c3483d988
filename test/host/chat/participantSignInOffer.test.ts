import assert from 'node:assert/strict';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { commands } from '../../../src/ids.ts';
import { useChat } from '../support/participant.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';

describe('@rolecall answers a newcomer with the way in', () => {
  const scene = useScene();
  const chat = useChat(scene);
  afterEach(clearFaults);

  it('when nothing is configured', async () => {
    await scene().clouds.start();
    assert.deepEqual(await chat().ask('hi'), {});
    assert.match(chat().read(), /No cloud configured yet/);
    assert.deepEqual(chat().steps(), [commands.trySandbox, 'workbench.action.openSettings']);
  });

  it('when the settings are wrong, saying what to write', async () => {
    scene().settings.problem = new RolecallError('configuration', 'rolecall.identity.url must be an address.');
    await scene().clouds.start();
    await chat().ask('hi');
    assert.match(chat().read(), /rolecall\.identity\.url must be an address/);
    assert.deepEqual(chat().steps(), [commands.trySandbox, 'workbench.action.openSettings']);
  });

  it('when nobody is signed in', async () => {
    await scene().startService();
    await chat().ask('hi');
    assert.match(chat().read(), /Sign in to 127\.0\.0\.1, then ask again/);
    assert.deepEqual(chat().steps(), [commands.signIn, commands.trySandbox]);
    assert.deepEqual(scene().asked, []);
  });

  it('when nobody is signed in to the sandbox', async () => {
    scene().enterSandbox();
    await chat().ask('hi');
    assert.match(chat().read(), /Sign in to the sandbox/);
    assert.deepEqual(chat().steps(), [commands.signIn]);
  });

  it('when the session has ended, saying why', async () => {
    const cloud = await scene().startService();
    const session = await signInAs(cloud, 'administrator');
    await cloud.tokenManager.refreshAfter401(session.accessToken, new AbortController().signal);
    await chat().ask('hi');
    assert.match(chat().read(), /sign-in has expired/);
    assert.deepEqual(chat().steps(), [commands.signIn, commands.trySandbox]);
  });

  it('when the secret store cannot be read, without looking signed out', async () => {
    const locked = async () => {
      throw new Error('locked');
    };
    scene().stores.set('service', { read: locked, write: locked });
    await scene().startService();
    await chat().ask('hi');
    assert.match(chat().read(), /secret store/);
  });

  it('when the service lists no models', async () => {
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
    await signInAs(await scene().startService(), 'administrator');
    const { errorDetails } = await chat().ask('hi');
    assert.match(errorDetails?.message ?? '', /lists no models.*rolecall.*models/);
    assert.deepEqual(chat().steps(), ['workbench.action.openSettings', commands.openChat]);
  });

  it('when the list of models cannot be read, saying why and not that there is none', async () => {
    scene().network = async (address, init) => {
      if (String(address).endsWith('/v1/models')) throw new TypeError('fetch failed');
      return fetch(address, init);
    };
    await signInAs(await scene().startService(), 'administrator');
    const { errorDetails } = await chat().ask('hi');
    assert.match(errorDetails?.message ?? '', /could not be read.*Could not reach/);
    assert.deepEqual(chat().steps(), [commands.diagnoseSignIn, commands.openChat]);
  });
});
