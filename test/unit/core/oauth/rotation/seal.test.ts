import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PROTOCOL, type Protocol } from '../../../../../src/core/oauth/rotation/protocol.ts';
import { keyFingerprint, type SessionEntry, seal, unseal } from '../../../../../src/core/oauth/rotation/seal.ts';
import { firstSession } from '../../../../../src/core/oauth/session.ts';
import { connection } from './fixture.ts';

const grant = { accessToken: 'the-access-token', refreshToken: 'the-refresh-token', expiresInSeconds: 3600 };
const session = { ...firstSession(connection, grant, { id: 'ada', label: 'Ada Lovelace' }, 1e12), generation: 7 };
const entry: SessionEntry = { generation: 7, session, diesAt: 1e12 + 3_600_000 };
const key = randomBytes(32);
const open = (bytes: Buffer | undefined, protocol: Protocol = PROTOCOL, keys = [key]) =>
  unseal(bytes, keys, protocol, connection);

describe('the sealed session', () => {
  const entries: [name: string, entry: SessionEntry][] = [
    ['a session', entry],
    ['a session without a known end', { generation: 7, session }],
    ['an end', { ...entry, generation: 8, ended: { reason: 'elsewhere', sentence: 'Replaced.' } }],
    ['a sign-out', { generation: 9 }],
  ];
  for (const [name, sealed] of entries) {
    it(`gives back ${name}`, () => {
      const found = open(seal(key, sealed, PROTOCOL));
      assert.equal(found.kind, 'open');
      assert.deepEqual(found.kind === 'open' && found.entry, sealed);
    });
  }

  it('tells nothing secret in the open, and is sealed anew each time', () => {
    const [a, b] = [seal(key, entry, PROTOCOL), seal(key, entry, PROTOCOL)];
    const text = a.toString('latin1');
    for (const secret of ['the-access', 'the-refresh', 'Ada', 'ada', key.toString('base64'), key.toString('hex')]) {
      assert.ok(!text.includes(secret), secret);
    }
    assert.deepEqual(JSON.parse(text.slice(0, text.indexOf('\n'))), {
      version: 1,
      oldest: 1,
      generation: 7,
      key: keyFingerprint(key),
    });
    assert.notDeepEqual(a, b);
  });

  it('does not open when any bit of any byte is changed', () => {
    const sealed = seal(key, entry, PROTOCOL);
    for (let at = 0; at < sealed.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(sealed);
        changed[at] = (sealed[at] ?? 0) ^ (1 << bit);
        assert.notEqual(open(changed).kind, 'open', `byte ${at}, bit ${bit}`);
      }
    }
  }).timeout(20_000); // Thousands of decryptions.

  it('does not open when cut anywhere, or with something added', () => {
    const sealed = seal(key, entry, PROTOCOL);
    for (let length = 0; length < sealed.length; length += 1) {
      assert.equal(open(sealed.subarray(0, length)).kind, 'damaged', `cut at ${length}`);
    }
    assert.equal(open(Buffer.concat([sealed, Buffer.from([0])])).kind, 'damaged');
  });

  it('does not take the head of one generation with the body of another', () => {
    const old = seal(key, { ...entry, generation: 3 }, PROTOCOL);
    const fresh = seal(key, entry, PROTOCOL);
    const mixed = Buffer.concat([fresh.subarray(0, fresh.indexOf('\n') + 1), old.subarray(old.indexOf('\n') + 1)]);
    assert.equal(open(mixed).kind, 'damaged');
  });

  it('says which key is missing, and opens with whichever of several keys fits', () => {
    const sealed = seal(key, entry, PROTOCOL);
    const found = open(sealed, PROTOCOL, [randomBytes(32)]);
    assert.equal(found.kind, 'otherKey');
    assert.equal(found.kind === 'otherKey' && found.header.generation, 7);
    assert.equal(open(sealed, PROTOCOL, []).kind, 'otherKey');
    assert.equal(open(sealed, PROTOCOL, [randomBytes(32), key]).kind, 'open');
  });

  it('tells a sign-out also without the key', () => {
    const found = open(seal(key, { generation: 9 }, PROTOCOL), PROTOCOL, []);
    assert.equal(found.kind === 'otherKey' && found.header.signedOut, true);
  });

  const later: Protocol = { version: 2, oldest: 1, extras: { colour: 'blue', list: [1, { deep: true }] } };
  const incompatible: Protocol = { version: 3, oldest: 2 };
  const readers: [name: string, writer: Protocol, reader: Protocol, kind: string][] = [
    ['a later version that stays readable', later, PROTOCOL, 'open'],
    ['an earlier version', PROTOCOL, later, 'open'],
    ['a later version that does not', incompatible, PROTOCOL, 'newer'],
    ['its own version', incompatible, incompatible, 'open'],
  ];
  for (const [name, writer, reader, kind] of readers) {
    it(`reads what ${name} wrote as ${kind}`, () => {
      assert.equal(open(seal(key, entry, writer), reader).kind, kind);
    });
  }

  it('reads an end whose reason only a later version knows', () => {
    const ended = { reason: 'tired', sentence: 'It was tired.' } as unknown as NonNullable<SessionEntry['ended']>;
    const found = open(seal(key, { ...entry, ended }, later));
    assert.deepEqual(found.kind === 'open' && found.entry.ended, { reason: 'unknown', sentence: 'It was tired.' });
  });

  it('leaves a session of a later version alone', () => {
    const future = { ...session, version: 2 } as unknown as typeof session;
    assert.equal(open(seal(key, { ...entry, session: future }, PROTOCOL)).kind, 'newer');
  });

  it('says that there is no file', () => assert.equal(open(undefined).kind, 'missing'));
});
