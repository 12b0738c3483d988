import assert from 'node:assert/strict';
import { raceWithSignal } from '../../../../src/core/base/abort.ts';
import { type ErrorKind, RolecallError } from '../../../../src/core/base/errors.ts';
import { Directory, type ListResult, wasCancelled } from '../../../../src/core/identity/directory.ts';
import type { IdentityClient } from '../../../../src/core/identity/identityClient.ts';
import { readGroups, readRoles } from '../../../../src/core/identity/schemas.ts';
import { fixture } from './fixtures.ts';

const GROUPS = readGroups(fixture('groups.json')) ?? assert.fail();
const ROLES = readRoles(fixture('roles.json')) ?? assert.fail();

/** An identity service whose answers wait until they are let go. */
function slowIdentity(outcomes: { groups?: unknown; roles?: unknown } = {}) {
  const began: string[] = [];
  const gates: (() => void)[] = [];
  const read = async (name: string, list: unknown, signal: AbortSignal) => {
    began.push(name);
    await raceWithSignal(new Promise<void>((resolve) => gates.push(resolve)), signal);
    if (list instanceof Error) throw list;
    return list;
  };
  const identity = {
    groups: (id: string, signal: AbortSignal) => read(`groups of ${id}`, outcomes.groups ?? GROUPS, signal),
    roles: (id: string, signal: AbortSignal) => read(`roles of ${id}`, outcomes.roles ?? ROLES, signal),
  } as Pick<IdentityClient, 'groups' | 'roles'>;
  return {
    began,
    letGo: () => {
      for (const open of gates.splice(0)) open();
    },
    directory: new Directory(identity, () => 42),
  };
}

const kinds = (...lists: ListResult<unknown>[]) =>
  lists.map((list) => (list.kind === 'failed' ? list.error.kind : list.kind));

describe('what has been read of the organizations', () => {
  it('both lists are asked for at once, and carry when they were read', async () => {
    const { directory, began, letGo } = slowIdentity();
    const reading = directory.organization('acme');
    assert.deepEqual(began, ['groups of acme', 'roles of acme']);
    letGo();
    assert.deepEqual(await reading, {
      id: 'acme',
      groups: { kind: 'loaded', list: GROUPS, at: 42 },
      roles: { kind: 'loaded', list: ROLES, at: 42 },
    });
  });

  it('ten callers share one read, and later ones get what it gave', async () => {
    const { directory, began, letGo } = slowIdentity();
    const readings = Array.from({ length: 10 }, () => directory.organization('acme'));
    letGo();
    const results = await Promise.all(readings);
    assert.equal(new Set(results).size, 1);
    assert.equal(await directory.organization('acme'), results[0]);
    assert.equal(began.length, 2);
  });

  it('another organization is read by itself', async () => {
    const { directory, began, letGo } = slowIdentity();
    const readings = [directory.organization('acme'), directory.organization('globex')];
    letGo();
    await Promise.all(readings);
    assert.equal(began.length, 4);
  });

  it('one list that fails leaves the other standing, and is an error, not an empty list', async () => {
    const forbidden = new RolecallError('forbidden', 'You may not.');
    const { directory, letGo } = slowIdentity({ groups: forbidden });
    const reading = directory.organization('acme');
    letGo();
    const { groups, roles } = await reading;
    assert.deepEqual([groups, roles.kind], [{ kind: 'failed', error: forbidden }, 'loaded']);
  });

  it('a defect is told as one instead of rejecting', async () => {
    const { directory, letGo } = slowIdentity({ roles: new TypeError('x is not a function') });
    const reading = directory.organization('acme');
    letGo();
    const { groups, roles } = await reading;
    assert.deepEqual(kinds(groups, roles), ['loaded', 'unexpected']);
  });

  it('one organization is read again without any other', async () => {
    const { directory, began, letGo } = slowIdentity();
    const before = [directory.organization('acme'), directory.organization('globex')];
    letGo();
    const [acme, globex] = await Promise.all(before);
    directory.refresh('acme');
    const again = directory.organization('acme');
    letGo();
    assert.notEqual(await again, acme);
    assert.equal(await directory.organization('globex'), globex);
    assert.equal(began.length, 6);
  });

  it('reading again stops the read under way, and the next one works', async () => {
    const { directory, began, letGo } = slowIdentity();
    const stopped = directory.organization('acme');
    directory.refresh();
    const again = directory.organization('acme');
    const { groups, roles } = await stopped;
    assert.deepEqual(kinds(groups, roles), ['cancelled', 'cancelled']);
    assert.equal(directory.last('acme'), undefined);
    letGo();
    assert.equal((await again).groups.kind, 'loaded');
    assert.equal(directory.organization('acme'), again);
    assert.equal(began.length, 4);
  });

  it('a read that somebody stops is not remembered, and what was read before stays', async () => {
    const { directory, began, letGo } = slowIdentity();
    const first = directory.organization('acme');
    letGo();
    await first;
    directory.refresh('acme');
    const stopped = directory.organization('acme');
    directory.stop('acme');
    assert.equal(wasCancelled(await stopped), true);
    assert.equal(directory.last('acme'), await first);
    const again = directory.organization('acme');
    letGo();
    assert.equal(wasCancelled(await again), false);
    assert.equal(began.length, 6);
  });

  it('a cleared directory holds nothing, also not of a read that ends later', async () => {
    const { directory, letGo } = slowIdentity();
    const first = directory.organization('acme');
    letGo();
    await first;
    assert.deepEqual(directory.all, [await first]);
    directory.refresh('acme');
    const late = directory.organization('acme');
    directory.clear();
    letGo();
    await late;
    assert.deepEqual([directory.all, directory.last('acme')], [[], undefined]);
  });

  describe('a list that cannot be read again', () => {
    const passing: readonly ErrorKind[] = ['server', 'offline', 'timeout', 'rateLimited', 'protocol'];
    const final: readonly ErrorKind[] = ['forbidden', 'notFound', 'sessionEnded', 'signedOut', 'invalidRequest'];
    async function readTwice(kind: ErrorKind) {
      const outcomes: { groups?: unknown } = {};
      const { directory, letGo } = slowIdentity(outcomes);
      const first = directory.organization('acme');
      letGo();
      await first;
      const error = new RolecallError(kind, 'It did not work.');
      outcomes.groups = error;
      directory.refresh();
      const second = directory.organization('acme');
      letGo();
      return { error, ...(await second) };
    }

    for (const kind of passing) {
      it(`because of ${kind} is the one of before, with the reason`, async () => {
        const { groups, roles, error } = await readTwice(kind);
        assert.deepEqual(groups, { kind: 'loaded', list: GROUPS, at: 42, staleBecause: error });
        assert.deepEqual(roles, { kind: 'loaded', list: ROLES, at: 42 });
      });
    }

    for (const kind of final) {
      it(`because of ${kind} is not shown as it was before`, async () => {
        const { groups, error } = await readTwice(kind);
        assert.deepEqual(groups, { kind: 'failed', error });
      });
    }
  });
});
