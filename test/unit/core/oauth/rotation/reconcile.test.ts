import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { reconcile, type SharedSessionState } from '../../../../../src/core/oauth/rotation/reconcile.ts';
import type { SealedHeader, Unsealed } from '../../../../../src/core/oauth/rotation/seal.ts';
import {
  readRecord,
  type SecretRecord,
  writeRecord,
} from '../../../../../src/core/oauth/rotation/sessionSecretStore.ts';
import { firstSession, type Session, writeSession } from '../../../../../src/core/oauth/session.ts';
import { connection } from './fixture.ts';

const key = randomBytes(32);
const at = (generation: number): Session => ({
  ...firstSession(connection, { accessToken: `at-${generation}` }, { id: 'ada', label: 'Ada' }, 0),
  generation,
});
const header = (generation: number, signedOut?: boolean): SealedHeader => ({
  version: 1,
  oldest: 1,
  generation,
  key: 'f00',
  ...(signedOut !== undefined && { signedOut }),
});
const open = (generation: number): Unsealed => ({ kind: 'open', key, entry: { generation, session: at(generation) } });
const ended: Unsealed = {
  kind: 'open',
  key,
  entry: { generation: 9, session: at(8), ended: { reason: 'elsewhere', sentence: 'Gone.' } },
};

describe('which session counts', () => {
  const missing: Unsealed = { kind: 'missing' };
  const rows: [record: string, SecretRecord, sealed: string, Unsealed, outcome: string][] = [
    ['nothing', {}, 'missing', missing, 'nothing 0'],
    ['a key', { key }, 'missing', missing, 'nothing 0'],
    ['session 5', { key, session: at(5) }, 'missing', missing, 'session 5'],
    ['session 5 without a key', { session: at(5) }, 'missing', missing, 'session 5'],
    ['something damaged', { problem: 'damaged' }, 'missing', missing, 'unreadable damaged 0'],
    ['something newer', { problem: 'newer' }, 'missing', missing, 'unreadable newer 0'],
    ['session 5', { key, session: at(5) }, 'session 7', open(7), 'session 7'],
    ['session 7', { key, session: at(7) }, 'session 7', open(7), 'session 7'],
    ['session 9 of another machine', { key, session: at(9) }, 'session 7', open(7), 'session 9'],
    ['something newer', { problem: 'newer' }, 'session 7', open(7), 'session 7'],
    [
      'session 5',
      { key, session: at(5) },
      'sign-out 6',
      { kind: 'open', key, entry: { generation: 6 } },
      'signedOut 6',
    ],
    ['session 8', { key, session: at(8) }, 'end 9', ended, 'ended 9'],
    [
      'session 5',
      { key, session: at(5) },
      'session 7 of another key',
      { kind: 'otherKey', header: header(7) },
      'unreadable otherKey 7',
    ],
    ['nothing', {}, 'session 7 of another key', { kind: 'otherKey', header: header(7) }, 'unreadable otherKey 7'],
    ['nothing', {}, 'sign-out 7 of another key', { kind: 'otherKey', header: header(7, true) }, 'signedOut 7'],
    [
      'session 5',
      { key, session: at(5) },
      'something damaged',
      { kind: 'damaged', header: header(7) },
      'unreadable damaged 7',
    ],
    ['session 5', { key, session: at(5) }, 'rubbish', { kind: 'damaged' }, 'unreadable damaged 5'],
    ['session 5', { key, session: at(5) }, 'something newer', { kind: 'newer' }, 'unreadable newer 0'],
  ];
  for (const [record, stored, file, sealed, outcome] of rows) {
    it(`store holds ${record}, file holds ${file}: ${outcome}`, () =>
      assert.equal(told(reconcile(stored, sealed)), outcome));
  }

  it('takes what cannot be read for an error that says what to do, never for "signed out"', () => {
    const found = reconcile({ key }, { kind: 'otherKey', header: header(7) });
    assert.equal(found.kind === 'unreadable' && found.error.kind, 'storage');
    assert.match(found.kind === 'unreadable' ? found.error.message : '', /Reload this window/);
  });
});

function told(found: SharedSessionState): string {
  const which = found.kind === 'unreadable' ? ` ${found.reason}` : '';
  return `${found.kind}${which} ${found.generation}`;
}

describe('what the secret store holds', () => {
  const session = at(5);
  const rows: [name: string, text: string | undefined, read: SecretRecord][] = [
    ['nothing', undefined, {}],
    ['key and session', writeRecord(key, session), { key, session }],
    ['a key', writeRecord(key, undefined), { key }],
    ['a session of the first version', writeSession(session), { session }],
    [
      'a session of the first version, as it was written then',
      '{"version":1,"key":"service|https://identity.example.com|0f9c7c1e","generation":5,"account":{"id":"ada","label":"Ada"},"accessToken":"at-5"}',
      { session },
    ],
    ['another connection', writeSession({ ...session, key: 'service|https://elsewhere|c' }), {}],
    [
      'members that only later versions know',
      writeRecord(key, session).replace('{', '{"colour":"blue",'),
      { key, session },
    ],
    ['a newer version', '{"version":3,"vault":"…"}', { problem: 'newer' }],
    ['a newer session', writeRecord(key, { ...session, version: 2 } as unknown as Session), { key, problem: 'newer' }],
    ['no JSON', '{"version":2', { problem: 'damaged' }],
    ['a short key', '{"version":2,"key":"c2hvcnQ="}', { problem: 'damaged' }],
    ['no key', '{"version":2}', { problem: 'damaged' }],
    ['a damaged session', `{"version":2,"key":"${key.toString('base64')}","session":"{"}`, { key, problem: 'damaged' }],
    ['another program’s text', 'hello', { problem: 'damaged' }],
  ];
  for (const [name, text, read] of rows) {
    it(`reads ${name}`, () => assert.deepEqual(readRecord(text, connection), read));
  }
});
