import * as l10n from '@vscode/l10n';
import {
  type AccessModel,
  type GroupEntry,
  isBeingDeleted,
  type Principal,
  type RoleEntry,
} from '../../access/model.ts';
import { groupName, roleName } from '../../access/queries.ts';
import { formatList, oneLine } from '../../base/text.ts';
import type { People } from '../people.ts';
import type { KeySchemas, SchemaVariant, Value } from '../schema.ts';

export type ListName = 'groups' | 'roles';

/** The subject of a finding. `aspect` distinguishes findings of one group: a tag, a kind of members. */
export type FindingSubject =
  | { readonly kind: 'principal'; readonly principals: readonly Principal[] }
  | { readonly kind: 'group'; readonly group: GroupEntry }
  | { readonly kind: 'role'; readonly role: RoleEntry }
  | { readonly kind: 'aspect'; readonly name: string };

/** A finding as the kind of its rule reports it. */
export interface FindingInput {
  readonly subjects: readonly FindingSubject[];
  /** Localized; without a full stop. */
  readonly message: string;
  /** The groups that give the roles, and the roles, besides the subjects. */
  readonly through?: readonly (GroupEntry | RoleEntry)[];
  /** The smallest and the largest possible number of holders. */
  readonly range?: CountRange;
}

export interface CountRange {
  readonly least: number;
  readonly most: number;
}

/** What a rule is evaluated with, and what takes the result. What the rule names has been found by then. */
export interface RuleContext {
  readonly model: AccessModel;
  readonly people: People;
  /** The rule as written. */
  readonly value: Value;
  /** In days since 1970, UTC. */
  readonly today: number;
  /** The entries that a key of the rule names, without repetitions. */
  groups(key: string): readonly GroupEntry[];
  roles(key: string): readonly RoleEntry[];
  principals(key: string): readonly Principal[];
  /** Calls `visit` with every group of the reading, after `evaluate`: it must not call `rejectRule`. */
  eachGroup(visit: (group: GroupEntry) => void): void;
  /** Whether the rule is about this member or group at all: its `kinds`, its `except`. */
  counts(entry: Principal | GroupEntry): boolean;
  text(key: string): string | undefined;
  texts(key: string): readonly string[];
  integer(key: string): number | undefined;
  /** The name for users, without email addresses if those are not wanted. */
  nameOf(principals: readonly Principal[]): string;
  addFinding(finding: FindingInput): void;
  /**
   * Prevents the rule from passing, for a reason in a localized sentence. @param isTwin for a reason about user IDs
   * that may repeat subjects.
   */
  markUndecided(reason: string, isTwin?: boolean): void;
  /** Rejects a rule that makes no sense as written: it is not evaluated. */
  rejectRule(key: string, message: string): void;
}

export interface RuleKind extends SchemaVariant {
  /** The subjects of its findings, which `except` and `for` can name. */
  readonly subjects: readonly ('principal' | 'group' | 'role')[];
  /** Other subjects that `except` can name. */
  readonly excepts?: 'principal' | 'group';
  /** The lists that it is judged by; names of roles need their list too. */
  readonly needs: (value: Value) => readonly ListName[];
  /**
   * Lists in which a missing item could only satisfy the rule: where one is incomplete, findings are uncertain, and a
   * pass stands.
   */
  readonly turned?: readonly ListName[];
  /** Whether members who are listed twice matter. */
  readonly isAboutHolders?: boolean;
  /** Whether only the metadata of groups and roles matters, not what they list. */
  readonly isAboutMetadata?: boolean;
  readonly evaluate: (context: RuleContext) => void;
}

export type RuleKinds = Readonly<Record<string, RuleKind>>;
export const defineKeys = (all: KeySchemas): KeySchemas => all;

/** The most names in one message; the rest is in the tree. */
const MAX_NAMES = 4;

/**
 * Fills a localized sentence. For sentences that are filled thousands of times, because `l10n.t` parses the sentence
 * each time.
 */
export function messageFiller(sentence: string): (...values: readonly string[]) => string {
  const parts = sentence.split(/\{(\d)\}/).map((part, at) => (at % 2 === 0 ? part : Number(part)));
  return (...values) => {
    const filled = [...parts];
    for (let at = 1; at < filled.length; at += 2) filled[at] = values[Number(filled[at])] ?? '';
    return filled.join('');
  };
}

export function groupText(entry: GroupEntry): string {
  const name = oneLine(groupName(entry));
  return isBeingDeleted(entry.group.metadata) ? l10n.t('{0} (being deleted)', name) : name;
}

export function roleText(entry: RoleEntry): string {
  return oneLine(roleName(entry));
}

export function groupsText(groups: readonly GroupEntry[]): string {
  return listText(groups, groupText);
}

export function rolesText(roles: readonly RoleEntry[]): string {
  return listText(roles, roleText);
}

export function listText<T>(all: readonly T[], nameOf: (one: T) => string): string {
  const names = all.slice(0, MAX_NAMES).map(nameOf);
  if (all.length > MAX_NAMES) return l10n.t('{0} and {1} more', names.join(', '), all.length - MAX_NAMES);
  return formatList(names);
}
