import * as l10n from '@vscode/l10n';
import { timeText } from '../access/descriptions.ts';
import { type AccessModel, type GroupEntry, isBeingDeleted, type Principal, type RoleEntry } from '../access/model.ts';
import { groupName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { compareText, oneLine } from '../base/text.ts';
import type { Declaration } from './accessFile.ts';
import type { Finding } from './findings.ts';
import { isGlob } from './globs.ts';
import type { FindingSubject } from './kinds/kind.ts';
import { groupText, roleText } from './kinds/kind.ts';
import { hasMalformed } from './references.ts';
import { type CheckContext, displayName, peopleErrorText, reportUnresolved } from './ruleEvaluation.ts';
import { problem, textOf, type Value } from './schema.ts';

/** The differences between a declaration and a reading. */
export interface Drift {
  readonly findings: readonly Finding[];
  /** Why there may be more differences; localized. */
  readonly reasons: readonly string[];
  /** The number of declared groups that were compared. */
  readonly tested: number;
  readonly hasTwins: boolean;
}

/** Takes the place of a rule's ID in a finding of the declaration. */
export const DECLARED = 'declared';

/** Compares a declaration with a reading, in both directions. */
export function driftOf(declared: Declaration, context: CheckContext): Drift {
  const comparison = new Comparison(declared, context);
  return comparison.run();
}

class Comparison {
  readonly #declared: Declaration;
  readonly #context: CheckContext;
  readonly #findings: Finding[] = [];
  readonly #reasons = new Set<string>();
  /** Groups that an item of the declaration is about, or may be. */
  readonly #covered = new Set<GroupEntry>();
  #hasTwins = false;
  #tested = 0;

  constructor(declared: Declaration, context: CheckContext) {
    this.#declared = declared;
    this.#context = context;
  }

  run(): Drift {
    const { model, arePeopleSound } = this.#context;
    if (this.#declared.mistake !== undefined) this.#reasons.add(this.#declared.mistake);
    if (!arePeopleSound) this.#reasons.add(peopleErrorText());
    if (!model.groupsKnown) this.#reasons.add(l10n.t('The groups could not be read.'));
    else {
      const missing: Value[] = [];
      for (const item of this.#declared.groups) if (this.#match(item) === 'missing') missing.push(item);
      for (const item of missing) this.#reportMissing(item);
      if (this.#declared.isComplete) this.#reportExtraGroups();
      this.#weighGaps(model);
    }
    const findings = this.#findings.sort(
      (one, other) => one.place.start - other.place.start || compareText(one.message, other.message),
    );
    return { findings, reasons: [...this.#reasons], tested: this.#tested, hasTwins: this.#hasTwins };
  }

  /** Finds the group of an item, by id or else by name, and compares it. */
  #match(item: Value): 'matched' | 'missing' {
    const id = item.fields?.get('id')?.value;
    const name = item.fields?.get('name')?.value;
    const written = id ?? name;
    if (written?.text === undefined) {
      if (item.isSound) this.#mistake('missing-key', headOf(item), l10n.t('A group needs a name or an ID.'));
      return 'matched';
    }
    if (id === undefined && isGlob(written.text)) {
      this.#mistake('bad-value', written, l10n.t('A declared group is a single group, so patterns cannot be used.'));
      return 'matched';
    }
    const resolved = this.#context.resolver.group(id === undefined ? written.text : `id:${written.text}`);
    if (resolved.failure === 'ambiguous') {
      this.#reasons.add(reportUnresolved(this.#context, written, resolved, 'group', 'error'));
      for (const group of resolved.entries) this.#covered.add(group);
      return 'matched';
    }
    const [group] = resolved.entries;
    if (group === undefined) return 'missing';
    if (this.#covered.has(group)) {
      this.#mistake('repeated-id', written, l10n.t('This group is declared twice.'));
      return 'matched';
    }
    this.#covered.add(group);
    this.#tested += 1;
    this.#compare(item, group, name);
    return 'matched';
  }

  #compare(item: Value, group: GroupEntry, name: Value | undefined): void {
    const head = item.fields?.get('name')?.value ?? item.fields?.get('id')?.value ?? item;
    if (isBeingDeleted(group.group.metadata)) {
      this.#find('being-deleted', head, group, [], l10n.t('{0} is declared', groupText(group)));
      return;
    }
    if (name?.text !== undefined && name.text !== group.group.metadata.name) {
      const message = l10n.t('{0} is now called {1}', oneLine(name.text), oneLine(groupName(group)));
      this.#find('renamed', name, group, [], message);
    }
    this.#compareRoles(item, group);
    this.#compareMembers(item, group);
    this.#compareAccounts(item, group);
  }

  #compareRoles(item: Value, group: GroupEntry): void {
    const field = item.fields?.get('roles');
    if (!field || !this.#isComparable(group, 'roles')) return;
    const declared = (field.value.items ?? []).map((value) => ({ value, resolved: this.#declaredRole(value) }));
    for (const { value, resolved } of declared) {
      if (resolved === 'unclear' || (resolved && hasRole(group, resolved))) continue;
      const text = value.text ?? '';
      const subject: FindingSubject =
        resolved === undefined ? { kind: 'aspect', name: text } : { kind: 'role', role: resolved };
      const message = l10n.t('{0} does not have the role {1}', groupText(group), oneLine(text));
      this.#find('missing-role', value, group, [subject], message);
    }
    // One of the others may be the declared one.
    if (declared.some(({ resolved }) => resolved === 'unclear')) return;
    for (const role of group.roles) {
      if (declared.some(({ resolved }) => resolved !== 'unclear' && resolved?.id === role.id)) continue;
      const message = l10n.t('{0} has the role {1}, but it isn’t declared there', groupText(group), roleText(role));
      this.#find('extra-role', field.key, group, [{ kind: 'role', role }], message);
    }
  }

  /** @returns `undefined` for a role that nothing has. */
  #declaredRole(value: Value): RoleEntry | 'unclear' | undefined {
    const text = value.text ?? '';
    if (isGlob(text) && !text.startsWith('id:')) {
      this.#mistake('bad-value', value, l10n.t('A declared role is a single role, so patterns cannot be used.'));
      return 'unclear';
    }
    const resolved = this.#context.resolver.role(text);
    const { failure, entries: roles } = resolved;
    if (failure !== 'ambiguous' && failure !== 'unreadable') return roles[0];
    this.#reasons.add(
      failure === 'ambiguous'
        ? reportUnresolved(this.#context, value, resolved, 'role', 'error')
        : l10n.t('It could not be determined which role "{0}" is.', oneLine(text)),
    );
    return 'unclear';
  }

  #compareMembers(item: Value, group: GroupEntry): void {
    const field = item.fields?.get('members');
    if (!field) return;
    const members = group.members.filter(({ kind }) => kind !== 'serviceAccount');
    const declared = new Set<Principal>();
    for (const value of field.value.items ?? []) {
      const present = this.#declaredMember(value, group, members);
      if (present === undefined) return;
      for (const principal of present) declared.add(principal);
    }
    for (const principal of members) if (!declared.has(principal)) this.#judgeExtra(principal, group, field.key);
  }

  /** The members of the group that an item declares; `undefined` where the item is ambiguous. */
  #declaredMember(value: Value, group: GroupEntry, members: readonly Principal[]): readonly Principal[] | undefined {
    const { people, resolver } = this.#context;
    if (value.text !== undefined && isGlob(value.text)) {
      this.#mistake('bad-value', value, l10n.t('A declared member is a single person, so patterns cannot be used.'));
      return undefined;
    }
    const resolved = resolver.principal(value, false);
    const same = resolved.entries.flatMap((one) => people.personOf(one)?.principals ?? [one]);
    const present = same.filter((one) => members.includes(one));
    const subjects = present.filter((one) => one.kind === 'subject' && people.personOf(one) === undefined);
    const text = oneLine(value.text ?? textOf(value, 'subject') ?? '');
    // Somebody who brings the address of another along is not the declared person.
    const isAmbiguous = resolved.failure === 'ambiguous' || subjects.length > 1;
    const isNoAddress = resolved.failure === 'unknown' && value.text !== undefined && !/[@:]/.test(value.text);
    if (isAmbiguous || isNoAddress) {
      const trouble = isAmbiguous ? 'ambiguous' : 'unknown';
      this.#reasons.add(
        reportUnresolved(this.#context, value, { ...resolved, failure: trouble }, 'principal', 'error'),
      );
      return undefined;
    }
    if (present.length === 0) {
      const { entries: principals } = resolved;
      const subject: FindingSubject =
        principals.length === 0 ? { kind: 'aspect', name: text } : { kind: 'principal', principals };
      this.#find('missing-member', value, group, [subject], l10n.t('{0} is not in {1}', text, groupText(group)));
    }
    return present;
  }

  #judgeExtra(principal: Principal, group: GroupEntry, place: TextRange): void {
    const { people, showsEmails } = this.#context;
    const name = displayName(people, showsEmails, [principal]);
    if (people.identity === 'separate' || !people.isTwinIn(principal, [group])) {
      const message = l10n.t('{0} is in {1}, but isn’t declared there', name, groupText(group));
      this.#find('extra-member', place, group, [{ kind: 'principal', principals: [principal] }], message);
    } else if (people.identity === 'unknown') {
      this.#hasTwins = true;
      const message = l10n.t(
        '{0} in {1} may be a declared member: it is not known whose user ID it is.',
        name,
        groupText(group),
      );
      this.#reasons.add(message);
    }
  }

  #mistake(code: string, place: TextRange, message: string): void {
    this.#context.report(problem(code, place, message));
    this.#reasons.add(message);
  }

  #compareAccounts(item: Value, group: GroupEntry): void {
    const field = item.fields?.get('serviceAccounts');
    if (!field || !this.#isComparable(group, 'serviceAccounts')) return;
    const declared = new Map((field.value.items ?? []).map((value) => [value.text ?? '', value]));
    const accounts = group.members.filter(({ kind }) => kind === 'serviceAccount');
    for (const [id, value] of declared) {
      if (accounts.some((account) => account.id === id)) continue;
      const message = l10n.t('Service account {0} is not in {1}', oneLine(id), groupText(group));
      this.#find('missing-service-account', value, group, [{ kind: 'aspect', name: id }], message);
    }
    for (const account of accounts) {
      if (declared.has(account.id)) continue;
      const message = l10n.t(
        'Service account {0} is in {1}, but isn’t declared there',
        oneLine(account.id),
        groupText(group),
      );
      this.#find('extra-service-account', field.key, group, [{ kind: 'principal', principals: [account] }], message);
    }
  }

  /** A group whose list was not sent cannot be compared with it. */
  #isComparable(group: GroupEntry, list: 'roles' | 'serviceAccounts'): boolean {
    if (!group.missing.includes(list)) return true;
    this.#reasons.add(l10n.t('Some groups could not be understood.'));
    return false;
  }

  #reportMissing(item: Value): void {
    const head = item.fields?.get('name')?.value ?? item.fields?.get('id')?.value ?? item;
    const text = oneLine(head.text ?? '');
    if (hasMalformed(this.#context.model, 'groups')) {
      this.#reasons.add(
        l10n.t('It could not be determined whether {0} is missing: some groups could not be understood.', text),
      );
      return;
    }
    this.#tested += 1;
    const similar = this.#groupLike(item);
    const message =
      similar === undefined
        ? l10n.t('The declared group {0} doesn’t exist', text)
        : l10n.t('The declared group {0} doesn’t exist; {1} has the same members and roles', text, groupText(similar));
    const { place, ...rest } = this.#finding(
      'missing-group',
      head,
      [{ kind: 'aspect', name: textOf(item, 'id') ?? text }],
      message,
    );
    this.#findings.push({ ...rest, place, through: similar === undefined ? [] : [similar] });
  }

  /** A group that is not declared and has what this item declares: it may have been renamed. */
  #groupLike(item: Value): GroupEntry | undefined {
    const roles = item.fields?.get('roles')?.value.items;
    const members = item.fields?.get('members')?.value.items;
    if (roles === undefined || members === undefined || roles.length + members.length === 0) return undefined;
    const { resolver } = this.#context;
    const roleIds = keysOf(roles.flatMap(({ text = '' }) => resolver.role(text).entries.map(({ id }) => id)));
    const memberKeys = keysOf(
      members.flatMap((value) => resolver.principal(value, false).entries.map(({ key }) => key)),
    );
    return this.#context.model.groups.find((group) => {
      if (this.#covered.has(group)) return false;
      const people = group.members.filter(({ kind }) => kind !== 'serviceAccount');
      return keysOf(group.roles.map(({ id }) => id)) === roleIds && keysOf(people.map(({ key }) => key)) === memberKeys;
    });
  }

  #reportExtraGroups(): void {
    for (const group of this.#context.model.groups) {
      if (this.#covered.has(group) || isBeingDeleted(group.group.metadata)) continue;
      this.#find('extra-group', this.#declared.place, group, [], l10n.t('{0} is not declared', groupText(group)));
    }
  }

  #weighGaps(model: AccessModel): void {
    for (const { list, kind } of model.gaps) {
      if (kind === 'stale' && this.#findings.length === 0)
        this.#reasons.add(l10n.t('The groups and roles could not be refreshed.'));
      if (list === 'groups' && kind === 'malformed' && this.#declared.isComplete)
        this.#reasons.add(l10n.t('Some groups could not be understood.'));
    }
  }

  #find(kind: string, place: TextRange, group: GroupEntry, others: readonly FindingSubject[], message: string): void {
    const finding = this.#finding(kind, place, [{ kind: 'group', group }, ...others], message);
    this.#findings.push({ ...finding, through: [group] });
  }

  #finding(kind: string, { start, end }: TextRange, subjects: readonly FindingSubject[], message: string): Finding {
    const { model } = this.#context;
    const isStale = model.gaps.some((gap) => gap.list === 'groups' && gap.kind === 'stale');
    return {
      rule: DECLARED,
      kind,
      severity: 'warning',
      place: { start, end },
      message: isStale ? `${message} ${l10n.t('(as of {0})', timeText(model.at))}` : message,
      subjects,
      through: [],
      ...(isStale && model.at !== undefined && { staleSince: model.at }),
    };
  }
}

function hasRole(group: GroupEntry, { id }: RoleEntry): boolean {
  return group.roles.some((role) => role.id === id);
}

function keysOf(ids: readonly string[]): string {
  return JSON.stringify([...new Set(ids)].sort(compareText));
}

function headOf(item: Value): TextRange {
  return item.fields?.values().next().value?.key ?? item;
}
