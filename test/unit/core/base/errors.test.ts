import assert from 'node:assert/strict';
import { connectionKey } from '../../../../src/core/base/connection.ts';
import { Emitter } from '../../../../src/core/base/emitter.ts';
import {
  asRolecallError,
  cancelled,
  isCancelled,
  RolecallError,
  sanitizeServerMessage,
} from '../../../../src/core/base/errors.ts';

const offline = new RolecallError('offline', 'Could not reach it.');

describe('errors as values', () => {
  const rows: readonly [what: string, error: unknown, cancelled: boolean, kind: string][] = [
    ['our own cancellation', cancelled(), true, 'cancelled'],
    ['an AbortError of the platform', new DOMException('This operation was aborted', 'AbortError'), true, 'cancelled'],
    ['an AbortError of Node', Object.assign(new Error('aborted'), { name: 'AbortError' }), true, 'cancelled'],
    ['a deadline of the platform', new DOMException('timed out', 'TimeoutError'), false, 'unexpected'],
    ['an error of ours', offline, false, 'offline'],
    ['an error that only speaks of cancelling', new Error('Cancelled.'), false, 'unexpected'],
    ['a defect', new TypeError('x is not a function'), false, 'unexpected'],
    ['a thrown string', 'nonsense', false, 'unexpected'],
    ['nothing at all', undefined, false, 'unexpected'],
  ];
  for (const [what, error, stopped, kind] of rows) {
    it(`${what} is ${kind}`, () => {
      assert.equal(isCancelled(error), stopped);
      assert.equal(asRolecallError(error).kind, kind);
    });
  }

  it('one of ours is passed on as the same object; a defect keeps its cause and its words', () => {
    assert.equal(asRolecallError(offline), offline);
    const defect = new TypeError('x is not a function');
    const translated = asRolecallError(defect);
    assert.equal(translated.cause, defect);
    assert.match(translated.message, /unexpected error occurred: x is not a function$/);
  });

  it('are told from those of a class below', () => {
    class BusyError extends RolecallError {}
    assert.ok(new BusyError('offline', '') instanceof RolecallError);
    assert.ok(new BusyError('offline', '') instanceof BusyError);
    assert.ok(!((offline as unknown) instanceof BusyError));
  });

  it('facts are there even where nothing is known', () => {
    assert.deepEqual(offline.details, {});
    assert.equal('cause' in offline, false);
    assert.equal(offline.name, 'RolecallError');
  });
});

describe('somebody else’s words', () => {
  const rows: readonly [string, string][] = [
    ['refresh token reuse', 'refresh token reuse'],
    ['  two\n\tlines  ', 'two lines'],
    ['<h1>Bad <b>gateway</b></h1>', 'Bad gateway'],
    ['<img src=x onerror=alert(1)>', ''],
    ['upstream\u0007 said\u001b[31m no\u2028at all', 'upstream said [31m no at all'],
    ['n < 5 and m > 3', 'n < 5 and m > 3'],
    ['', ''],
  ];
  for (const [words, shown] of rows) it(JSON.stringify(words), () => assert.equal(sanitizeServerMessage(words), shown));

  it('are cut at 300 characters, and say so', () => {
    const long = 'so it is. '.repeat(30); // 300 with its last space.
    assert.equal(sanitizeServerMessage(`${long}x`.slice(0, 299)), long.slice(0, 299));
    assert.equal(sanitizeServerMessage(`${long}x`), `${long.slice(0, 299)}…`);
  });

  it('hold nothing that looks like a secret', () => {
    assert.equal(sanitizeServerMessage(`bad token eyJ${'aB3'.repeat(40)}`), 'bad token ‹hidden›');
    assert.doesNotMatch(sanitizeServerMessage('refresh_token=s3cretS3cret&x=1'), /s3cret/);
    assert.equal(sanitizeServerMessage(`bad eyJhbGciOiJkaXIifQ.${'a'.repeat(8)}.b, too`), 'bad ‹hidden›, too');
  });
});

describe('small values', () => {
  it('another connection, address or client id is another key', () => {
    const connection = { id: 'service', identityUrl: 'https://identity.example.com', clientId: 'editor' };
    const keys = [
      connection,
      { ...connection, id: 'sandbox' },
      { ...connection, identityUrl: 'https://other.example.com' },
      { ...connection, clientId: 'laptop' },
    ].map(connectionKey);
    assert.equal(new Set(keys).size, 4);
    assert.equal(connectionKey({ ...connection }), keys[0]);
  });

  it('a listener is told until it has had enough, also when it leaves while being told', () => {
    const emitter = new Emitter<number>();
    const seen: string[] = [];
    const leave = emitter.on((value) => {
      seen.push(`once ${value}`);
      leave();
    });
    emitter.on((value) => seen.push(`always ${value}`));
    emitter.fire(1);
    emitter.fire(2);
    assert.deepEqual(seen, ['once 1', 'always 1', 'always 2']);
  });
});
