import assert from 'node:assert/strict';
import { type ErrorKind, RolecallError } from '../../../../../src/core/base/errors.ts';
import { BackOff } from '../../../../../src/core/oauth/rotation/backOff.ts';
import { sessionEndOf } from '../../../../../src/core/oauth/rotation/reconcile.ts';
import { classifyRefreshFailure } from '../../../../../src/core/oauth/rotation/sendRefreshToken.ts';
import { DEFAULT_TIMEOUTS } from '../../../../../src/core/oauth/rotation/timeouts.ts';
import { isUnexpired, withExpiry } from '../../../../../src/core/oauth/rotation/windowSession.ts';
import { firstSession } from '../../../../../src/core/oauth/session.ts';
import { connection, refusal } from './fixture.ts';

describe('what a failed refresh means', () => {
  const failures: [ErrorKind, code: string | undefined, said: string | undefined, meaning: string][] = [
    ['sessionEnded', 'invalid_grant', 'refresh token reuse', 'refused'],
    ['sessionEnded', 'invalid_grant', undefined, 'refused'],
    ['sessionEnded', 'invalid_grant', 'client_id mismatch', 'configuration'],
    ['configuration', 'invalid_client', undefined, 'configuration'],
    ['rateLimited', undefined, undefined, 'notSpent'],
    ['offline', 'ECONNREFUSED', undefined, 'notSpent'],
    ['offline', 'ENOTFOUND', undefined, 'notSpent'],
    ['offline', 'EAI_AGAIN', undefined, 'notSpent'],
    ['offline', 'SELF_SIGNED_CERT_IN_CHAIN', undefined, 'notSpent'],
    ['offline', 'ERR_TLS_CERT_ALTNAME_INVALID', undefined, 'notSpent'],
    ['offline', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, 'notSpent'],
    ['offline', 'ECONNRESET', undefined, 'lost'],
    ['offline', 'UND_ERR_SOCKET', undefined, 'lost'],
    ['offline', undefined, undefined, 'lost'],
    ['timeout', undefined, undefined, 'lost'],
    ['server', undefined, undefined, 'unclear'],
    ['protocol', undefined, undefined, 'unclear'],
    ['cancelled', undefined, undefined, 'unclear'],
    ['unexpected', undefined, undefined, 'unclear'],
  ];
  for (const [kind, code, said, meaning] of failures) {
    it(`${[kind, code, said].filter(Boolean).join(', ')}: ${meaning}`, () => {
      const details = { ...(code && { code }), ...(said && { serverMessage: said }) };
      assert.equal(classifyRefreshFailure(new RolecallError(kind, 'x', { details })), meaning);
    });
  }
});

describe('what a failure before the token was sent means', () => {
  for (const [kind, meaning] of [
    ['timeout', 'notSpent'],
    ['protocol', 'notSpent'],
    ['configuration', 'configuration'],
  ] as const) {
    it(`${kind}: ${meaning}`, () => {
      assert.equal(classifyRefreshFailure(new RolecallError(kind, 'x', { details: { wasNotSent: true } })), meaning);
    });
  }
});

describe('why a session is over', () => {
  const words: [said: string, reason: string][] = [
    ['refresh token reuse', 'elsewhere'],
    ['Token has been revoked', 'elsewhere'],
    ['refresh token already used', 'elsewhere'],
    ['token was superseded by a newer session', 'elsewhere'],
    ['not the latest token', 'elsewhere'],
    ['refresh token expired', 'expired'],
    ['token is expired or revoked', 'expired'],
    ['client_id mismatch', 'configuration'],
    ['redirect_uri mismatch', 'configuration'],
    ['grant request is invalid', 'unknown'],
    ['', 'unknown'],
  ];
  for (const [said, reason] of words) {
    it(`${said === '' ? 'without a word' : `"${said}"`}: ${reason}`, () => {
      const end = sessionEndOf(refusal(said), false);
      assert.equal(end.reason, reason);
      if (said !== '' && reason !== 'expired') assert.ok(end.sentence.endsWith(said), end.sentence);
    });
  }

  it('knows its own lost renewal, whatever it looks like to the server', () => {
    const end = sessionEndOf(refusal('refresh token reuse'), true);
    assert.equal(end.reason, 'interrupted');
    assert.match(end.sentence, /response was lost/);
  });
});

describe('when a failed renewal is tried again', () => {
  const offline = new RolecallError('offline', 'No network.');

  it('waits longer each time, up to a minute', () => {
    const backOff = new BackOff(() => 1, DEFAULT_TIMEOUTS.firstPause);
    const pauses = Array.from({ length: 9 }, () => {
      backOff.recordFailure(offline, 0);
      return firstMs(backOff);
    });
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('spreads several windows over half of the pause', () => {
    const [early, late] = [
      new BackOff(() => 0, DEFAULT_TIMEOUTS.firstPause),
      new BackOff(() => 1, DEFAULT_TIMEOUTS.firstPause),
    ];
    for (const backOff of [early, late]) backOff.recordFailure(offline, 0);
    assert.deepEqual([firstMs(early), firstMs(late)], [500, 1000]);
  });

  it('keeps to what the server asks, within five minutes', () => {
    const asked = (retryAfterMs: number) => {
      const backOff = new BackOff(() => 1, DEFAULT_TIMEOUTS.firstPause);
      backOff.recordFailure(new RolecallError('rateLimited', 'Slow.', { details: { retryAfterMs } }), 0);
      return firstMs(backOff);
    };
    assert.deepEqual([asked(10), asked(30_000), asked(86_400_000)], [1000, 30_000, 300_000]);
  });

  it('does not wait for hours when the clock was set back', () => {
    const backOff = new BackOff(() => 1, DEFAULT_TIMEOUTS.firstPause);
    backOff.recordFailure(offline, 86_400_000);
    assert.equal(backOff.pendingError(86_400_999), offline);
    assert.equal(backOff.pendingError(0), undefined);
  });

  it('tells why it waits, and forgets after a success', () => {
    const backOff = new BackOff(() => 1, DEFAULT_TIMEOUTS.firstPause);
    backOff.recordFailure(offline, 0);
    assert.equal(backOff.pendingError(999), offline);
    backOff.reset();
    assert.equal(backOff.pendingError(0), undefined);
    backOff.recordFailure(offline, 0);
    assert.equal(firstMs(backOff), 1000);
  });
});

/** When the next try is allowed, counted from 0. */
function firstMs(backOff: BackOff): number {
  let [low, high] = [0, 1_000_000];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (backOff.pendingError(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

describe('how long an access token lives', () => {
  for (const seconds of [10, 300, 599, 601, 3600]) {
    it(`knows the real end of ${seconds} s behind the margin`, () => {
      const session = firstSession(
        connection,
        { accessToken: 'a', expiresInSeconds: seconds },
        { id: 'a', label: 'A' },
        0,
      );
      const current = withExpiry(session, 0);
      assert.ok(isUnexpired(current, seconds * 1000 - 5));
      assert.ok(!isUnexpired(current, seconds * 1000 + 5));
    });
  }

  it('only a 401 tells the end of a service token', () => {
    const session = firstSession(connection, { accessToken: 'a' }, { id: 'a', label: 'A' }, 0);
    assert.ok(isUnexpired(withExpiry(session, 0), 1e15));
  });
});
