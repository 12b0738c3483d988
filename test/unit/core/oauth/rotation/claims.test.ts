import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Claims } from '../../../../../src/core/oauth/rotation/claims.ts';

describe('what happens once for all windows', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-claims-'));
  });
  afterEach(() => fs.rm(folder, { recursive: true, force: true }));

  it('is taken by one of many', async () => {
    const windows = Array.from({ length: 20 }, () => new Claims(folder));
    const taken = await Promise.all(windows.map((window) => window.take('ended 7')));
    assert.equal(taken.filter(Boolean).length, 1);
    assert.equal(await new Claims(folder).take('ended 7'), false);
    assert.equal(await new Claims(folder).take('ended 8'), true);
  });

  it('tells the others how it went', async () => {
    const [one, other] = [new Claims(folder), new Claims(folder)];
    assert.equal(await other.outcome('x'), undefined);
    await one.take('x');
    assert.equal(await other.outcome('x'), 'taken');
    await one.settle('x', 'failed');
    assert.equal(await other.outcome('x'), 'failed');
    await one.settle('x', 'done');
    assert.equal(await other.outcome('x'), 'done');
  });

  it('does not tell in the folder what was claimed', async () => {
    await new Claims(folder).take('sign-in s3cret');
    const [name = ''] = await fs.readdir(folder);
    assert.doesNotMatch(name + (await fs.readFile(path.join(folder, name), 'utf8')), /s3cret/);
  });

  it('is forgotten after a day, and the rest stays', async () => {
    const claims = new Claims(folder);
    await claims.take('old');
    const [name = ''] = await fs.readdir(folder);
    const yesterday = new Date(Date.now() - 25 * 3600_000);
    await fs.utimes(path.join(folder, name), yesterday, yesterday);
    await claims.take('new');
    assert.equal((await fs.readdir(folder)).length, 1);
    assert.equal(await claims.outcome('new'), 'taken');
  });
});
