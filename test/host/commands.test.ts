import assert from 'node:assert/strict';
import { type Handlers, onFirstUse, registerCommands } from '../../src/host/commands.ts';
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
    loads = [];
    given.of(() => registerCommands([copyId, copyName], log, () => (loads.shift() ?? (async () => handlers))()));
  });

  it('are there before it is loaded, and pass on what they are given', async () => {
    assert.deepEqual(await given.call(copyName, 1, 2), ['name', 1, 2]);
    assert.deepEqual(await given.call(copyId, 3), ['id', 3]);
    assert.deepEqual(given.errors, []);
  });

  it('say that it cannot be loaded, and load it again with the next call', async () => {
    const gone = Object.assign(new Error("Cannot find module './features.cjs'"), { code: 'MODULE_NOT_FOUND' });
    loads.push(() => Promise.reject(gone));
    assert.equal(await given.call(copyId), undefined);
    await until('the message', () => given.errors.length > 0);
    assert.match(given.errors.join(), /Cannot find module/);
    assert.match(log.lines.join(), /Cannot find module '\.\/features\.cjs'/);
    assert.deepEqual(await given.call(copyId, 1), ['id', 1]);
  });
});

class Part {
  isDisposed = false;

  dispose(): void {
    this.isDisposed = true;
  }
}

describe('what is made on first use', () => {
  it('is made once for all who ask, and disposed of with what registered it', async () => {
    const parts: Part[] = [];
    const get = onFirstUse(async () => {
      parts.push(new Part());
      return parts.at(-1) ?? assert.fail();
    });
    assert.equal(parts.length, 0);
    const [one, other] = await Promise.all([get(), get()]);
    assert.equal(one, other);
    get.dispose();
    await until('its end', () => one.isDisposed);
    await assert.rejects(get(), { kind: 'cancelled' });
    assert.equal(parts.length, 1);
  });

  it('is tried again after a failure', async () => {
    const outcomes = [() => Promise.reject(new Error('not yet')), async () => new Part()];
    const get = onFirstUse(() => (outcomes.shift() ?? assert.fail('it was made already'))());
    await assert.rejects(get(), /not yet/);
    assert.equal(await get(), await get());
  });
});
