import * as l10n from '@vscode/l10n';
import { isMap, isSeq } from 'yaml';
import type { TextRange } from '../base/errors.ts';
import { grantKinds } from './kinds/grants.ts';
import { holderKinds, personSchema } from './kinds/holders.ts';
import type { RuleKind, RuleKinds } from './kinds/kind.ts';
import { resourceKinds } from './kinds/resources.ts';
import { USER_ID_RELATIONS, type UserIdRelation } from './people.ts';
import {
  type DocumentSchema,
  documentSchema,
  type FileProblem,
  itemsOf,
  type KeySchemas,
  placeOf,
  problem,
  readDocument,
  readValue,
  type Schema,
  textOf,
  type Value,
} from './schema.ts';

export const ACCESS_FILE_FORMAT = 'rolecall.access-rules';
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Every kind of rule: what it says, its keys and how it is judged. Reading, completion, hover, the schema and the docs come from here. */
export const RULE_KINDS: RuleKinds = { ...holderKinds, ...grantKinds, ...resourceKinds };

export function ruleKindOf(name: string | undefined): RuleKind | undefined {
  return name !== undefined && Object.hasOwn(RULE_KINDS, name) ? RULE_KINDS[name] : undefined;
}

const boolean: Schema = { type: 'choice', of: ['true', 'false'] };
const groupSchema: Schema = {
  type: 'record',
  keys: {
    name: {
      schema: { type: 'text', refers: 'group', canBeEmpty: true },
      about: () => l10n.t('The name of the group.'),
    },
    id: {
      schema: { type: 'text' },
      about: () => l10n.t('The ID of the group. It stays the same when the group is renamed.'),
    },
    roles: {
      schema: { type: 'list', of: { type: 'text', refers: 'role', permits: true } },
      about: () => l10n.t('All roles of the group. [] means none. If not set, roles are not compared.'),
    },
    members: {
      schema: { type: 'list', of: personSchema(true) },
      about: () => l10n.t('All people in the group. [] means nobody. If not set, people are not compared.'),
    },
    serviceAccounts: {
      schema: { type: 'list', of: { type: 'text', refers: 'serviceAccount', canBeEmpty: true } },
      about: () =>
        l10n.t(
          'The IDs of all service accounts in the group. [] means none. If not set, service accounts are not compared.',
        ),
    },
  },
};

const waiverKeys: KeySchemas = {
  rule: { schema: { type: 'text', refers: 'rule' }, isRequired: true, about: () => l10n.t('The ID of the rule.') },
  for: {
    schema: { ...personSchema(true), text: { type: 'text', refers: 'subject', permits: true } } as Schema,
    isRequired: true,
    about: () => l10n.t('What the finding is about: a person, group:NAME or role:NAME, or all.'),
  },
  owner: { schema: personSchema(true), isRequired: true, about: () => l10n.t('Who is responsible for the waiver.') },
  reason: {
    schema: { type: 'text' },
    isRequired: true,
    about: () => l10n.t('Why the finding is accepted, for example a ticket.'),
  },
  until: {
    schema: { type: 'date' },
    isRequired: true,
    about: () => l10n.t('The last day on which the waiver applies, in UTC.'),
  },
  upTo: {
    schema: { type: 'integer', least: 0 },
    about: () =>
      l10n.t('How many holders are accepted. Required for rules of the kind max-holders, and only allowed there.'),
  },
};

const ruleKeys: KeySchemas = {
  id: {
    schema: { type: 'text' },
    isRequired: true,
    about: () => l10n.t('Identifies the rule in findings and waivers.'),
  },
  kind: {
    schema: { type: 'choice', of: Object.keys(RULE_KINDS) },
    isRequired: true,
    about: () => l10n.t('What the rule requires.'),
  },
  why: { schema: { type: 'text' }, about: () => l10n.t('Why the rule exists.') },
  severity: {
    schema: { type: 'choice', of: [...SEVERITIES] },
    about: () => l10n.t('error, warning (the default) or info, which does not affect the verdict.'),
  },
  enabled: { schema: boolean, about: () => l10n.t('false turns the rule off.') },
  except: {
    schema: {
      type: 'list',
      of: { ...personSchema(true), text: { type: 'text', refers: 'subject', permits: true } } as Schema,
    },
    about: () => l10n.t('What the rule does not apply to: people, group:NAME or role:NAME.'),
  },
};

const ruleSchema: Schema = { type: 'variants', by: 'kind', keys: ruleKeys, of: RULE_KINDS };
const waiverSchema: Schema = { type: 'record', keys: waiverKeys };

/** What a file of access rules can hold. */
export const ACCESS_FILE_SCHEMA: DocumentSchema = documentSchema(
  ACCESS_FILE_FORMAT,
  () => l10n.t('The ID of the organization that the file is about.'),
  {
    identity: {
      schema: {
        type: 'record',
        keys: {
          userIds: {
            schema: { type: 'choice', of: [...USER_ID_RELATIONS] },
            isRequired: true,
            about: () =>
              l10n.t(
                'Whether user IDs in a group repeat its subjects: duplicates, separate, or unknown (the default).',
              ),
          },
        },
      },
      about: () => l10n.t('Which entries belong to the same person.'),
    },
    people: {
      schema: {
        type: 'list',
        of: {
          type: 'record',
          keys: {
            name: {
              schema: { type: 'text' },
              isRequired: true,
              about: () => l10n.t('The name of the person in this file.'),
            },
            is: {
              schema: { type: 'list', of: personSchema(true) },
              isRequired: true,
              about: () => l10n.t('All entries of the person: an email address, user:ID, subject:ID.'),
            },
          },
        },
      },
      about: () => l10n.t('People with several entries, each under a name for use in this file.'),
    },
    rules: { schema: { type: 'list', of: ruleSchema }, about: () => l10n.t('The rules to check.') },
    declared: {
      schema: {
        type: 'record',
        keys: {
          complete: { schema: boolean, about: () => l10n.t('If true, a group that is not declared is drift.') },
          groups: {
            schema: { type: 'list', of: groupSchema },
            isRequired: true,
            about: () => l10n.t('The declared groups.'),
          },
        },
      },
      about: () => l10n.t('How access should be. Any difference, in either direction, is drift.'),
    },
    waivers: {
      schema: { type: 'list', of: waiverSchema },
      about: () => l10n.t('Findings that are accepted for a limited time.'),
    },
  },
);

export interface Rule {
  readonly id: string;
  readonly kind: string;
  readonly severity: Severity;
  readonly isEnabled: boolean;
  readonly why: string | undefined;
  /** The place of its ID, where its findings are shown. */
  readonly place: TextRange;
  readonly value: Value;
  /** Why it cannot be judged: the first problem inside; localized. */
  readonly mistake: string | undefined;
}

export interface PersonEntry {
  readonly name: string;
  readonly place: TextRange;
  readonly is: readonly Value[];
}

/** A waiver with all its keys. An incomplete one does not apply. */
export interface Waiver {
  readonly rule: string;
  readonly for: Value;
  readonly owner: Value;
  readonly reason: string;
  /** The last day, in days since 1970 UTC. */
  readonly until: number;
  readonly upTo: number | undefined;
  readonly value: Value;
}

export interface Declaration {
  readonly isComplete: boolean;
  /** The place of the key `complete`, or of `declared`. */
  readonly place: TextRange;
  readonly groups: readonly Value[];
  /** The first problem inside; localized. */
  readonly mistake: string | undefined;
}

export interface AccessFile {
  readonly text: string;
  /** The whole content as read, with its places. */
  readonly value: Value;
  readonly organization: string | undefined;
  readonly identity: UserIdRelation;
  readonly people: readonly PersonEntry[];
  readonly rules: readonly Rule[];
  readonly declared: Declaration | undefined;
  readonly waivers: readonly Waiver[];
  /** In the order of the text. */
  readonly problems: readonly FileProblem[];
  /** False where nothing can be judged: a mistake in the syntax, the format, the version or the organization. */
  readonly isReadable: boolean;
  /** False where there is a mistake at the top, so that something may be missing. */
  readonly isWhole: boolean;
  /** False where it is unknown who is who. */
  readonly arePeopleSound: boolean;
}

/** Reads as much of a file of access rules as possible, and reports every mistake. Never throws. */
export function readAccessFile(text: string): AccessFile {
  const { document, value, problems, top, isSyntaxSound, isReadable } = readDocument(text, SHAPE_WITHOUT_WAIVERS);
  const report = (one: FileProblem) => problems.push(one);
  const contents = document?.contents;
  const waivers = isMap(contents) ? contents.get('waivers') : undefined;
  const sound = (key: string) => value.fields?.get(key)?.value.isSound !== false;
  const people = readPeople(value, report);
  const listed = new Set(['rules', 'declared', 'waivers', 'people', 'identity']);
  const fields = [...(value.fields ?? [])];
  const file: AccessFile = {
    text,
    value,
    organization: textOf(value, 'organization'),
    identity:
      USER_ID_RELATIONS.find((one) => one === textOf(value.fields?.get('identity')?.value, 'userIds')) ?? 'unknown',
    people: people.entries,
    rules: readRules(value, problems),
    declared: readDeclaration(value, problems),
    waivers: readWaivers(isSyntaxSound ? waivers : undefined, report, top),
    problems,
    isReadable,
    isWhole:
      isSyntaxSound &&
      isMap(contents) &&
      contents.items.length === fields.length &&
      fields.every(
        ([key, { value: one }]) => one.isSound || (listed.has(key) && one.items !== undefined) || key === 'declared',
      ),
    arePeopleSound: sound('identity') && sound('people') && people.isSound,
  };
  problems.sort((one, other) => one.start - other.start);
  return file;
}

/** The first error at a place and inside it, so that it has the same words everywhere. */
export function firstErrorIn(problems: readonly FileProblem[], place: TextRange): string | undefined {
  return problems.find(({ start, severity }) => severity === 'error' && place.start <= start && start <= place.end)
    ?.message;
}

/** Waivers are read separately: a wrong one does not apply, and affects nothing else. */
const SHAPE_WITHOUT_WAIVERS: DocumentSchema = {
  type: 'record',
  keys: {
    ...ACCESS_FILE_SCHEMA.keys,
    waivers: { schema: { type: 'anything' }, about: () => '' },
  },
};

function readPeople(
  value: Value,
  report: (problem: FileProblem) => void,
): { readonly entries: readonly PersonEntry[]; readonly isSound: boolean } {
  const entries: PersonEntry[] = [];
  let isSound = true;
  for (const item of itemsOf(value, 'people')) {
    const field = item.fields?.get('name');
    const name = field?.value.text;
    if (field === undefined || name === undefined) continue;
    const message = mistakeInName(name, entries);
    if (message === undefined) entries.push({ name, place: field.value, is: itemsOf(item, 'is') });
    else {
      report(problem('bad-value', field.value, message));
      isSound = false;
    }
  }
  return { entries, isSound };
}

/** A name must not look like another reference. */
function mistakeInName(name: string, before: readonly PersonEntry[]): string | undefined {
  if (before.some((entry) => entry.name === name)) return l10n.t('The name "{0}" is used twice.', name);
  if (/[@*?]|^(?:user|serviceAccount|subject|group|role|id):|^all$/.test(name))
    return l10n.t(
      '"{0}" could be confused with another kind of reference. Use a name without @, *, ? or a prefix.',
      name,
    );
  return undefined;
}

function readRules(value: Value, problems: FileProblem[]): readonly Rule[] {
  // Findings of the declaration have that name.
  const ids = new Set(['declared']);
  return itemsOf(value, 'rules').map((item) => {
    const field = item.fields?.get('id');
    const id = field?.value.text ?? '';
    const isRepeated = ids.has(id);
    if (id !== '') ids.add(id);
    if (isRepeated && field)
      problems.push(problem('repeated-id', field.value, l10n.t('Another rule has the ID "{0}".', id)));
    const kind = textOf(item, 'kind') ?? '';
    const place = field?.value ?? item.fields?.values().next().value?.key ?? { start: item.start, end: item.start + 1 };
    return {
      id,
      kind,
      severity: SEVERITIES.find((one) => one === textOf(item, 'severity')) ?? 'warning',
      isEnabled: textOf(item, 'enabled') !== 'false',
      why: textOf(item, 'why'),
      place: { start: place.start, end: place.end },
      value: item,
      mistake: firstErrorIn(problems, item) ?? (item.isSound ? undefined : l10n.t('The rule has an error.')),
    };
  });
}

function readDeclaration(value: Value, problems: readonly FileProblem[]): Declaration | undefined {
  const field = value.fields?.get('declared');
  if (field === undefined) return undefined;
  const { value: declared } = field;
  return {
    isComplete: textOf(declared, 'complete') === 'true',
    place: declared.fields?.get('complete')?.key ?? field.key,
    groups: itemsOf(declared, 'groups'),
    mistake:
      firstErrorIn(problems, declared) ?? (declared.isSound ? undefined : l10n.t('The declaration has an error.')),
  };
}

function readWaivers(node: unknown, report: (problem: FileProblem) => void, top: TextRange): readonly Waiver[] {
  if (node === undefined) return [];
  const warn = (one: FileProblem) => report({ ...one, severity: 'warning' });
  if (!isSeq(node)) {
    warn(problem('bad-value', placeOf(node) ?? top, l10n.t('Expected a list.')));
    return [];
  }
  return node.items.flatMap((item) => {
    const value = readValue(item, waiverSchema, warn, placeOf(node) ?? top);
    const field = (key: string) => value.fields?.get(key)?.value;
    const [whom, owner, until] = [field('for'), field('owner'), textOf(value, 'until')];
    if (!value.isSound || !whom || !owner) return [];
    const upTo = textOf(value, 'upTo');
    return {
      rule: textOf(value, 'rule') ?? '',
      for: whom,
      owner,
      reason: textOf(value, 'reason') ?? '',
      until: Math.round(Date.parse(`${until}T00:00:00Z`) / 86_400_000),
      upTo: upTo === undefined ? undefined : Number(upTo),
      value,
    };
  });
}
