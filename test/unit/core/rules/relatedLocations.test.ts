import assert from 'node:assert/strict';
import { findingsOf } from '../../../../src/core/rules/checkAccess.ts';
import { relatedLocations } from '../../../../src/core/rules/relatedLocations.ts';
import { acme, check } from './organizations.ts';

const model = acme({
  ops: { people: 'ada ben', roles: 'admin' },
  audit: { people: 'ada', accounts: 'x', roles: 'auditor' },
});

/** Of the first finding: the marked text of each place, and what is said there. */
function related(rule: string, declared = '') {
  const result = check(`rules:\n  - { id: it, ${rule} }\n${declared}`, model);
  const [finding] = findingsOf(result);
  assert.ok(finding);
  return relatedLocations(finding, result.file).map(({ place, text }) => [
    result.file.text.slice(place.start, place.end),
    text.replaceAll('@acme.example', ''),
  ]);
}

describe('the related places of a finding', () => {
  const APART = 'kind: separation-of-duties, roles: [admin, auditor]';

  it('are the groups that give a role, at the role in the rule, with whom they give it', () => {
    assert.deepEqual(related(APART), [
      ['admin', 'ops gives admin to ada'],
      ['auditor', 'audit gives auditor to ada'],
    ]);
    assert.deepEqual(related('kind: max-holders, role: "id:r-admin", max: 1'), [
      ['"id:r-admin"', 'ops gives admin to ada and ben'],
    ]);
    assert.deepEqual(related('kind: allowed-holders, role: auditor, holders: ["serviceAccount:x"]'), [
      ['auditor', 'audit gives auditor to ada'],
    ]);
  });

  it('are where a group is declared', () => {
    const [first, second] = related(APART, 'declared:\n  groups:\n    - { name: ops }\n');
    assert.deepEqual([first, second?.[0]], [['{ name: ops }', 'ops is declared here'], 'auditor']);
  });

  it('are at the rule where it names neither', () => {
    assert.deepEqual(related('kind: service-accounts-only-in, groups: [ops]'), [
      ['it', 'audit has the member service account x'],
    ]);
    assert.deepEqual(related('kind: max-holders, role: "adm*", max: 1'), [['it', 'ops gives admin to ada and ben']]);
    assert.deepEqual(related('kind: naming, of: groups, match: [team-*]'), []);
  });
});
