import assert from 'node:assert/strict';
import { useSandbox } from './fixture.ts';
import { signIn } from './walk.ts';

describe('sandbox control: what a model was told', () => {
  const sandbox = useSandbox();
  let accessToken: string;

  before(async () => {
    accessToken = (await signIn(sandbox.descriptor)).access_token;
  });

  const complete = async (body: object): Promise<void> => {
    const response = await fetch(`${sandbox.descriptor.inference}/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${accessToken}`, 'Content-Type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
    });
    await response.text();
  };
  const told = async (): Promise<unknown> => (await sandbox.control('GET', '/completions')).json();

  it('knows the bodies, the refused ones too, in their order', async () => {
    assert.deepEqual(await told(), []);
    const first = { model: 'sandbox/guide', messages: [{ role: 'user', content: 'say: one' }], seed: 3 };
    const refused = { model: 'sandbox/guide', messages: 'none' };
    await complete(first);
    await complete(refused);
    assert.deepEqual(await told(), [first, refused]);
  });

  it('forgets the oldest of more than fifty', async () => {
    for (let index = 0; index < 51; index++) await complete({ index });
    const bodies = (await told()) as { index: number }[];
    assert.deepEqual(
      bodies.map(({ index }) => index),
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
  });

  it('forgets the oldest of more than 4 MiB in all, and all of them where one alone is more', async () => {
    const mebibyte = 1024 * 1024;
    const body = (index: number, bytes: number) => ({ index, pad: 'é'.repeat((bytes - 200) / 2) });
    for (let index = 0; index < 6; index++) await complete(body(index, mebibyte));
    const indices = async () => ((await told()) as { index: number }[]).map(({ index }) => index);
    assert.deepEqual(await indices(), [2, 3, 4, 5]);
    await complete(body(6, mebibyte / 2));
    assert.deepEqual(await indices(), [3, 4, 5, 6]);
    await complete(body(7, 4.1 * mebibyte));
    assert.deepEqual(await indices(), []);
    await complete({ index: 8 });
    assert.deepEqual(await indices(), [8]);
  });
});
