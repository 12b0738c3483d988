import * as l10n from '@vscode/l10n';
import { type GroupEntry, isBeingDeleted, type Principal, type RoleEntry } from '../../access/model.ts';
import { listsSubjects, listsUsers, type Person } from '../people.ts';
import { EntrySet } from '../references.ts';
import type { KeySchema, Schema } from '../schema.ts';
import {
  type CountRange,
  defineKeys,
  groupsText,
  type RuleContext,
  type RuleKind,
  type RuleKinds,
  rolesText,
  roleText,
} from './kind.ts';

const roleSchema: Schema = { type: 'text', refers: 'role' };
export const personSchema = (permits: boolean): Schema => ({
  type: 'either',
  text: { type: 'text', refers: 'person', permits },
  record: {
    type: 'record',
    keys: {
      issuer: {
        schema: { type: 'text', canBeEmpty: true },
        isRequired: true,
        about: () => l10n.t('The issuer of the subject.'),
      },
      subject: {
        schema: { type: 'text', canBeEmpty: true },
        isRequired: true,
        about: () => l10n.t('The ID of the subject.'),
      },
    },
  },
});

const kinds: KeySchema = {
  schema: { type: 'list', of: { type: 'choice', of: ['people', 'serviceAccounts'] } },
  about: () => l10n.t('Which members the rule applies to: people, serviceAccounts, or both (the default).'),
};
const role: KeySchema = {
  schema: roleSchema,
  isRequired: true,
  about: () =>
    l10n.t('The name of the role, or `id:` followed by its ID. A pattern with * and ? means every role that matches.'),
};
const limit = (least: number, about: () => string): KeySchema => ({
  schema: { type: 'integer', least },
  isRequired: true,
  about,
});

const holders = (permits: boolean, about: () => string): KeySchema => ({
  schema: { type: 'list', of: personSchema(permits) },
  isRequired: true,
  about,
});

/** Findings are about the holders. */
const aboutHolders = {
  subjects: ['principal'],
  needs: () => ['groups'],
  isAboutHolders: true,
} satisfies Partial<RuleKind>;
/** Findings are about the role, for the number of its holders; `except` leaves holders out of the count. */
const aboutNumbers = { ...aboutHolders, subjects: ['role'], excepts: 'principal' } satisfies Partial<RuleKind>;

/** Rules about who has which role. */
export const holderKinds: RuleKinds = {
  'separation-of-duties': {
    ...aboutHolders,
    about: () => l10n.t('Nobody has more than "max" of these roles (1 unless set).'),
    keys: defineKeys({
      roles: {
        schema: { type: 'list', of: roleSchema },
        isRequired: true,
        about: () => l10n.t('The roles that nobody may hold together.'),
      },
      max: {
        schema: { type: 'integer', least: 1 },
        about: () => l10n.t('How many of the roles somebody can have. Default: 1.'),
      },
      kinds,
    }),
    evaluate: evaluateSeparation,
  },
  'max-holders': {
    ...aboutNumbers,
    about: () => l10n.t('A role has at most "max" holders.'),
    keys: defineKeys({ role, max: limit(0, () => l10n.t('The largest number of holders.')), kinds }),
    evaluate(context) {
      const max = context.integer('max') ?? 0;
      for (const entry of context.roles('role')) {
        const range = countHolders(entry, entry.groups, context);
        if (range.least > max) {
          const message =
            max === 1
              ? l10n.t('{0} has {1}; at most 1 is allowed', roleText(entry), holdersText(range))
              : l10n.t('{0} has {1}; at most {2} are allowed', roleText(entry), holdersText(range), max);
          context.addFinding({ subjects: [{ kind: 'role', role: entry }], message, through: entry.groups, range });
        } else if (range.most > max) context.markUndecided(rangeDoubt(entry, range), true);
      }
    },
  },
  'min-holders': {
    ...aboutNumbers,
    about: () => l10n.t('A role has at least "min" holders, through groups that are not being deleted.'),
    keys: defineKeys({ role, min: limit(1, () => l10n.t('The smallest number of holders.')), kinds }),
    turned: ['groups'],
    evaluate(context) {
      const min = context.integer('min') ?? 1;
      for (const entry of context.roles('role')) {
        const staying = entry.groups.filter(({ group }) => !isBeingDeleted(group.metadata));
        const range = countHolders(entry, staying, context);
        if (range.most < min) {
          const message =
            min === 1
              ? l10n.t('{0} has {1}; at least 1 is required', roleText(entry), holdersText(range))
              : l10n.t('{0} has {1}; at least {2} are required', roleText(entry), holdersText(range), min);
          context.addFinding({ subjects: [{ kind: 'role', role: entry }], message, through: staying, range });
        } else if (range.least < min) context.markUndecided(rangeDoubt(entry, range), true);
      }
    },
  },
  'allowed-holders': {
    ...aboutHolders,
    about: () => l10n.t('Only the listed holders have the role.'),
    keys: defineKeys({ role, holders: holders(true, () => l10n.t('Who can have the role. [] means nobody.')), kinds }),
    evaluate: evaluateAllowed,
  },
  'forbidden-holders': {
    ...aboutHolders,
    about: () => l10n.t('None of the listed holders has the role.'),
    keys: defineKeys({ role, holders: holders(false, () => l10n.t('Who must not have the role.')), kinds }),
    evaluate: evaluateForbidden,
  },
};

type Paths = ReadonlyMap<Principal, readonly GroupEntry[]>;

/** Each member that has one of the roles and counts, with every group that gives one. */
function pathsOf(roles: readonly RoleEntry[], context: RuleContext): Paths {
  const paths = new Map<Principal, GroupEntry[]>();
  for (const group of new Set(roles.flatMap(({ groups }) => groups))) {
    for (const member of group.members) {
      const before = paths.get(member);
      if (before) before.push(group);
      else paths.set(member, [group]);
    }
  }
  for (const member of paths.keys()) if (!context.counts(member)) paths.delete(member);
  return paths;
}

function evaluateAllowed(context: RuleContext): void {
  const { identity } = context.people;
  const allowed = EntrySet.of(context.model.principals, context.principals('holders'));
  for (const role of context.roles('role')) {
    for (const [principal, groups] of pathsOf([role], context)) {
      if (allowed.has(principal)) continue;
      if (identity === 'separate' || !context.people.isTwinIn(principal, groups))
        findHolder(context, role, principal, groups);
      else if (identity === 'unknown') {
        const message = l10n.t(
          '{0} has {1}, and may be one of the allowed holders: it is not known whose user ID it is',
          context.nameOf([principal]),
          roleText(role),
        );
        context.markUndecided(message, true);
      }
    }
  }
}

function findHolder(context: RuleContext, role: RoleEntry, principal: Principal, groups: readonly GroupEntry[]): void {
  context.addFinding({
    subjects: [
      { kind: 'principal', principals: [principal] },
      { kind: 'aspect', name: role.id },
    ],
    message: l10n.t(
      '{0} isn’t allowed to have {1}, but has it through {2}',
      context.nameOf([principal]),
      roleText(role),
      groupsText(groups),
    ),
    through: groups,
  });
}

function evaluateForbidden(context: RuleContext): void {
  const { people } = context;
  const forbidden = context.principals('holders');
  const isForbidden = EntrySet.of(context.model.principals, forbidden);
  for (const role of context.roles('role')) {
    const paths = pathsOf([role], context);
    for (const principal of forbidden) {
      const groups = paths.get(principal);
      if (groups !== undefined) findHolder(context, role, principal, groups);
    }
    if (people.identity === 'separate') continue;
    // Somebody forbidden by an email address can be in a group that lists user ids alone, and the other way round.
    const isHidden = [...paths].some(([holder, groups]) => {
      if (isForbidden.has(holder)) return false;
      if (people.isUnlinkedUser(holder))
        return groups.some((group) => !listsSubjects(group)) && namesOf(context).some(isNoUser);
      return (
        people.isUnlinkedSubject(holder) && groups.some((group) => !listsUsers(group)) && namesOf(context).some(isUser)
      );
    });
    if (isHidden)
      context.markUndecided(l10n.t('{0} has holders, and it is not known who they are', roleText(role)), true);
  }
}

const namesOf = ({ value }: RuleContext) => value.fields?.get('holders')?.value.items ?? [];
const isUser = ({ text }: { readonly text?: string }) => text?.startsWith('user:') === true;
const isNoUser = ({ text }: { readonly text?: string }) => !/^(?:user|serviceAccount):/.test(text ?? '');

function evaluateSeparation(context: RuleContext): void {
  const roles = context.roles('roles');
  const max = context.integer('max') ?? 1;
  if (roles.length < 2) {
    context.rejectRule('roles', l10n.t('Separation needs at least two roles.'));
    return;
  }
  if (max >= roles.length) {
    const message = l10n.t('The maximum must be less than the number of roles, which is {0}.', roles.length);
    context.rejectRule('max', message);
    return;
  }
  const paths = pathsOf(roles, context);
  for (const { principals, groups } of humansOf(paths, context)) {
    const throughGroups = [...groups];
    const heldRoles = roles.filter((role) => throughGroups.some((group) => group.roles.includes(role)));
    if (heldRoles.length <= max) continue;
    context.addFinding({
      subjects: [{ kind: 'principal', principals }],
      message:
        heldRoles.length === 2
          ? l10n.t(
              '{0} has both {1}, through {2}',
              context.nameOf(principals),
              rolesText(heldRoles),
              groupsText(throughGroups),
            )
          : l10n.t(
              '{0} has {1}, through {2}',
              context.nameOf(principals),
              rolesText(heldRoles),
              groupsText(throughGroups),
            ),
      through: [...throughGroups, ...heldRoles],
    });
  }
  if (context.people.identity !== 'separate' && canHideTogether(paths, new Set(roles), max, context)) {
    context.markUndecided(
      l10n.t('The same person may hold these roles as a user ID in one group and as a subject in another'),
      true,
    );
  }
}

interface Human {
  readonly principals: Principal[];
  readonly groups: Set<GroupEntry>;
}

/** The humans who have one of the roles, each once. */
function humansOf(paths: Paths, { people }: RuleContext): Iterable<Human> {
  const humans = new Map<Person | string, Human>();
  for (const [principal, groups] of paths) {
    // A user ID that may repeat a subject is judged with the subjects.
    if (people.identity === 'duplicates' && people.isTwinIn(principal, groups)) continue;
    const human = people.humanOf(principal);
    const entry = humans.get(human) ?? { principals: [], groups: new Set() };
    humans.set(human, entry);
    entry.principals.push(principal);
    for (const group of groups) entry.groups.add(group);
  }
  return humans.values();
}

/**
 * Whether a user ID through groups without subjects and a subject through groups without user IDs could be one person
 * with too many roles.
 */
function canHideTogether(paths: Paths, watched: ReadonlySet<RoleEntry>, max: number, context: RuleContext): boolean {
  const users = new Map<string, Set<RoleEntry>>();
  const subjects = new Map<string, Set<RoleEntry>>();
  for (const [principal, groups] of paths) {
    const isUser = context.people.isUnlinkedUser(principal);
    if (!isUser && !context.people.isUnlinkedSubject(principal)) continue;
    const isAlone = isUser ? (group: GroupEntry) => !listsSubjects(group) : (group: GroupEntry) => !listsUsers(group);
    if (!groups.some(isAlone)) continue;
    // What a user id has through groups with subjects, a subject there has too.
    const counted = isUser ? groups.filter(isAlone) : groups;
    const heldRoles = new Set(counted.flatMap(({ roles }) => roles.filter((role) => watched.has(role))));
    // Holders of the same roles are one case.
    (isUser ? users : subjects).set(
      [...heldRoles]
        .map(({ index }) => index)
        .sort((a, b) => a - b)
        .join(),
      heldRoles,
    );
  }
  for (const ofUser of users.values()) {
    for (const ofSubject of subjects.values()) if (new Set([...ofUser, ...ofSubject]).size > max) return true;
  }
  return false;
}

/**
 * The number of humans who hold a role: at least, if each unlinked user ID is a subject of the same group or of
 * another; at most, if none is.
 */
function countHolders(role: RoleEntry, groups: readonly GroupEntry[], context: RuleContext): CountRange {
  const { people } = context;
  const persons = new Set<Person>();
  const humans = new Set<Person | string>();
  let [subjects, twins, others, accounts] = [0, 0, 0, 0];
  for (const [principal, paths] of pathsOf([{ ...role, groups }], context)) {
    const person = people.personOf(principal);
    if (principal.kind === 'serviceAccount') accounts += 1;
    else if (person !== undefined) {
      persons.add(person);
      humans.add(person);
    } else if (principal.kind === 'subject') {
      subjects += 1;
      humans.add(people.humanOf(principal));
    } else if (!paths.some(listsSubjects)) others += 1;
    else if (people.identity !== 'duplicates') twins += 1;
  }
  const withUserId = [...persons].filter(({ hasUserId }) => hasUserId).length;
  const least =
    people.identity === 'separate' ? humans.size + twins + others : Math.max(humans.size, withUserId + twins + others);
  return { least: accounts + least, most: accounts + persons.size + subjects + twins + others };
}

export function holdersText({ least, most }: CountRange): string {
  if (least !== most) return l10n.t('{0} to {1} holders', least, most);
  return least === 1 ? l10n.t('1 holder') : l10n.t('{0} holders', least);
}

function rangeDoubt(role: RoleEntry, range: CountRange): string {
  return l10n.t('{0} has {1}: user IDs and subjects may be the same people', roleText(role), holdersText(range));
}
