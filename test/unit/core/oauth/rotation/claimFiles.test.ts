import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ClaimFiles } from '../../../../../src/core/oauth/rotation/claimFiles.ts';

describe('what happens once for all windows', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-claims-'));
  });
  afterEach(() => fs.rm(folder, { recursive: true, force: true }));

  it('is taken by one of many', async () => {
    const windows = Array.from({ length: 20 }, () => new ClaimFiles(folder));
    const taken = await Promise.all(windows.map((window) => window.take('ended 7')));
    assert.equal(taken.filter(Boolean).length, 1);
    assert.equal(await new ClaimFiles(folder).take('ended 7'), false);
    assert.equal(await new ClaimFiles(folder).take('ended 8'), true);
  });

  it('tells the others how it went', async () => {
    const [one, other] = [new ClaimFiles(folder), new ClaimFiles(folder)];
    assert.equal(await other.outcome('x'), undefined);
    await one.take('x');
    assert.equal(await other.outcome('x'), 'taken');
    await one.recordOutcome('x', 'failed');
    assert.equal(await other.outcome('x'), 'failed');
    await one.recordOutcome('x', 'done');
    assert.equal(await other.outcome('x'), 'done');
  });

  it('does not tell in the folder what was claimed', async () => {
    await new ClaimFiles(folder).take('sign-in s3cret');
    const [name = ''] = await fs.readdir(folder);
    assert.doesNotMatch(name + (await fs.readFile(path.join(folder, name), 'utf8')), /s3cret/);
  });

  it('is another matter in another editor of the same user', async () => {
    assert.equal(await new ClaimFiles(folder, 'vscode').take('ended 5'), true);
    assert.equal(await new ClaimFiles(folder, 'vscode-insiders').take('ended 5'), true);
    assert.equal(await new ClaimFiles(folder, 'vscode').take('ended 5'), false);
  });

  it('is forgotten after a month, and the rest stays', async () => {
    const claims = new ClaimFiles(folder);
    await claims.take('old');
    const [name = ''] = await fs.readdir(folder);
    const longAgo = new Date(Date.now() - 31 * 24 * 3600_000);
    await fs.utimes(path.join(folder, name), longAgo, longAgo);
    await claims.take('new');
    assert.equal((await fs.readdir(folder)).length, 1);
    assert.equal(await claims.outcome('new'), 'taken');
  });
});
