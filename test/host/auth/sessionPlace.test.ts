import assert from 'node:assert/strict';
import { connectionKey } from '../../../src/core/base/connection.ts';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { sharedPlace, windowPlace } from '../../../src/host/auth/sessionPlace.ts';
import { secrets } from '../../../src/ids.ts';
import { FakeSecrets } from '../support/fakes.ts';
import { connectionTo } from '../support/sandbox.ts';
import { sessionOf, useScene } from '../support/scene.ts';

describe('the session store', () => {
  const scene = useScene();
  const connection = connectionTo('service');

  it('keeps a session in SecretStorage under the key of its connection only', async () => {
    const storage = new FakeSecrets();
    const { store } = sharedPlace(storage, connection);
    assert.equal(await store.read(), undefined);
    await store.write('of the first');
    await sharedPlace(storage, { ...connection, clientId: 'another' }).store.write('of the second');
    assert.deepEqual(
      [...storage.values],
      [
        [secrets.session + connectionKey(connection), 'of the first'],
        [secrets.session + connectionKey({ ...connection, clientId: 'another' }), 'of the second'],
      ],
    );
    assert.equal(await store.read(), 'of the first');
  });

  it('says so when SecretStorage cannot be used, instead of looking signed out', async () => {
    const storage = new FakeSecrets();
    storage.get = async () => {
      throw new Error('the keyring is locked');
    };
    scene().stores.set('service', sharedPlace(storage, connection).store);
    const { keeper } = await scene().startService();
    assert.equal(keeper.state.kind, 'storeUnavailable');
    assert.ok(keeper.state.kind === 'storeUnavailable' && keeper.state.error instanceof RolecallError);
    assert.equal(keeper.state.error.kind, 'storage');
  });

  it('gives what one window has stored to the next one', async () => {
    const storage = new FakeSecrets();
    scene().stores.set('service', sharedPlace(storage, connection).store);
    const first = await scene().startService();
    await first.keeper.adopt(sessionOf(first, 'administrator', { accessToken: 'the-token' }));

    scene().stores.set('service', sharedPlace(storage, connection).store);
    const second = scene().makeCloud(connection);
    await second.load();
    assert.equal(second.keeper.session?.accessToken, 'the-token');
    second.dispose();
  });

  it('of the sandbox lives in the window alone', async () => {
    const place = windowPlace();
    await place.store.write('a session');
    assert.equal(await place.store.read(), 'a session');
    const other = windowPlace();
    assert.equal(await other.store.read(), undefined);
    assert.notEqual(other.state, place.state);
    place.dispose();
    assert.equal(await place.store.read(), undefined);
  });
});
