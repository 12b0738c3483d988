import * as l10n from '@vscode/l10n';
import { kindName, roleCountText } from '../../access/descriptions.ts';
import { type GroupEntry, isBeingDeleted, PRINCIPAL_KINDS, type PrincipalKind } from '../../access/model.ts';
import { hasNoMembers, hasNoRoles } from '../../access/queries.ts';
import { EntrySet } from '../references.ts';
import type { KeySchema } from '../schema.ts';
import { defineKeys, groupsText, groupText, messageFiller, type RuleKinds, roleText } from './kind.ts';

const groups = (permits: boolean, about: () => string): KeySchema => ({
  schema: { type: 'list', of: { type: 'text', refers: 'group', permits } },
  isRequired: true,
  about,
});

/** Rules about which group has which roles and which kinds of members. */
export const grantKinds: RuleKinds = {
  'only-through': {
    about: () => l10n.t('Only these groups have the role, with or without members.'),
    keys: defineKeys({
      role: {
        schema: { type: 'text', refers: 'role' },
        isRequired: true,
        about: () => l10n.t('The name of the role, or `id:` followed by its ID.'),
      },
      groups: groups(true, () => l10n.t('The groups that can have it. [] means none.')),
    }),
    subjects: ['group'],
    needs: () => ['groups'],
    evaluate(context) {
      const named = context.groups('groups');
      const allowed = EntrySet.of(context.model.groups, named);
      const sentence =
        named.length === 0
          ? l10n.t('The group {0} has {1}, but no group is allowed to have it')
          : l10n.t('The group {0} has {1}, but only {2} may have it');
      const message = messageFiller(sentence);
      const names = groupsText(named);
      for (const role of context.roles('role')) {
        for (const group of role.groups) {
          if (allowed.has(group)) continue;
          context.addFinding({
            subjects: [
              { kind: 'group', group },
              { kind: 'aspect', name: role.id },
            ],
            message: message(groupText(group), roleText(role), names),
            through: [role],
          });
        }
      }
    },
  },
  'service-accounts-only-in': {
    about: () => l10n.t('Service accounts are only in these groups.'),
    keys: defineKeys({ groups: groups(true, () => l10n.t('The groups that can have service accounts. [] is none.')) }),
    subjects: ['principal'],
    excepts: 'group',
    needs: () => ['groups'],
    evaluate(context) {
      const allowed = EntrySet.of(context.model.groups, context.groups('groups'));
      for (const principal of context.model.principals) {
        if (principal.kind !== 'serviceAccount') continue;
        const others = principal.groups.filter((group) => !allowed.has(group) && context.counts(group));
        if (others.length === 0) continue;
        context.addFinding({
          subjects: [{ kind: 'principal', principals: [principal] }],
          message: l10n.t('Service account {0} is in {1}', context.nameOf([principal]), groupsText(others)),
          through: others,
        });
      }
    },
  },
  'member-kinds': {
    about: () => l10n.t('The groups have only these kinds of members. Without "user", they have no user IDs.'),
    keys: defineKeys({
      groups: groups(false, () => l10n.t('The groups: names, id: and then an ID, or patterns with * and ?.')),
      allow: {
        schema: { type: 'list', of: { type: 'choice', of: [...PRINCIPAL_KINDS] } },
        isRequired: true,
        about: () => l10n.t('The kinds of members they can have: subject, user, serviceAccount.'),
      },
    }),
    subjects: ['group'],
    needs: () => ['groups'],
    evaluate(context) {
      const allowed = new Set(context.texts('allow'));
      const others = PRINCIPAL_KINDS.filter((kind) => !allowed.has(kind));
      const named = EntrySet.of(context.model.groups, context.groups('groups'));
      context.eachGroup((group) => {
        if (!named.has(group)) return;
        for (const kind of others) {
          if (!hasKind(group, kind)) continue;
          const message = l10n.t('{0} has members of the kind {1}', groupText(group), kindName(kind));
          context.addFinding({
            subjects: [
              { kind: 'group', group },
              { kind: 'aspect', name: kind },
            ],
            message,
          });
        }
      });
    },
  },
  'no-empty-groups': {
    about: () => l10n.t('Every group has members. Service accounts count as members.'),
    keys: {},
    subjects: ['group'],
    needs: () => ['groups'],
    evaluate(context) {
      context.eachGroup((group) => {
        if (!hasNoMembers(group) || isBeingDeleted(group.group.metadata)) return;
        const message = hasNoRoles(group)
          ? l10n.t('{0} has no members and no roles', groupText(group))
          : l10n.t('{0} has no members, but {1}', groupText(group), roleCountText(group.roles.length));
        context.addFinding({ subjects: [{ kind: 'group', group }], message });
      });
    },
  },
  'no-groups-without-roles': {
    about: () => l10n.t('Every group has a role.'),
    keys: {},
    subjects: ['group'],
    needs: () => ['groups'],
    evaluate(context) {
      context.eachGroup((group) => {
        if (!hasNoRoles(group) || isBeingDeleted(group.group.metadata)) return;
        const message = l10n.t('{0} has no roles', groupText(group));
        context.addFinding({ subjects: [{ kind: 'group', group }], message });
      });
    },
  },
  'no-unlisted-roles': {
    about: () => l10n.t('Groups have only roles that the service lists.'),
    keys: {},
    subjects: ['role'],
    needs: () => ['groups', 'roles'],
    turned: ['roles'],
    evaluate(context) {
      for (const role of context.model.roles) {
        if (role.role !== undefined) continue;
        const by = groupsText(role.groups);
        const message = l10n.t('{0} is not listed by the service, but these groups have it: {1}', roleText(role), by);
        context.addFinding({ subjects: [{ kind: 'role', role }], message, through: role.groups });
      }
    },
  },
  'no-unused-roles': {
    about: () => l10n.t('Every role is used by at least one group.'),
    keys: {},
    subjects: ['role'],
    needs: () => ['groups', 'roles'],
    turned: ['groups'],
    evaluate(context) {
      for (const role of context.model.roles) {
        if (role.groups.length > 0 || role.key !== role.id) continue;
        const message = l10n.t('No group has {0}', roleText(role));
        context.addFinding({ subjects: [{ kind: 'role', role }], message });
      }
    },
  },
};

function hasKind({ group: { spec } }: GroupEntry, kind: PrincipalKind): boolean {
  switch (kind) {
    case 'subject':
      return spec.subjects.length > 0;
    case 'user':
      return spec.userIDs.length > 0;
    case 'serviceAccount':
      return (spec.serviceAccountIDs?.length ?? 0) > 0;
  }
}
