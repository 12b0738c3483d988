import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { isJsonObject } from '../../../../src/core/base/json.ts';
import {
  arrayOf,
  isArray,
  isBoolean,
  isNumber,
  isString,
  matchesShape,
  oneOf,
  optional,
} from '../../../../src/core/base/shape.ts';
import { runs } from '../../runs.ts';

const anything = fc.oneof(
  fc.anything({ maxDepth: 2 }),
  fc.constantFrom(undefined, null, Number.NaN, Number.POSITIVE_INFINITY, 'a', 'b', '', 0, true, [], {}, ['a'], [1]),
);

/** Says yes to exactly what the schema says yes to. */
function agrees(check: (value: unknown) => boolean, schema: z.ZodMiniType, values: fc.Arbitrary<unknown> = anything) {
  fc.assert(
    fc.property(values, (value) => {
      assert.equal(check(value), z.safeParse(schema, value).success);
    }),
    runs(500),
  );
}

describe('a hand-written check agrees with the schema of the same meaning', () => {
  const rows: readonly (readonly [string, (value: unknown) => boolean, z.ZodMiniType])[] = [
    ['text', isString, z.string()],
    ['a flag', isBoolean, z.boolean()],
    ['a number', isNumber, z.number()],
    ['a list', isArray, z.array(z.unknown())],
    ['a list of texts', arrayOf(isString), z.array(z.string())],
    ['one of some words', oneOf('a', 'b'), z.enum(['a', 'b'])],
    ['a number that may be missing', optional(isNumber), z.optional(z.number())],
  ];
  for (const [what, check, schema] of rows) it(what, () => agrees(check, schema));

  it('an object of some shape, whatever else it holds', () => {
    const member = fc.oneof({ arbitrary: fc.string(), weight: 5 }, { arbitrary: anything, weight: 1 });
    const flag = fc.oneof({ arbitrary: fc.constantFrom(true, false, undefined), weight: 5 }, anything);
    const values = fc.record({ name: member, isOpen: flag, other: anything }, { requiredKeys: [] });
    agrees(
      (value) =>
        matchesShape<{ name: string; isOpen?: boolean }>(value, { name: isString, isOpen: optional(isBoolean) }),
      z.object({ name: z.string(), isOpen: z.optional(z.boolean()) }),
      fc.oneof({ arbitrary: values, weight: 5 }, anything),
    );
  });
});

describe('a record', () => {
  const rows: readonly (readonly [string, unknown, boolean])[] = [
    ['an object', { a: 1 }, true],
    ['an object without a prototype', Object.create(null), true],
    ['null', null, false],
    ['a list', ['a'], false],
    ['a text', 'a', false],
    ['nothing', undefined, false],
  ];
  for (const [what, value, expected] of rows)
    it(`is ${expected ? '' : 'not '}${what}`, () => assert.equal(isJsonObject(value), expected));
});
