import assert from 'node:assert/strict';
import { readPending, writePending } from '../../../../src/core/oauth/pendingSignIn.ts';
import { CONNECTION } from './connection.ts';

const PENDING = { state: 's', nonce: 'n', codeVerifier: 'v', redirectUri: 'vscode://rolecall.rolecall/callback' };
const TEXT = writePending(CONNECTION, PENDING, 1000);

describe('a sign-in that waits, as the windows share it', () => {
  it('is read as it was written, with and without a nonce', () => {
    assert.deepEqual(readPending(TEXT, CONNECTION, 's', 1000), PENDING);
    const { nonce: _nonce, ...plain } = PENDING;
    assert.deepEqual(readPending(writePending(CONNECTION, plain, 1000), CONNECTION, 's', 0), plain);
  });

  const others: readonly [string, ReturnType<typeof readPending>][] = [
    ['there is none', readPending(undefined, CONNECTION, 's', 0)],
    ['the state is another', readPending(TEXT, CONNECTION, 'other', 0)],
    ['the link has no state', readPending(TEXT, CONNECTION, null, 0)],
    ['its time is over', readPending(TEXT, CONNECTION, 's', 1001)],
    ['it is of another client', readPending(TEXT, { ...CONNECTION, clientId: 'another' }, 's', 0)],
    ['it is of another service', readPending(TEXT, { ...CONNECTION, identityUrl: 'https://other.example' }, 's', 0)],
    ['it is no JSON', readPending('{', CONNECTION, 's', 0)],
    ['it is of another version', readPending(TEXT.replace('"version":1', '"version":2'), CONNECTION, 's', 0)],
    ['it is damaged', readPending('{"version":1}', CONNECTION, 's', 0)],
  ];
  for (const [when, found] of others) it(`is not found when ${when}`, () => assert.equal(found, undefined));
});
