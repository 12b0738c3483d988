import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { groupSchema, roleSchema, wellFormedGroup, wellFormedRole } from '../../../../src/core/identity/schemas.ts';
import { runs } from '../../runs.ts';

/** Mostly right, now and then something else. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { arbitrary: right, weight: 40 },
    { arbitrary: fc.constantFrom(null, undefined, 0, '', true, [], {}, ['x'], { id: 'x' }), weight: 1 },
  );
const text = mostly(fc.string({ maxLength: 5 }));
const optional = fc.oneof(fc.constant(undefined), fc.constant(null), text);
const list = (item: fc.Arbitrary<unknown>) =>
  fc.oneof(fc.constant(undefined), fc.constant(null), mostly(fc.array(item, { maxLength: 3 })));
const common = {
  id: mostly(fc.string({ minLength: 1, maxLength: 5 })),
  name: text,
  description: optional,
  creationTime: text,
  provisioningStatus: text,
  healthStatus: text,
  deletionTime: optional,
  grantable: fc.anything({ maxDepth: 1 }),
};
const group = mostly(
  fc.record({
    metadata: mostly(
      fc.record({
        ...common,
        tags: list(mostly(fc.record({ name: text, value: text }))),
        createdBy: optional,
        modifiedTime: optional,
        modifiedBy: optional,
        organizationId: optional,
      }),
    ),
    spec: mostly(
      fc.record({
        subjects: list(mostly(fc.record({ id: text, email: optional, issuer: text }))),
        userIDs: list(text),
        serviceAccountIDs: list(text),
        roleIDs: list(text),
      }),
    ),
  }),
);
const role = mostly(fc.record({ metadata: mostly(fc.record(common)) }));

describe('the quick reading of a list', () => {
  const readings = [
    ['group', group, wellFormedGroup, groupSchema],
    ['role', role, wellFormedRole, roleSchema],
  ] as const;
  for (const [what, items, quick, schema] of readings) {
    it(`takes exactly the ${what}s that the schema takes, and reads them alike`, () => {
      let [taken, tried] = [0, 0];
      fc.assert(
        fc.property(items, (raw) => {
          tried += 1;
          const result = z.safeParse(schema as z.ZodMiniType, raw);
          const read = quick(raw);
          assert.equal(read !== undefined, result.success);
          if (!result.success) return;
          taken += 1;
          assert.deepEqual(withoutAbsent(read), withoutAbsent(result.data));
        }),
        runs(600),
      );
      assert.ok(taken > tried / 10 && taken < tried, `${taken} were taken: the property saw one side only`);
    });
  }

  it('copies nothing of an item whose lists are all there', () => {
    const raw = {
      metadata: { id: 'a', name: 'a', creationTime: '', provisioningStatus: '', healthStatus: '', tags: [] },
      spec: { subjects: [], userIDs: [], serviceAccountIDs: [], roleIDs: [] },
    };
    assert.equal(wellFormedGroup(raw), raw);
  });
});

/** JSON has no `undefined`: a member that is absent and one that is undefined are one. */
function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAbsent(member)]));
}
