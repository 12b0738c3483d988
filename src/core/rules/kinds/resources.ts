import * as l10n from '@vscode/l10n';
import type { AccessGroup, AccessMetadata } from '../../access/model.ts';
import { attentionOf, type GroupEntry, isBeingDeleted, type RoleEntry } from '../../access/model.ts';
import { anyGlobTest } from '../globs.ts';
import { type KeySchema, textOf, type Value } from '../schema.ts';
import {
  defineKeys,
  type FindingSubject,
  groupText,
  type ListName,
  messageFiller,
  type RuleContext,
  type RuleKinds,
  roleText,
} from './kind.ts';

const of: KeySchema = {
  schema: { type: 'choice', of: ['groups', 'roles'] },
  isRequired: true,
  about: () => l10n.t('What the rule applies to: groups or roles.'),
};
/** The number of days after which a deletion counts as stuck. */
const DAYS = 7;

/** Rules about the names, tags and states of groups and roles. */
export const resourceKinds: RuleKinds = {
  naming: {
    about: () => l10n.t('Every name matches one of these patterns.'),
    keys: defineKeys({
      of,
      match: {
        schema: { type: 'list', of: { type: 'text', isPattern: true } },
        isRequired: true,
        about: () => l10n.t('Patterns: * matches any characters, ? matches one. Case-sensitive.'),
      },
    }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    evaluate(context) {
      const patterns = context.texts('match');
      const fits = anyGlobTest(patterns);
      eachResource(context, (metadata, resource) => {
        if (isBeingDeleted(metadata) || fits(metadata.name)) return;
        context.addFinding({
          subjects: [subjectOf(resource)],
          message: l10n.t('The name {0} matches none of these patterns: {1}', nameOf(resource), patterns.join(', ')),
        });
      });
    },
  },
  'required-tags': {
    about: () => l10n.t('Every group has these tags, with a value.'),
    keys: defineKeys({
      tags: {
        schema: { type: 'list', of: { type: 'text' } },
        isRequired: true,
        about: () => l10n.t('The names of the tags.'),
      },
    }),
    subjects: ['group'],
    needs: () => ['groups'],
    isAboutMetadata: true,
    evaluate(context) {
      const tags = context.texts('tags').map((name) => ({ kind: 'aspect', name }) as const);
      const message = messageFiller(l10n.t('{0} has no tag {1}'));
      context.eachGroup((group) => {
        const { metadata } = group.group;
        if (isBeingDeleted(metadata)) return;
        for (const wanted of tags) {
          if (hasTag(metadata, wanted.name)) continue;
          context.addFinding({
            subjects: [{ kind: 'group', group }, wanted],
            message: message(groupText(group), wanted.name),
          });
        }
      });
    },
  },
  'no-unhealthy': {
    about: () => l10n.t('Nothing is degraded or in error.'),
    keys: defineKeys({ of }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    evaluate(context) {
      eachResource(context, (metadata, resource) => {
        const attention = attentionOf(metadata);
        if (attention === undefined) return;
        const message =
          attention === 'error'
            ? l10n.t('{0} is in error', nameOf(resource))
            : l10n.t('{0} is degraded', nameOf(resource));
        context.addFinding({ subjects: [subjectOf(resource)], message });
      });
    },
  },
  'no-stuck-deletion': {
    about: () => l10n.t('No deletion takes more than "days" days.'),
    keys: defineKeys({
      of,
      days: {
        schema: { type: 'integer', least: 0 },
        about: () => l10n.t('How many days a deletion can take. Default: 7.'),
      },
    }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    evaluate(context) {
      const days = context.integer('days') ?? DAYS;
      eachResource(context, (metadata, resource) => {
        if (!isBeingDeleted(metadata)) return;
        const since = Math.floor(Date.parse(metadata.deletionTime ?? '') / 86_400_000);
        if (Number.isNaN(since))
          context.markUndecided(l10n.t('It is not known when the deletion of {0} began', nameOf(resource)));
        else if (context.today - since > days)
          context.addFinding({
            subjects: [subjectOf(resource)],
            message: l10n.t('The deletion of {0} began {1} days ago', nameOf(resource), context.today - since),
          });
      });
    },
  },
};

function listOf(value: Value): readonly ListName[] {
  return textOf(value, 'of') === 'roles' ? ['roles'] : ['groups'];
}

function hasTag({ tags }: AccessGroup['metadata'], wanted: string): boolean {
  // A callback would be created anew for each group.
  for (const { name, value } of tags) if (name === wanted && value !== '') return true;
  return false;
}

type Resource = GroupEntry | RoleEntry;

/** Calls `visit` with every group, or every role that is listed. */
function eachResource(context: RuleContext, visit: (metadata: AccessMetadata, resource: Resource) => void): void {
  if (textOf(context.value, 'of') === 'groups') context.eachGroup((entry) => visit(entry.group.metadata, entry));
  else for (const entry of context.model.roles) if (entry.role) visit(entry.role.metadata, entry);
}

function subjectOf(resource: Resource): FindingSubject {
  return 'group' in resource ? { kind: 'group', group: resource } : { kind: 'role', role: resource };
}

function nameOf(resource: Resource): string {
  return 'group' in resource ? groupText(resource) : roleText(resource);
}
