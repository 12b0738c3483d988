import assert from 'node:assert/strict';
import type { Connection } from '../../../../src/core/base/connection.ts';
import { asStorageError, RolecallError } from '../../../../src/core/base/errors.ts';
import { isFresh } from '../../../../src/core/oauth/rotation/windowSession.ts';
import {
  accountOf,
  firstSession,
  readSession,
  rotatedSession,
  SESSION_VERSION,
  type TokenGrant,
  writeSession,
} from '../../../../src/core/oauth/session.ts';
import { CONNECTION } from './connection.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const GRANT: TokenGrant = { accessToken: 'access-1', refreshToken: 'refresh-1', expiresInSeconds: 3600 };
const ACCOUNT = { id: 'sub-1', label: 'ada@example.com' };
const SESSION = firstSession(CONNECTION, GRANT, ACCOUNT, NOW);

const storageError = (text: string, connection: Connection = CONNECTION): RolecallError => {
  try {
    readSession(text, connection);
  } catch (error) {
    assert.ok(error instanceof RolecallError);
    assert.equal(error.kind, 'storage');
    return error;
  }
  assert.fail('it was read');
};

describe('a session at rest', () => {
  it('is read as it was written', () => {
    assert.deepEqual(readSession(writeSession(SESSION), CONNECTION), SESSION);
  });

  it('nothing stored is nobody signed in', () => assert.equal(readSession(undefined, CONNECTION), undefined));

  for (const change of [{ clientId: 'another' }, { identityUrl: 'https://other.example.com' }, { id: 'sandbox' }]) {
    it(`does not serve another connection: ${JSON.stringify(change)}`, () => {
      assert.equal(readSession(writeSession(SESSION), { ...CONNECTION, ...change }), undefined);
    });
  }

  it('serves the connection whose label, scope or inference address has changed', () => {
    const changed = { ...CONNECTION, label: 'x', scope: '', inferenceUrl: 'https://new.example.com' };
    assert.deepEqual(readSession(writeSession(SESSION), changed), SESSION);
  });

  it('of a newer version is never read as signed out: the window asks to be reloaded', () => {
    const newer = JSON.stringify({ version: SESSION_VERSION + 1, sealed: 'in a way of its own' });
    assert.match(storageError(newer).message, /newer version of Rolecall\. Reload this window/);
    // Not even by a window for another connection, which cannot know whose it is.
    storageError(newer, { ...CONNECTION, clientId: 'another' });
  });

  const damaged: readonly [string, string][] = [
    ['no JSON', '{"version":1,"accessToken":"secret-acc'],
    ['empty', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['without a version', JSON.stringify({ ...SESSION, version: undefined })],
    ['of version 0', JSON.stringify({ ...SESSION, version: 0 })],
    ['without an access token', JSON.stringify({ ...SESSION, accessToken: undefined })],
    ['with a date for expiresAt', JSON.stringify({ ...SESSION, expiresAt: '2026-03-01' })],
    ['without an account', JSON.stringify({ ...SESSION, account: null })],
  ];
  for (const [what, text] of damaged) {
    it(`damaged (${what}) is an error, never signed out, and quotes nothing of it`, () => {
      const error = storageError(text);
      assert.match(error.message, /Sign out, then sign in again/);
      const words = `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`;
      assert.doesNotMatch(words, /secret-acc|access-1|refresh-1/);
    });
  }

  it('members a later version added within the same format do no harm', () => {
    assert.equal(readSession(JSON.stringify({ ...SESSION, later: 1 }), CONNECTION)?.accessToken, 'access-1');
  });
});

describe('how long an access token is used', () => {
  const rows: readonly [what: string, seconds: number | undefined, lastUsed: number, tooLate: number][] = [
    ['an hour: until 60 s before the end', 3600, 3539, 3540],
    ['ten minutes: until 60 s before the end', 600, 539, 540],
    ['five minutes: but for the last tenth', 300, 269, 270],
    ['ten seconds: but for the last tenth', 10, 8.9, 9],
    ['no time: not at all', 0, -1, 0],
  ];
  for (const [what, seconds, lastUsed, tooLate] of rows) {
    it(what, () => {
      const session = firstSession(CONNECTION, { accessToken: 'a', expiresInSeconds: seconds ?? 0 }, ACCOUNT, NOW);
      assert.equal(isFresh(session, NOW + lastUsed * 1000), true);
      assert.equal(isFresh(session, NOW + tooLate * 1000), false);
    });
  }

  it('without expires_in: until a 401 tells', () => {
    const session = firstSession(CONNECTION, { accessToken: 'a' }, ACCOUNT, NOW);
    assert.equal('expiresAt' in session, false);
    assert.equal(isFresh(session, NOW + 10 ** 12), true);
  });
});

describe('a rotation', () => {
  it('replaces both tokens, counts on, and keeps who it is', () => {
    const rotated = rotatedSession(
      SESSION,
      { accessToken: 'access-2', refreshToken: 'refresh-2', expiresInSeconds: 100 },
      NOW + 5000,
    );
    assert.deepEqual(rotated, {
      ...SESSION,
      accessToken: 'access-2',
      refreshToken: 'refresh-2',
      expiresAt: NOW + 5000 + 90_000,
      generation: 2,
    });
  });

  it('without a new refresh token keeps the old one (RFC 6749 section 6)', () => {
    assert.equal(rotatedSession(SESSION, { accessToken: 'access-2' }, NOW).refreshToken, 'refresh-1');
  });

  it('without expires_in does not inherit the old end', () => {
    assert.equal('expiresAt' in rotatedSession(SESSION, { accessToken: 'access-2' }, NOW), false);
  });

  it('of a session without a refresh token has none either', () => {
    const { refreshToken: _none, ...without } = SESSION;
    assert.equal('refreshToken' in rotatedSession(without, { accessToken: 'access-2' }, NOW), false);
  });
});

describe('who is signed in', () => {
  const rows: readonly [Record<string, unknown> | undefined, id: string, label: string][] = [
    [{ sub: 's', email: 'ada@example.com', name: 'Ada', preferred_username: 'ada' }, 's', 'ada@example.com'],
    [{ sub: 's', name: 'Ada', preferred_username: 'ada' }, 's', 'ada'],
    [{ sub: 's', name: ' Ada ' }, 's', 'Ada'],
    [{ sub: 's' }, 's', 's'],
    [{ sub: 's', email: '', name: 7 }, 's', 's'],
    [{ email: 'ada@example.com' }, 'identity.example.com', 'ada@example.com'],
    [{}, 'identity.example.com', 'identity.example.com'],
    [undefined, 'identity.example.com', 'identity.example.com'],
  ];
  for (const [claims, id, label] of rows) {
    it(`${JSON.stringify(claims) ?? 'no claims'} → ${label}`, () => {
      assert.deepEqual(accountOf(claims, 'identity.example.com'), { id, label });
    });
  }
});

describe('a secret store that fails', () => {
  it('is told as such, with the cause; an error of ours stays what it is', () => {
    const cause = new Error('org.freedesktop.Secret: locked');
    const error = asStorageError(cause);
    assert.deepEqual([error.kind, error.cause], ['storage', cause]);
    assert.match(error.message, /Unlock it and try again\. You have not been signed out/);
    assert.equal(asStorageError(error), error);
  });
});
