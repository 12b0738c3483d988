import type { AccessModel, GroupEntry, Principal, RoleEntry } from './model.ts';
import { oneLine } from './plain.ts';
import {
  effectiveAccess,
  groupName,
  hasNoMembers,
  hasNoRoles,
  holdersOf,
  type RoleHolder,
  roleName,
} from './queries.ts';
import {
  countText,
  gapText,
  groupText,
  mayRepeat,
  membersText,
  notesOf,
  principalText,
  roleText,
  SAME_PEOPLE,
  throughText,
} from './words.ts';

/** An answer as lines of plain text: a heading, what it may lack, then one line for each thing. */
export interface Answer {
  /** Never left out. */
  readonly heading: readonly string[];
  readonly lines: readonly string[];
}

/** What somebody can reach: a line for each role, with every group that gives it. */
export function effectiveAccessAnswer(model: AccessModel, principal: Principal): Answer {
  const reached = effectiveAccess(principal);
  const idle = principal.groups.filter(hasNoRoles);
  const unknown = principal.groups.filter(({ missing }) => missing.includes('roles'));
  return {
    heading: [
      `${principalText(principal)} in ${oneLine(model.organization)}: ${countText(reached.length, 'role')} through ${countText(principal.groups.length, 'group')}.`,
      ...samePeople(
        [principal, ...principal.groups.flatMap(({ members }) => members)],
        principal.kind !== 'serviceAccount',
      ),
      ...gaps(model),
    ],
    lines: [
      ...reached.map(({ role, through }) => `${roleText(role, model.rolesKnown)} ${throughText(through)}`),
      ...idle.map((group) => `no role through ${groupText(group)}, which grants none`),
      ...unknown.map((group) => `unknown roles through ${groupText(group)}`),
    ],
  };
}

/** Who has a role: a line for each holder, with every group that gives it. */
export function holdersAnswer(model: AccessModel, role: RoleEntry): Answer {
  const holders = holdersOf(role);
  const empty = role.groups.filter(hasNoMembers);
  return {
    heading: [
      `${roleText(role, model.rolesKnown)} in ${oneLine(model.organization)}: ${holdersText(holders)} through ${countText(role.groups.length, 'group')}.`,
      ...samePeople(holders.map(({ principal }) => principal)),
      ...gaps(model),
    ],
    lines: [
      ...holders.map(({ principal, through }) => `${principalText(principal)} ${throughText(through)}`),
      ...empty.map((group) => `nobody through ${groupText(group)}, which has no members`),
    ],
  };
}

/** Groups with their roles and how many members they have. */
export function groupsAnswer(model: AccessModel, groups: readonly GroupEntry[] = model.groups): Answer {
  return {
    heading: [
      `Groups of ${oneLine(model.organization)}: ${countOf(groups.length, model.groups.length)}.`,
      ...samePeople(groups.flatMap(({ members }) => members)),
      ...gaps(model),
    ],
    lines: groups.map((entry) => {
      const { roles, members, group } = entry;
      const granted = roles.length === 0 ? [] : [`grants ${roles.map(oneRole).join(', ')}`];
      const grants = hasNoRoles(entry) ? ['grants no role'] : granted;
      const tags = group.metadata.tags.map(({ name, value }) => oneLine(`${name}=${value}`));
      const more = [...notesOf(entry), ...tags.map((tag) => `tag ${tag}`)];
      return `${oneLine(groupName(entry))} (id ${oneLine(group.metadata.id)}): ${[membersText(members), ...grants, ...more].join('; ')}`;
    }),
  };
}

/** Roles with how many groups grant them. */
export function rolesAnswer(model: AccessModel, roles: readonly RoleEntry[] = model.roles): Answer {
  return {
    heading: [`Roles of ${oneLine(model.organization)}: ${countOf(roles.length, model.roles.length)}.`, ...gaps(model)],
    lines: roles.map((entry) => {
      const description = entry.role?.metadata.description;
      const said = description ? `; ${oneLine(description)}` : '';
      return `${roleText(entry, model.rolesKnown)}: granted by ${countText(entry.groups.length, 'group')}${said}`;
    }),
  };
}

export function answerText({ heading, lines }: Answer): string {
  return [...heading, '', ...lines, ''].join('\n');
}

function holdersText(holders: readonly RoleHolder[]): string {
  return holders.length === 0 ? 'nobody' : membersText(holders.map(({ principal }) => principal));
}

function samePeople(members: readonly Principal[], isAsked = true): readonly string[] {
  return isAsked && mayRepeat(members) ? [SAME_PEOPLE] : [];
}

function gaps(model: AccessModel): readonly string[] {
  return model.gaps.map((gap) => `INCOMPLETE: ${gapText(gap)}`);
}

function oneRole(role: RoleEntry): string {
  return oneLine(roleName(role));
}

function countOf(shown: number, all: number): string {
  return shown === all ? String(all) : `${shown} of ${all}`;
}
