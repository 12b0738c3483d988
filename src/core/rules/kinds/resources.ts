import * as l10n from '@vscode/l10n';
import type { AccessGroup, AccessMetadata } from '../../access/model.ts';
import { attentionOf, type GroupEntry, isBeingDeleted, type RoleEntry } from '../../access/model.ts';
import { anyGlobTest } from '../globs.ts';
import { type Key, textOf, type Value } from '../shape.ts';
import { type FindingSubject, filler, groupText, type Kinds, keys, type List, roleText, type Trial } from './kind.ts';

const of: Key = {
  shape: { type: 'choice', of: ['groups', 'roles'] },
  isRequired: true,
  about: () => l10n.t('What the rule is about: groups or roles.'),
};
/** After so many days a deletion counts as stuck. */
const DAYS = 7;

/** Rules about how groups and roles are called, tagged and doing. */
export const resourceKinds: Kinds = {
  naming: {
    about: () => l10n.t('Every name fits one of these patterns.'),
    keys: keys({
      of,
      match: {
        shape: { type: 'list', of: { type: 'text', isPattern: true } },
        isRequired: true,
        about: () => l10n.t('Patterns: * is any characters, ? is one. Upper and lower case differ.'),
      },
    }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    judge(trial) {
      const patterns = trial.texts('match');
      const fits = anyGlobTest(patterns);
      eachResource(trial, (metadata, resource) => {
        if (isBeingDeleted(metadata) || fits(metadata.name)) return;
        trial.find({
          subjects: [subjectOf(resource)],
          message: l10n.t('The name {0} fits none of: {1}', nameOf(resource), patterns.join(', ')),
        });
      });
    },
  },
  'required-tags': {
    about: () => l10n.t('Every group has these tags, with a value.'),
    keys: keys({
      tags: {
        shape: { type: 'list', of: { type: 'text' } },
        isRequired: true,
        about: () => l10n.t('The names of the tags.'),
      },
    }),
    subjects: ['group'],
    needs: () => ['groups'],
    isAboutMetadata: true,
    judge(trial) {
      const tags = trial.texts('tags').map((name) => ({ kind: 'aspect', name }) as const);
      const message = filler(l10n.t('{0} has no tag {1}'));
      trial.eachGroup((group) => {
        const { metadata } = group.group;
        if (isBeingDeleted(metadata)) return;
        for (const wanted of tags) {
          if (hasTag(metadata, wanted.name)) continue;
          trial.find({ subjects: [{ kind: 'group', group }, wanted], message: message(groupText(group), wanted.name) });
        }
      });
    },
  },
  'no-unhealthy': {
    about: () => l10n.t('Nothing is degraded or in error.'),
    keys: keys({ of }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    judge(trial) {
      eachResource(trial, (metadata, resource) => {
        const attention = attentionOf(metadata);
        if (attention === undefined) return;
        const message =
          attention === 'error'
            ? l10n.t('{0} is in error', nameOf(resource))
            : l10n.t('{0} is degraded', nameOf(resource));
        trial.find({ subjects: [subjectOf(resource)], message });
      });
    },
  },
  'no-stuck-deletion': {
    about: () => l10n.t('Nothing stays in deletion for more than "days" days.'),
    keys: keys({
      of,
      days: {
        shape: { type: 'integer', least: 0 },
        about: () => l10n.t('How many days a deletion can take: 7 unless given.'),
      },
    }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    judge(trial) {
      const days = trial.integer('days') ?? DAYS;
      eachResource(trial, (metadata, resource) => {
        if (!isBeingDeleted(metadata)) return;
        const since = Math.floor(Date.parse(metadata.deletionTime ?? '') / 86_400_000);
        if (Number.isNaN(since))
          trial.doubt(l10n.t('It is not known since when {0} is being deleted', nameOf(resource)));
        else if (trial.today - since > days)
          trial.find({
            subjects: [subjectOf(resource)],
            message: l10n.t('{0} has been in deletion for {1} days', nameOf(resource), trial.today - since),
          });
      });
    },
  },
};

function listOf(value: Value): readonly List[] {
  return textOf(value, 'of') === 'roles' ? ['roles'] : ['groups'];
}

function hasTag({ tags }: AccessGroup['metadata'], wanted: string): boolean {
  // A callback would be made anew for each group.
  for (const { name, value } of tags) if (name === wanted && value !== '') return true;
  return false;
}

type Resource = GroupEntry | RoleEntry;

/** Calls `visit` with every group, or every role that is listed. */
function eachResource(trial: Trial, visit: (metadata: AccessMetadata, resource: Resource) => void): void {
  if (textOf(trial.value, 'of') === 'groups') trial.eachGroup((entry) => visit(entry.group.metadata, entry));
  else for (const entry of trial.model.roles) if (entry.role) visit(entry.role.metadata, entry);
}

function subjectOf(resource: Resource): FindingSubject {
  return 'group' in resource ? { kind: 'group', group: resource } : { kind: 'role', role: resource };
}

function nameOf(resource: Resource): string {
  return 'group' in resource ? groupText(resource) : roleText(resource);
}
