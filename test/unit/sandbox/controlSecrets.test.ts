import assert from 'node:assert/strict';
import { useSandbox } from './fixture.ts';
import { refresh, signIn, type Tokens } from './walk.ts';

describe('sandbox control: what a canary test has to search for', () => {
  const sandbox = useSandbox();

  it('knows every token, the client secret and the parameters of a sign-in and a refresh', async () => {
    const { descriptor } = sandbox;
    const first = await signIn(descriptor, { scope: 'openid' });
    const second = (await (
      await refresh(descriptor, descriptor.clients.loopback, first.refresh_token)
    ).json()) as Tokens;
    const known = new Set((await (await sandbox.control('GET', '/secrets')).json()) as string[]);
    for (const secret of [
      first.access_token,
      first.refresh_token,
      first.id_token,
      descriptor.clients.loopback.secret,
    ]) {
      assert.ok(secret !== undefined && known.has(secret));
    }
    for (const secret of [second.access_token, second.refresh_token]) {
      assert.ok(known.has(secret));
    }
    // The code is the longest of them: about 2 kB.
    assert.ok([...known].some((secret) => secret.length > 1900));
  });
});
