import { createHash } from 'node:crypto';
import type { GroupEntry, Principal, RoleEntry } from '../access/model.ts';
import type { TextRange } from '../base/errors.ts';
import { compareText } from '../base/text.ts';
import type { Severity, Waiver } from './accessFile.ts';
import type { CountRange, FindingSubject } from './kinds/kind.ts';

/** A finding of a rule or of the declaration. */
export interface Finding {
  /** The ID of the rule; `declared` for drift. */
  readonly rule: string;
  /** The kind of the rule, or of the difference: `missing-member` and so on. */
  readonly kind: string;
  readonly severity: Severity;
  /** The place of the rule's ID, or of the declaration's item: a few words, never a block. */
  readonly place: TextRange;
  /** Localized, without a full stop. */
  readonly message: string;
  readonly subjects: readonly FindingSubject[];
  /** The groups and roles that lead to it. */
  readonly through: readonly (GroupEntry | RoleEntry)[];
  readonly range?: CountRange | undefined;
  readonly waiver?: Waiver;
  /** A waiver that applied until it expired. */
  readonly lapsed?: Waiver;
  /** When the data behind it was read, if that could not be read again since. */
  readonly staleSince?: number | undefined;
}

/**
 * Identifies a finding by its rule and subjects. It contains no names, lines or counts, so that it survives renames and
 * edits.
 */
export function fingerprintOf({ rule, kind, subjects }: Pick<Finding, 'rule' | 'kind' | 'subjects'>): string {
  const keys = subjects.map((subject) => [subject.kind, ...keysOf(subject)]);
  return createHash('sha256')
    .update(JSON.stringify([rule, kind, keys]))
    .digest('hex')
    .slice(0, 32);
}

/** Sorted by message, then by fingerprint. */
export function sortedFindings(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted(inOrder);
}

/** The first findings in that order. Of thousands, an editor shows a few: the rest is not sorted. */
export function firstFindings(findings: readonly Finding[], most: number): readonly Finding[] {
  const first: Finding[] = [];
  for (const finding of findings) {
    const last = first.at(-1);
    if (last && first.length === most && inOrder(last, finding) <= 0) continue;
    const before = first.findIndex((other) => inOrder(finding, other) < 0);
    first.splice(before < 0 ? first.length : before, 0, finding);
    if (first.length > most) first.pop();
  }
  return first;
}

function inOrder(one: Finding, other: Finding): number {
  return compareText(one.message, other.message) || compareText(fingerprintOf(one), fingerprintOf(other));
}

function keysOf(subject: FindingSubject): readonly string[] {
  switch (subject.kind) {
    case 'principal':
      return subject.principals.map(({ key }) => key).sort(compareText);
    case 'group':
      return [subject.group.key];
    case 'role':
      return [subject.role.key];
    case 'aspect':
      return [subject.name];
  }
}

export function principalsOf(finding: Pick<Finding, 'subjects'>): readonly Principal[] {
  return finding.subjects.flatMap((subject) => (subject.kind === 'principal' ? subject.principals : []));
}

export function groupsOf({ subjects, through }: Pick<Finding, 'subjects' | 'through'>): readonly GroupEntry[] {
  const direct = subjects.flatMap((subject) => (subject.kind === 'group' ? [subject.group] : []));
  return [...new Set([...direct, ...through.filter((entry): entry is GroupEntry => 'group' in entry)])];
}

export function rolesOf({ subjects, through }: Pick<Finding, 'subjects' | 'through'>): readonly RoleEntry[] {
  const direct = subjects.flatMap((subject) => (subject.kind === 'role' ? [subject.role] : []));
  return [...new Set([...direct, ...through.filter((entry): entry is RoleEntry => !('group' in entry))])];
}
