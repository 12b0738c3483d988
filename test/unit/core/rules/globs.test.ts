import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nearest } from '../../../../src/core/base/text.ts';
import { globTest } from '../../../../src/core/rules/globs.ts';
import { runs } from '../../runs.ts';

describe('a pattern', () => {
  it('fits as the expression that it stands for', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.') });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b', '.', '*') }), (glob, text) => {
        const pattern = glob.replaceAll('.', '\\.').replace(/\*+/g, '[^]*').replaceAll('?', '[^]');
        assert.equal(globTest(glob)(text), new RegExp(`^${pattern}$`).test(text), `${glob} ${text}`);
      }),
      runs(800),
    );
  });

  it('takes no time where an expression would go back without end', () => {
    assert.equal(globTest(`${'*a'.repeat(50)}*b`)('a'.repeat(20_000)), false);
    assert.equal(globTest(`${'*a'.repeat(400)}*`)('a'.repeat(400)), true);
    assert.equal(globTest('*a'.repeat(200_000))('a'), false, 'and none where it is very long');
  });
});

describe('the nearest name', () => {
  const known = ['administrator', 'auditor', 'billing-viewer', 'ops'];
  for (const [typed, meant] of [
    ['administrater', 'administrator'],
    ['Auditor', 'auditor'],
    ['biling-viewer', 'billing-viewer'],
    ['opt', 'ops'],
    ['osp', 'ops'],
    ['viewer', undefined],
    ['auditor', undefined],
    ['x', undefined],
  ] as const) {
    it(`to ${typed} is ${meant ?? 'none'}`, () => assert.equal(nearest(typed, known), meant));
  }
});
