import assert from 'node:assert/strict';
import { connectionKey } from '../../../src/core/base/connection.ts';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { editorSessionStorage, sandboxSessionStorage } from '../../../src/host/auth/sessionStorage.ts';
import { secrets } from '../../../src/ids.ts';
import { FakeMemento, FakeSecrets } from '../support/fakes.ts';
import { connectionTo } from '../support/sandbox.ts';
import { sessionOf, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

describe('the session store', () => {
  const scene = useScene();
  const connection = connectionTo('service');

  it('keeps a session in SecretStorage under the key of its connection only', async () => {
    const storage = new FakeSecrets();
    const { store } = editorSessionStorage(storage, connection);
    assert.equal(await store.read(), undefined);
    await store.write('of the first');
    await editorSessionStorage(storage, { ...connection, clientId: 'another' }).store.write('of the second');
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
    scene().stores.set('service', editorSessionStorage(storage, connection).store);
    const { tokenManager } = await scene().startService();
    assert.equal(tokenManager.state.kind, 'storeUnavailable');
    assert.ok(tokenManager.state.kind === 'storeUnavailable' && tokenManager.state.error instanceof RolecallError);
    assert.equal(tokenManager.state.error.kind, 'storage');
  });

  it('gives what one window has stored to the next one', async () => {
    const storage = new FakeSecrets();
    scene().stores.set('service', editorSessionStorage(storage, connection).store);
    const first = await scene().startService();
    await first.tokenManager.signIn(sessionOf(first, 'administrator', { accessToken: 'the-token' }));

    scene().stores.set('service', editorSessionStorage(storage, connection).store);
    const second = scene().makeCloud(connection);
    await second.load();
    assert.equal(second.tokenManager.session?.accessToken, 'the-token');
    second.dispose();
  });

  it('of another sandbox takes the place of the one before', async () => {
    const storage = new FakeSecrets();
    const memory = new FakeMemento();
    const of = (port: number) => ({ ...connectionTo('sandbox'), identityUrl: `http://127.0.0.1:${port}` });
    const place = (port: number) => sandboxSessionStorage(storage, memory, of(port), '/a/folder');
    assert.equal(place(1).state, '/a/folder');
    await place(1).store.write('the first');
    assert.equal(await place(1).store.read(), 'the first', 'another window finds it');
    await place(2).store.write('the second');
    await until('the first is deleted', () => storage.values.size === 1);
    assert.deepEqual([...storage.values], [[secrets.session + connectionKey(of(2)), 'the second']]);
  });
});
