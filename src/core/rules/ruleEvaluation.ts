import * as l10n from '@vscode/l10n';
import { timeText } from '../access/descriptions.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../access/model.ts';
import { principalName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { didYouMean, oneLine } from '../base/text.ts';
import type { AccessFile, PersonEntry, Rule } from './accessFile.ts';
import type { Finding } from './findings.ts';
import { isGlob } from './globs.ts';
import type { FindingInput, FindingSubject, ListName, RuleContext, RuleKind } from './kinds/kind.ts';
import { People, type Person } from './people.ts';
import { EntrySet, type Resolved, Resolver } from './references.ts';
import { type FileProblem, itemsOf, problem, replacement, type Schema, textOf, type Value } from './schema.ts';

/** The parts that all rules of a file share for one reading. */
export interface CheckContext {
  readonly model: AccessModel;
  readonly resolver: Resolver;
  readonly people: People;
  readonly today: number;
  readonly showsEmails: boolean;
  readonly report: (problem: FileProblem) => void;
  /** False where the file's people could not all be found. */
  readonly arePeopleSound: boolean;
}

export function createCheckContext(
  file: AccessFile,
  model: AccessModel,
  today: number,
  showsEmails: boolean,
  report: (problem: FileProblem) => void,
): CheckContext {
  const resolver = new Resolver(model);
  const linking = new Linking(resolver, report);
  const persons = file.people.map((entry) => linking.personOf(entry));
  const people = new People(file.identity, persons);
  return {
    model,
    resolver,
    people,
    today,
    showsEmails,
    report,
    arePeopleSound: file.arePeopleSound && linking.isSound,
  };
}

/**
 * Why nothing about holders can be judged where it is unknown who is who. The mistake itself is reported at its place.
 */
export function peopleErrorText(): string {
  return l10n.t('The people in this file are not defined correctly.');
}

/** Finds the entries of the people of a file. */
class Linking {
  isSound = true;
  readonly #resolver: Resolver;
  readonly #report: CheckContext['report'];
  readonly #names = new Map<Principal, string>();

  constructor(resolver: Resolver, report: CheckContext['report']) {
    this.#resolver = resolver;
    this.#report = report;
  }

  personOf({ name, is }: PersonEntry): Person {
    const principals = [...new Set(is.flatMap((value) => this.#entriesOf(value, name)))];
    const hasUserId =
      is.some(({ text }) => text?.startsWith('user:')) || principals.some(({ kind }) => kind === 'user');
    this.#resolver.addPerson(name, principals);
    return { name, principals, hasUserId };
  }

  #entriesOf(value: Value, name: string): readonly Principal[] {
    const resolved = this.#resolver.principal(value, true);
    const { failure, entries: principals } = resolved;
    if (failure === 'ambiguous' || failure === 'unknown')
      reportUnresolved(
        { report: this.#report },
        value,
        resolved,
        'principal',
        failure === 'unknown' ? 'warning' : 'error',
      );
    const otherName = principals.map((one) => this.#names.get(one)).find((one) => one !== undefined && one !== name);
    if (otherName !== undefined)
      this.#report(problem('bad-value', value, l10n.t('This already belongs to "{0}".', otherName)));
    if (failure === 'ambiguous' || otherName !== undefined) {
      this.isSound = false;
      return [];
    }
    for (const principal of principals) this.#names.set(principal, name);
    return principals;
  }
}

/** Reports the problem of a reference, at its place. @returns its message. */
export function reportUnresolved(
  { report }: Pick<CheckContext, 'report'>,
  value: Value,
  { failure, entries: matches, suggestion }: Resolved<unknown>,
  kind: FindingSubject['kind'],
  severity: FileProblem['severity'],
  prefix = '',
): string {
  const text = oneLine(value.text ?? textOf(value, 'subject') ?? '');
  const message =
    failure === 'ambiguous'
      ? l10n.t('"{0}" matches {1} entries. Use an ID.', text, matches.length)
      : didYouMean(unknownText(kind, text), suggestion && prefix + suggestion);
  const fixes =
    suggestion === undefined || value.text === undefined ? [] : [replacement(value, yamlScalar(prefix + suggestion))];
  report(problem(`${failure}-reference`, value, message, severity, fixes));
  return message;
}

function unknownText(kind: FindingSubject['kind'], text: string): string {
  const name = text.replace(/^(?:group|role|serviceAccount):/, '');
  if (kind === 'group') return l10n.t('No group is called "{0}".', name);
  if (kind === 'role') return l10n.t('No role is called "{0}".', name);
  return text.startsWith('serviceAccount:')
    ? l10n.t('No service account has the ID "{0}".', name)
    : l10n.t('No person is called "{0}".', text);
}

/** A text as YAML; with quotes where it would be something else. */
export function yamlScalar(text: string): string {
  return /^[\p{L}\p{N}_./@+-][\p{L}\p{N}_./@+:-]*$/u.test(text) && !text.endsWith(':') && !/^[-.]+$/.test(text)
    ? text
    : JSON.stringify(text);
}

export function displayName(people: People, showsEmails: boolean, principals: readonly Principal[]): string {
  const [first] = principals;
  if (first === undefined) return '';
  const person = people.personOf(first);
  if (person !== undefined) return oneLine(person.name);
  return oneLine(showsEmails ? principalName(principals.find(({ email }) => email !== undefined) ?? first) : first.id);
}

type Entries = readonly (Principal | GroupEntry | RoleEntry)[];
const NOTHING = [] as const;

/** The evaluation of one rule: finds what the rule names, then takes what its kind reports. */
export class RuleEvaluation implements RuleContext {
  readonly model: AccessModel;
  readonly people: People;
  readonly value: Value;
  readonly today: number;
  readonly findings: Finding[] = [];
  /** Called with every group. */
  readonly groupVisitors: ((group: GroupEntry) => void)[] = [];
  /** Why the rule cannot pass. */
  readonly undecidedReasons: { readonly reason: string; readonly isTwin: boolean }[] = [];
  /** Why it cannot be evaluated at all. */
  readonly obstacles: string[] = [];
  /** The lists that it needs. */
  readonly lists: ReadonlySet<ListName>;
  namesRolePatterns = false;
  readonly #context: CheckContext;
  readonly #rule: Rule;
  readonly #kind: RuleKind;
  /** When the data was read, if that could not be read again since; and the words for it in messages. */
  readonly #staleSince: number | undefined;
  readonly #age: string;
  readonly #named = new Map<string, Entries>();
  readonly #excepted = new Set<unknown>();
  readonly #kinds: ReadonlySet<string>;
  #namesRoles = false;

  constructor(context: CheckContext, rule: Rule, kind: RuleKind) {
    this.model = context.model;
    this.people = context.people;
    this.value = rule.value;
    this.today = context.today;
    this.#context = context;
    this.#rule = rule;
    this.#kind = kind;
    const kinds = this.texts('kinds');
    this.#kinds = new Set(kinds.length > 0 ? kinds : ['people', 'serviceAccounts']);
    for (const [key, { schema }] of Object.entries(kind.keys)) this.#resolve(key, schema);
    for (const value of itemsOf(this.value, 'except')) this.#except(value);
    // A role that is named needs the list of roles.
    this.lists = new Set([...kind.needs(rule.value), ...(this.#namesRoles ? ['roles' as const] : [])]);
    const isStale = this.model.gaps.some((gap) => gap.kind === 'stale' && this.lists.has(gap.list));
    this.#staleSince = isStale ? this.model.at : undefined;
    this.#age = isStale ? ` ${l10n.t('(as of {0})', timeText(this.model.at))}` : '';
  }

  groups(key: string): readonly GroupEntry[] {
    return (this.#named.get(key) ?? []) as readonly GroupEntry[];
  }

  roles(key: string): readonly RoleEntry[] {
    return (this.#named.get(key) ?? []) as readonly RoleEntry[];
  }

  principals(key: string): readonly Principal[] {
    return (this.#named.get(key) ?? []) as readonly Principal[];
  }

  eachGroup(visit: (group: GroupEntry) => void): void {
    this.groupVisitors.push(visit);
  }

  counts(entry: Principal | GroupEntry): boolean {
    const kind = 'kind' in entry && (entry.kind === 'serviceAccount' ? 'serviceAccounts' : 'people');
    return (!kind || this.#kinds.has(kind)) && !this.#excepted.has(entry);
  }

  text(key: string): string | undefined {
    return textOf(this.value, key);
  }

  texts(key: string): readonly string[] {
    return itemsOf(this.value, key).flatMap(({ text }) => (text === undefined ? [] : [text]));
  }

  integer(key: string): number | undefined {
    const text = this.text(key);
    return text === undefined ? undefined : Number(text);
  }

  nameOf(principals: readonly Principal[]): string {
    return displayName(this.people, this.#context.showsEmails, principals);
  }

  addFinding({ subjects, message, through = NOTHING, range }: FindingInput): void {
    if (this.#excepted.size > 0 && subjects.some((subject) => this.#isExcepted(subject))) return;
    this.findings.push({
      rule: this.#rule.id,
      kind: this.#rule.kind,
      severity: this.#rule.severity,
      place: this.#rule.place,
      message: message + this.#age,
      subjects,
      through,
      range,
      staleSince: this.#staleSince,
    });
  }

  markUndecided(reason: string, isTwin = false): void {
    this.undecidedReasons.push({ reason, isTwin });
  }

  rejectRule(key: string, message: string): void {
    const place: TextRange = this.value.fields?.get(key)?.key ?? this.value;
    this.#context.report(problem('bad-value', place, message));
    this.obstacles.push(message);
  }

  #isExcepted(subject: FindingSubject): boolean {
    switch (subject.kind) {
      case 'principal':
        return subject.principals.every((principal) => this.#excepted.has(principal));
      case 'group':
        return this.#excepted.has(subject.group);
      case 'role':
        return this.#excepted.has(subject.role);
      case 'aspect':
        return false;
    }
  }

  #resolve(key: string, schema: Schema): void {
    const value = this.value.fields?.get(key)?.value;
    const item = schema.type === 'list' ? schema.of : schema;
    const text = item.type === 'either' ? item.text : item;
    if (value === undefined || text.type !== 'text' || text.refers === undefined) return;
    const { permits = false, refers } = text;
    const kind = refers === 'group' || refers === 'role' ? refers : 'principal';
    const entries = (schema.type === 'list' ? (value.items ?? []) : [value]).map((one) => {
      const resolved = this.#find(one, refers, permits);
      this.#take(one, resolved, kind, permits || refers === 'person');
      return refers === 'person' ? this.#withSame(resolved.entries) : resolved.entries;
    });
    const [only, ...others] = entries;
    if (only !== undefined && others.length === 0 && refers !== 'person') this.#named.set(key, only);
    else {
      const unique = new EntrySet(this.model[`${kind}s`]);
      const all = entries.flat().filter((one) => unique.add(one));
      this.#named.set(key, all);
    }
  }

  #find(value: Value, refers: string, permits: boolean): Resolved<Entries[number]> {
    if (refers === 'person') return this.#context.resolver.principal(value, permits);
    const text = value.text ?? '';
    if (refers === 'group') return this.#context.resolver.group(text);
    if (!text.startsWith('id:')) this.#namesRoles = true;
    if (isGlob(text) && !text.startsWith('id:')) this.namesRolePatterns = true;
    return this.#context.resolver.role(text);
  }

  #except(value: Value): void {
    const resolved = this.#context.resolver.named(value);
    const { kind } = resolved;
    const isFit = this.#kind.subjects.includes(kind) || this.#kind.excepts === kind;
    if (!isFit) {
      const message = l10n.t('This kind of exception does not apply to this rule.');
      this.#context.report(problem('bad-value', value, message));
      this.obstacles.push(message);
      return;
    }
    if (kind === 'role' && !value.text?.startsWith('role:id:')) this.#namesRoles = true;
    this.#take(value, resolved, kind, true);
    for (const entry of this.#withSame(resolved.entries)) this.#excepted.add(entry);
  }

  /** Adds all entries of the same people, as the file links them. */
  #withSame(entries: Entries): Entries {
    if (!this.people.areLinked) return entries;
    return entries.flatMap((entry): Entries => {
      const person = 'kind' in entry ? this.people.personOf(entry) : undefined;
      return person?.principals ?? [entry];
    });
  }

  #take(value: Value, resolved: Resolved<unknown>, kind: FindingSubject['kind'], isOptional: boolean): void {
    const { failure } = resolved;
    if (failure === undefined) return;
    if (failure === 'unreadable') {
      if (!isOptional)
        this.obstacles.push(l10n.t('It could not be determined what "{0}" is.', oneLine(value.text ?? '')));
      return;
    }
    const isWarning = failure === 'unknown' && isOptional;
    const [, prefix = ''] = /^((?:group|role):)/.exec(value.text ?? '') ?? [];
    const message = reportUnresolved(this.#context, value, resolved, kind, isWarning ? 'warning' : 'error', prefix);
    if (!isWarning) this.obstacles.push(message);
  }
}
