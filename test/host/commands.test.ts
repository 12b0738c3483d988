import assert from 'node:assert/strict';
import type { Handlers } from '../../src/host/commands.ts';
import { registerCommands } from '../../src/host/commands.ts';
import { commands } from '../../src/ids.ts';
import { Commands } from './support/commands.ts';
import { FakeLog } from './support/fakes.ts';
import { usePatches } from './support/patches.ts';
import { until } from './support/wait.ts';

const { copyId, copyName } = commands;

describe('commands whose code is read when they are called', () => {
  const patches = usePatches();
  let given: Commands;
  let log: FakeLog;
  let loads: (() => Promise<Handlers<typeof copyId | typeof copyName>>)[];
  const handlers = {
    [copyId]: (...args: unknown[]) => ['id', ...args],
    [copyName]: (...args: unknown[]) => ['name', ...args],
  };

  beforeEach(() => {
    given = new Commands(patches);
    log = new FakeLog();
    loads = [async () => handlers];
    given.of(() =>
      registerCommands([copyId, copyName], log, () => (loads.shift() ?? assert.fail('it was read already'))()),
    );
  });

  it('are there before, read it once, and pass on what they are given', async () => {
    assert.equal(loads.length, 1);
    assert.deepEqual(await given.call(copyName, 1, 2), ['name', 1, 2]);
    assert.deepEqual(await given.call(copyId, 3), ['id', 3]);
    assert.deepEqual(given.errors, []);
  });

  it('say that it is gone from the disk, and read it again when it is back', async () => {
    const gone = Object.assign(new Error("Cannot find module './lazy-ABC.cjs'"), { code: 'MODULE_NOT_FOUND' });
    loads.unshift(() => Promise.reject(gone));
    assert.equal(await given.call(copyId), undefined);
    await until('the message', () => given.errors.length > 0);
    assert.match(given.errors.join(), /A part of Rolecall is missing: .* Reload the window\.$/);
    assert.match(log.lines.join(), /Cannot find module '\.\/lazy-ABC\.cjs'/);
    assert.deepEqual(await given.call(copyId, 1), ['id', 1]);
  });
});
