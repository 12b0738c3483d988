import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  createFileAtomically,
  ensurePrivateFolder,
  removeAbandonedFiles,
  replaceFileAtomically,
} from '../../../../../src/core/oauth/rotation/files.ts';
import { FolderKey } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { Setting } from './fixture.ts';

const onPosix = process.platform === 'win32' ? it.skip : it;

describe('files that windows share', () => {
  const setting = Setting.forEach();
  const at = (...parts: string[]) => path.join(setting.state, ...parts);

  onPosix('makes folders that only this user may enter, whatever the umask says', async () => {
    const before = process.umask(0);
    try {
      await ensurePrivateFolder(at('deep', 'down'));
    } finally {
      process.umask(before);
    }
    assert.equal((await fs.stat(at('deep', 'down'))).mode & 0o777, 0o700);
  });

  onPosix('closes a folder that others could enter', async () => {
    await fs.mkdir(at('open'), { mode: 0o755 });
    await ensurePrivateFolder(at('open'));
    assert.equal((await fs.stat(at('open'))).mode & 0o777, 0o700);
  });

  onPosix('refuses a link in its place, also one to a good folder', async () => {
    await fs.mkdir(at('elsewhere'), { mode: 0o700 });
    await fs.symlink(at('elsewhere'), at('link'));
    await assert.rejects(ensurePrivateFolder(at('link')), { kind: 'storage', message: /is not a folder/ });
  });

  it('refuses a file in its place', async () => {
    await fs.writeFile(at('file'), '');
    await assert.rejects(ensurePrivateFolder(at('file')), { kind: 'storage' });
  });

  it('says which folder cannot be made', async () => {
    await fs.writeFile(at('file'), '');
    await assert.rejects(ensurePrivateFolder(at('file', 'below')), { kind: 'storage', message: /below/ });
  });

  it('creates a file once, whole', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => createFileAtomically(at('once'), `writer ${n}`, false)),
    );
    assert.equal(all.filter(Boolean).length, 1);
    assert.equal(await fs.readFile(at('once'), 'utf8'), `writer ${all.indexOf(true)}`);
    assert.deepEqual(await fs.readdir(setting.state), ['once']);
  });

  onPosix('replaces a file whole, readable by this user only', async () => {
    await fs.writeFile(at('file'), 'old', { mode: 0o644 });
    await replaceFileAtomically(at('file'), 'new', true);
    assert.equal(await fs.readFile(at('file'), 'utf8'), 'new');
    assert.equal((await fs.stat(at('file'))).mode & 0o777, 0o600);
  });

  it('removes what a killed window left unfinished, but not what is being written', async () => {
    const old = new Date(Date.now() - 120_000);
    await fs.writeFile(at('session.sealed.0a.tmp'), '');
    await fs.writeFile(at('session.sealed.0b.tmp'), '');
    await fs.writeFile(at('session.sealed'), '');
    await fs.utimes(at('session.sealed.0a.tmp'), old, old);
    await fs.utimes(at('session.sealed'), old, old);
    await removeAbandonedFiles(setting.state);
    assert.deepEqual((await fs.readdir(setting.state)).sort(), ['session.sealed', 'session.sealed.0b.tmp']);
  });

  it('agrees on one key, whoever comes first', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => new FolderKey(setting.state).get()));
    assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
    assert.equal(keys[0]?.length, 32);
  });

  it('makes a new key where a broken disk cut the old one short', async () => {
    await fs.writeFile(at('windows.key'), 'short');
    assert.equal((await new FolderKey(setting.state).get()).length, 32);
  });

  it('looks at the file again after somebody did not know the key', async () => {
    const [mine, theirs] = [new FolderKey(setting.state), new FolderKey(setting.state)];
    const old = await mine.get();
    await fs.rm(at('windows.key'));
    const fresh = await theirs.get();
    assert.deepEqual(await mine.get(), old);
    mine.forget();
    assert.deepEqual(await mine.get(), fresh);
  });
});
