import { applyFilter, groupMatches, principalMatches, roleMatches } from './filter.ts';
import type { FilterTerm } from './filterSyntax.ts';
import type { AccessModel, GroupEntry, Principal } from './model.ts';

/**
 * The people, users and service accounts that a filter leaves. Each term is true of somebody or not:
 *
 * | term | true of a principal |
 * |---|---|
 * | `member:` | its id or e-mail address holds it |
 * | a word | the same, or it is in a group of which a name, text or tag, or the name or id of a role, holds it |
 * | any other | it is in a group of which it is true |
 *
 * `-` before a term turns that around: `-role:administrator` leaves those who have that role through no group.
 */
export function filterPeople(model: AccessModel, terms: readonly FilterTerm[]): readonly Principal[] {
  const tests = terms.map((term) => testOf(model, term));
  return model.principals.filter((principal) => tests.every((test) => test(principal)));
}

function testOf(model: AccessModel, term: FilterTerm): (principal: Principal) => boolean {
  const test = positive(model, term);
  return term.negated ? (principal) => !test(principal) : test;
}

function positive(model: AccessModel, { key, value }: FilterTerm): (principal: Principal) => boolean {
  const isCalled = (principal: Principal) => principalMatches(principal, value);
  if (key === 'member') return isCalled;
  if (key !== undefined) return isInOneOf(applyFilter(model, [{ key, value, negated: false }]).groups);
  // A word is true of a group for its other members too: here it counts what the group says, and its roles.
  const roles = new Set(model.roles.filter((entry) => roleMatches(entry, value)));
  const said = model.groups.filter(
    (entry) => groupMatches(entry, value) || entry.roles.some((role) => roles.has(role)),
  );
  const isIn = isInOneOf(said);
  return (principal) => isCalled(principal) || isIn(principal);
}

function isInOneOf(groups: readonly GroupEntry[]): (principal: Principal) => boolean {
  const left = new Set(groups);
  return (principal) => principal.groups.some((group) => left.has(group));
}
