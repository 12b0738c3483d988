import * as l10n from '@vscode/l10n';
import { attentionOf, type GroupEntry, isBeingDeleted, type RoleEntry } from '../../access/model.ts';
import type { AccessMetadata } from '../../access/resources.ts';
import { globFits } from '../nearest.ts';
import { type Key, textOf, type Value } from '../shape.ts';
import { type Kinds, keys, type List, type Subject, type Trial } from './kind.ts';
import { groupText, roleText } from './words.ts';

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
        shape: { type: 'list', of: { type: 'text' } },
        isRequired: true,
        about: () => l10n.t('Patterns: * is any characters, ? is one. Upper and lower case differ.'),
      },
    }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    judge(trial) {
      const patterns = trial.texts('match');
      for (const { subject, metadata, text } of resourcesOf(trial)) {
        if (isBeingDeleted(metadata) || patterns.some((pattern) => globFits(pattern, metadata.name))) continue;
        trial.find({
          subjects: [subject],
          message: l10n.t('The name {0} fits none of: {1}', text(), patterns.join(', ')),
        });
      }
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
      for (const group of trial.model.groups) {
        const { metadata } = group.group;
        if (isBeingDeleted(metadata)) continue;
        for (const wanted of trial.texts('tags')) {
          if (metadata.tags.some(({ name, value }) => name === wanted && value !== '')) continue;
          const message = l10n.t('{0} has no tag {1}', groupText(group), wanted);
          trial.find({
            subjects: [
              { kind: 'group', group },
              { kind: 'aspect', name: wanted },
            ],
            message,
            through: [group],
          });
        }
      }
    },
  },
  'no-unhealthy': {
    about: () => l10n.t('Nothing is degraded or in error.'),
    keys: keys({ of }),
    subjects: ['group', 'role'],
    needs: listOf,
    isAboutMetadata: true,
    judge(trial) {
      for (const { subject, metadata, text } of resourcesOf(trial)) {
        const attention = attentionOf(metadata);
        if (attention === undefined) continue;
        const message = attention === 'error' ? l10n.t('{0} is in error', text()) : l10n.t('{0} is degraded', text());
        trial.find({ subjects: [subject], message });
      }
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
      for (const { subject, metadata, text } of resourcesOf(trial)) {
        if (!isBeingDeleted(metadata)) continue;
        const since = Math.floor(Date.parse(metadata.deletionTime ?? '') / 86_400_000);
        if (Number.isNaN(since)) trial.doubt(l10n.t('It is not known since when {0} is being deleted', text()));
        else if (trial.today - since > days)
          trial.find({
            subjects: [subject],
            message: l10n.t('{0} has been in deletion for {1} days', text(), trial.today - since),
          });
      }
    },
  },
};

function listOf(value: Value): readonly List[] {
  return textOf(value, 'of') === 'roles' ? ['roles'] : ['groups'];
}

interface Resource {
  readonly subject: Subject;
  readonly metadata: AccessMetadata;
  readonly text: () => string;
}

function* resourcesOf({ value, model }: Trial): Generator<Resource> {
  if (textOf(value, 'of') === 'roles') {
    for (const role of model.roles) if (role.role) yield ofRole(role, role.role.metadata);
  } else for (const group of model.groups) yield ofGroup(group);
}

function ofGroup(group: GroupEntry): Resource {
  return { subject: { kind: 'group', group }, metadata: group.group.metadata, text: () => groupText(group) };
}

function ofRole(role: RoleEntry, metadata: AccessMetadata): Resource {
  return { subject: { kind: 'role', role }, metadata, text: () => roleText(role) };
}
