import { oneLine } from '../base/text.ts';
import { mayContainDuplicates } from './descriptions.ts';
import {
  ENGLISH_DUPLICATE_PEOPLE_NOTE,
  englishCountText,
  englishGapText,
  englishGrantedByText,
  englishGroupNotes,
  englishGroupText,
  englishMembersText,
  englishPrincipalText,
  englishRoleText,
} from './english.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import {
  effectiveAccess,
  groupName,
  hasNoMembers,
  hasNoRoles,
  holdersOf,
  type RoleHolder,
  roleName,
  tagText,
} from './queries.ts';

/** An answer for a model, as lines of plain text: a heading, what is missing, then one line for each item. */
export interface AccessAnswer {
  /** Always complete, however short the answer has to be. */
  readonly heading: readonly string[];
  readonly lines: readonly string[];
}

/** What a member has access to: one line for each role, with every group that gives it. */
export function effectiveAccessAnswer(model: AccessModel, principal: Principal): AccessAnswer {
  const reached = effectiveAccess(principal);
  const idle = principal.groups.filter(hasNoRoles);
  const unknown = principal.groups.filter(({ missing }) => missing.includes('roles'));
  return {
    heading: [
      `${englishPrincipalText(principal)} in ${oneLine(model.organization)}: ${englishCountText(reached.length, 'role')} through ${englishCountText(principal.groups.length, 'group')}.`,
      ...samePeople(
        [principal, ...principal.groups.flatMap(({ members }) => members)],
        principal.kind !== 'serviceAccount',
      ),
      ...findingLines(model, [principal]),
      ...gapLines(model),
    ],
    lines: [
      ...reached.map(
        ({ role, grantedBy }) => `${englishRoleText(role, model.rolesKnown)} ${englishGrantedByText(grantedBy)}`,
      ),
      ...idle.map((group) => `no role through ${englishGroupText(group)}, which grants none`),
      ...unknown.map((group) => `unknown roles through ${englishGroupText(group)}`),
    ],
  };
}

/** Who has a role: a line for each holder, with every group that gives it. */
export function holdersAnswer(model: AccessModel, role: RoleEntry): AccessAnswer {
  const holders = holdersOf(role);
  const empty = role.groups.filter(hasNoMembers);
  return {
    heading: [
      `${englishRoleText(role, model.rolesKnown)} in ${oneLine(model.organization)}: ${holdersText(holders)} through ${englishCountText(role.groups.length, 'group')}.`,
      ...samePeople(holders.map(({ principal }) => principal)),
      ...findingLines(model, [role, ...role.groups]),
      ...gapLines(model),
    ],
    lines: [
      ...holders.map(
        ({ principal, grantedBy }) => `${englishPrincipalText(principal)} ${englishGrantedByText(grantedBy)}`,
      ),
      ...empty.map((group) => `nobody through ${englishGroupText(group)}, which has no members`),
    ],
  };
}

/** Groups with their roles and their numbers of members. */
export function groupsAnswer(model: AccessModel, groups: readonly GroupEntry[] = model.groups): AccessAnswer {
  return {
    heading: [
      `Groups of ${oneLine(model.organization)}: ${countOf(groups.length, model.groups.length)}.`,
      ...samePeople(groups.flatMap(({ members }) => members)),
      ...gapLines(model),
    ],
    lines: groups.map((entry) => {
      const { roles, members, group } = entry;
      const granted = roles.length === 0 ? [] : [`grants ${roles.map(oneRole).join(', ')}`];
      const grants = hasNoRoles(entry) ? ['grants no role'] : granted;
      const tags = group.metadata.tags.map((tag) => oneLine(tagText(tag)));
      const more = [...englishGroupNotes(entry), ...tags.map((tag) => `tag ${tag}`)];
      return `${oneLine(groupName(entry))} (id ${oneLine(group.metadata.id)}): ${[englishMembersText(members), ...grants, ...more].join('; ')}`;
    }),
  };
}

/** Roles with the numbers of groups that grant them. */
export function rolesAnswer(model: AccessModel, roles: readonly RoleEntry[] = model.roles): AccessAnswer {
  return {
    heading: [
      `Roles of ${oneLine(model.organization)}: ${countOf(roles.length, model.roles.length)}.`,
      ...gapLines(model),
    ],
    lines: roles.map((entry) => {
      const description = entry.role?.metadata.description;
      const suffix = description ? `; ${oneLine(description)}` : '';
      return `${englishRoleText(entry, model.rolesKnown)}: granted by ${englishCountText(entry.groups.length, 'group')}${suffix}`;
    }),
  };
}

export function accessAnswerText({ heading, lines }: AccessAnswer): string {
  return [...heading, '', ...lines, ''].join('\n');
}

function holdersText(holders: readonly RoleHolder[]): string {
  return holders.length === 0 ? 'nobody' : englishMembersText(holders.map(({ principal }) => principal));
}

function samePeople(members: readonly Principal[], isAsked = true): readonly string[] {
  return isAsked && mayContainDuplicates(members) ? [ENGLISH_DUPLICATE_PEOPLE_NOTE] : [];
}

/** The findings of access rules about these entries, and the waivers that allow them, one line each. */
function findingLines(model: AccessModel, entries: readonly (GroupEntry | RoleEntry | Principal)[]): readonly string[] {
  const lines = entries.flatMap((entry) =>
    (model.findings.get(entry) ?? []).map(({ rule, message, accepted }) => {
      const what = `"${oneLine(rule)}" in the access rules: ${oneLine(message)}`;
      return accepted === undefined ? `FINDING of ${what}` : `ACCEPTED ${oneLine(accepted)} (${what})`;
    }),
  );
  return [...new Set(lines)];
}

/** What may be missing in an answer from this model, one line each. */
export function gapLines(model: AccessModel): readonly string[] {
  return model.gaps.map((gap) => `INCOMPLETE: ${englishGapText(gap)}`);
}

function oneRole(role: RoleEntry): string {
  return oneLine(roleName(role));
}

function countOf(shown: number, all: number): string {
  return shown === all ? String(all) : `${shown} of ${all}`;
}

/** The size of a text, in the unit of the budget: tokens where the editor counts them, else characters. */
export type MeasureText = (text: string) => Promise<number> | number;

/**
 * As much of an answer as fits a budget, with a last line that says how much was left out. The heading always stays.
 * Measures few texts, since counting tokens may be slow.
 */
export async function truncateAnswer(answer: AccessAnswer, budget: number, measure: MeasureText): Promise<string> {
  const { heading, lines } = answer;
  const whole = accessAnswerText(answer);
  if ((await measure(whole)) <= budget) return whole;
  const cut = (kept: number): string =>
    accessAnswerText({
      heading,
      lines: [
        ...lines.slice(0, kept),
        `… ${lines.length - kept} of ${lines.length} left out for length: ask for something narrower.`,
      ],
    });
  let fits = 0;
  for (let low = 1, high = lines.length - 1; low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    if ((await measure(cut(middle))) <= budget) {
      fits = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return cut(fits);
}
