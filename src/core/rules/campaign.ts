import * as l10n from '@vscode/l10n';
import { Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { timeText } from '../access/descriptions.ts';
import { heading, notice, type PageDocument, paragraph, table } from '../access/document.ts';
import type { AccessModel, GroupEntry, Principal } from '../access/model.ts';
import { oneLine } from '../access/plain.ts';
import { groupName, principalName } from '../access/queries.ts';
import { RolecallError } from '../base/errors.ts';
import { written } from './declare.ts';
import { compare } from './findings.ts';
import { hasMalformed, lower } from './references.ts';
import {
  type DocumentShape,
  dateText,
  dayOf,
  today as dayOfTime,
  documentShape,
  type FileProblem,
  itemsOf,
  type Place,
  parseYaml,
  placeOf,
  problem,
  readDocument,
  type Shape,
  textOf,
  type Value,
} from './shape.ts';

/*
 * A review of access with decisions: one block for each membership, since that is what can be ended, in the order of group and
 * member and with an empty line between. So the decisions of two reviewers merge unless they are about the same membership.
 */

export const CAMPAIGN_FORMAT = 'rolecall.campaign';
export const DECISIONS = ['keep', 'revoke', 'ask'] as const;
export type Decision = (typeof DECISIONS)[number];

const text: Shape = { type: 'text' };
const date: Shape = { type: 'date' };

/** What a file of decisions can hold. */
export const CAMPAIGN_SHAPE: DocumentShape = documentShape(
  CAMPAIGN_FORMAT,
  () => l10n.t('The ID of the organization that the review is about.'),
  {
    started: { shape: text, about: () => l10n.t('When the review began, and when that was read.') },
    items: {
      shape: {
        type: 'list',
        of: {
          type: 'record',
          keys: {
            group: { shape: text, isRequired: true, about: () => l10n.t('The ID of the group.') },
            who: { shape: text, isRequired: true, about: () => l10n.t('The member: its kind and ID.') },
            gives: {
              shape: { type: 'list', of: text },
              about: () => l10n.t('The IDs of the roles that the group had when it was decided.'),
            },
            decision: {
              shape: { type: 'choice', of: [...DECISIONS] },
              about: () => l10n.t('keep, revoke or ask. Revoke and ask need a note.'),
            },
            by: { shape: text, about: () => l10n.t('Who decided.') },
            date: { shape: date, about: () => l10n.t('The day of the decision, in UTC.') },
            note: { shape: text, about: () => l10n.t('Why.') },
            next: { shape: date, about: () => l10n.t('The day on which it has to be decided again.') },
          },
        },
      },
      isRequired: true,
      about: () => l10n.t('The memberships, by group and member.'),
    },
  },
);

export interface CampaignItem {
  readonly group: string;
  readonly who: string;
  /** Absent where nothing was decided, or not in full. */
  readonly decided: Decided | undefined;
  /** Of the decision; of the group where there is none. */
  readonly place: Place;
  readonly value: Value;
}

export interface Decided {
  readonly decision: Decision;
  readonly gives: readonly string[];
  readonly by: string;
  /** Such as `2026-11-22`. */
  readonly date: string;
  readonly note: string | undefined;
  /** In days since 1970. */
  readonly next: number | undefined;
}

export interface Campaign {
  readonly text: string;
  readonly organization: string | undefined;
  /** The day on which it began, such as `2026-11-22`. */
  readonly started: string | undefined;
  readonly items: readonly CampaignItem[];
  readonly problems: readonly FileProblem[];
  readonly isReadable: boolean;
}

/** All that a decision consists of. */
const DECISION_KEYS = ['gives', 'decision', 'by', 'date', 'note', 'next'] as const;

/** Reads a file of decisions. Never throws. */
export function readCampaign(source: string): Campaign {
  const { value, problems, isReadable } = readDocument(source, CAMPAIGN_SHAPE);
  const items = itemsOf(value, 'items').flatMap((item) => readItem(item, (one) => problems.push(one)));
  return {
    text: source,
    organization: textOf(value, 'organization'),
    started: /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(textOf(value, 'started') ?? '')?.[0],
    items,
    problems: problems.sort((one, other) => one.start - other.start),
    isReadable: isReadable && value.fields?.get('items')?.value.items !== undefined,
  };
}

function readItem(value: Value, report: (problem: FileProblem) => void): readonly CampaignItem[] {
  const [group, who] = [value.fields?.get('group')?.value, value.fields?.get('who')?.value];
  if (group?.text === undefined || who?.text === undefined) return [];
  const field = value.fields?.get('decision')?.value;
  const item = { group: group.text, who: who.text, place: field ?? group, value };
  const decision = DECISIONS.find((one) => one === field?.text);
  if (decision === undefined || !value.isSound) return [{ ...item, decided: undefined }];
  const note = textOf(value, 'note');
  const lacking = ['gives', 'by', 'date', ...(decision === 'keep' ? [] : ['note'])].filter(
    (key) => !value.fields?.has(key),
  );
  if (lacking.length > 0) {
    const message = l10n.t('This decision does not count: it lacks {0}.', lacking.join(', '));
    report(problem('incomplete-decision', item.place, message));
    return [{ ...item, decided: undefined }];
  }
  const next = textOf(value, 'next');
  const decided: Decided = {
    decision,
    gives: itemsOf(value, 'gives').flatMap((one) => one.text ?? []),
    by: textOf(value, 'by') ?? '',
    date: textOf(value, 'date') ?? '',
    note,
    next: next === undefined ? undefined : dayOf(next),
  };
  return [{ ...item, decided }];
}

/**
 * How a membership stands: `changed`: the group has other roles than when it was decided; `due`: it was to be decided again; `conflict`: two
 * decisions; these count as undecided.
 */
export type ItemStatus = Decision | 'undecided' | 'changed' | 'due' | 'conflict';

export interface Membership {
  readonly group: GroupEntry;
  readonly principal: Principal;
  readonly status: ItemStatus;
  readonly item: CampaignItem | undefined;
  /** Whether the decision is an earlier review's. */
  readonly isTakenOver: boolean;
}

export interface CampaignState {
  readonly campaign: Campaign;
  /** In the order of the file. */
  readonly memberships: readonly Membership[];
  /** Revoked, and the membership is no more. */
  readonly done: readonly CampaignItem[];
  /** Whether it can be told that a membership is no more. */
  readonly isReadingWhole: boolean;
  readonly problems: readonly FileProblem[];
  readonly progress: {
    readonly decided: number;
    /** Of the decided ones. */
    readonly asked: number;
    readonly takenOver: number;
    readonly all: number;
  };
  /** Everything is decided, nothing is asked, and everything was read. */
  readonly isComplete: boolean;
}

/** What the decisions of a file come to in a reading. */
export function stateOf(campaign: Campaign, model: AccessModel, now: number): CampaignState {
  const problems = [...campaign.problems];
  const byKey = Map.groupBy(campaign.items, ({ group, who }) => keyOf(group, who));
  const today = dayOfTime(now);
  const memberships = sortedMemberships(model).map(({ group, principal, key }): Membership => {
    const items = byKey.get(key) ?? [];
    byKey.delete(key);
    const status = statusOf(items, group, today);
    const item = items.find(({ decided }) => decided !== undefined) ?? items[0];
    if (item !== undefined) problems.push(...problemsOf(items, item, status, group, principal));
    const { started } = campaign;
    const date = isDecision(status) ? item?.decided?.date : undefined;
    return { group, principal, status, item, isTakenOver: !!started && !!date && date < started };
  });
  const isReadingWhole =
    model.groupsKnown && !hasMalformed(model, 'groups') && model.gaps.every(({ kind }) => kind !== 'stale');
  const left = [...byKey.values()].flat();
  const done = isReadingWhole ? left.filter(({ decided }) => decided?.decision === 'revoke') : [];
  const decided = memberships.filter(({ status }) => isDecision(status)).length;
  const asked = memberships.filter(({ status }) => status === 'ask').length;
  const takenOver = memberships.filter(({ isTakenOver }) => isTakenOver).length;
  return {
    campaign,
    memberships,
    done,
    isReadingWhole,
    problems: problems.sort((one, other) => one.start - other.start),
    progress: { decided, asked, takenOver, all: memberships.length },
    isComplete: campaign.isReadable && isReadingWhole && decided === memberships.length && asked === 0,
  };
}

export function isDecision(status: ItemStatus): status is Decision {
  return DECISIONS.some((one) => one === status);
}

function statusOf(items: readonly CampaignItem[], group: GroupEntry, today: number): ItemStatus {
  const decided = items.flatMap((item) => item.decided ?? []);
  const [one] = decided;
  if (one === undefined) return 'undecided';
  // Two that say the same are one.
  if (decided.some(({ decision }) => decision !== one.decision)) return 'conflict';
  if (group.missing.includes('roles') || group.roles.some(({ id }) => !one.gives.includes(id))) return 'changed';
  return one.next !== undefined && one.next <= today ? 'due' : one.decision;
}

function problemsOf(
  items: readonly CampaignItem[],
  { place, decided, value }: CampaignItem,
  status: ItemStatus,
  group: GroupEntry,
  principal: Principal,
): readonly FileProblem[] {
  const who = oneLine(principalName(principal));
  const name = oneLine(groupName(group));
  const problems: FileProblem[] = [];
  if (status === 'conflict') {
    const message = l10n.t('{0} in {1} is decided twice: neither counts.', who, name);
    for (const item of items) problems.push(problem('conflict', item.place, message));
  }
  if (status === 'revoke')
    problems.push(problem('still-there', place, l10n.t('{0} is revoked, and still in {1}.', who, name), 'warning'));
  if (status === 'changed')
    problems.push(problem('changed', place, l10n.t('{0} has other roles now: decide again.', name), 'information'));
  if (status === 'due') problems.push(problem('due', place, l10n.t('This has to be decided again.'), 'information'));
  if (decided && isSame(decided.by, principal)) {
    const by = value.fields?.get('by')?.value ?? place;
    problems.push(problem('own-decision', by, l10n.t('Nobody should decide about their own access.'), 'warning'));
  }
  return problems;
}

function isSame(by: string, { id, email, kind }: Principal): boolean {
  return (email !== undefined && lower(email) === lower(by)) || by === `${kind}:${id}`;
}

/** `subject 1b8f…|https://…`: unique in a group, and the same on every machine. */
export function whoOf({ kind, id, issuer }: Principal): string {
  return kind === 'subject' ? `${kind} ${id}|${issuer ?? ''}` : `${kind} ${id}`;
}

function keyOf(group: string, who: string): string {
  return JSON.stringify([group, who]);
}

function sortedMemberships(model: AccessModel) {
  return model.groups
    .flatMap((group) =>
      group.members.map((principal) => {
        const who = whoOf(principal);
        return { group, principal, who, key: keyOf(group.key, who) };
      }),
    )
    .sort((one, other) => compare(one.group.key, other.group.key) || compare(one.who, other.who));
}

/** The next membership to decide after a place in the text, from the beginning again at the end. */
export function nextUndecided({ memberships }: CampaignState, after: number): Membership | undefined {
  const open = memberships.filter(({ status }) => !isDecision(status));
  return open.find(({ item }) => item !== undefined && item.value.start > after) ?? open[0];
}

/** The library indents the empty line before the first block. */
function reviewText(document: Document, source: string): string {
  return written(document, source).replace(/^items:(\r?\n) +(\r?\n)/m, 'items:$1$2');
}

/**
 * A file to decide in, with every membership that was read. Decisions of `previous` whose grant is unchanged are taken over; what is new,
 * different, due or decided twice is open.
 *
 * @throws RolecallError where the groups could not all be read.
 */
export function beginCampaign(model: AccessModel, now: number, previous?: Campaign): string {
  if (!model.groupsKnown || hasMalformed(model, 'groups'))
    throw new RolecallError('invalidRequest', l10n.t('Not all groups could be read, so they cannot be reviewed.'));
  const before = previous && stateOf(previous, model, now);
  const kept = new Map(before?.memberships.map((one) => [keyOf(one.group.key, whoOf(one.principal)), one]));
  const document = new Document(
    {
      format: CAMPAIGN_FORMAT,
      version: 1,
      organization: model.organization,
      started: `${new Date(now).toISOString().slice(0, 10)}, read ${timeText(model.at)}`,
      items: [],
    },
    { version: '1.2' },
  );
  const items = document.get('items') as YAMLSeq;
  items.flow = false;
  for (const { group, principal, key } of sortedMemberships(model)) {
    const old = kept.get(key);
    const decided = old && isDecision(old.status) ? old.item?.value : undefined;
    items.add(itemNode(document, group, principal, decided));
  }
  return reviewText(document, '');
}

function itemNode(document: Document, group: GroupEntry, principal: Principal, decided: Value | undefined): YAMLMap {
  const node = document.createNode({ group: group.key, who: whoOf(principal) }) as YAMLMap;
  node.spaceBefore = true;
  node.commentBefore = ` ${oneLine(groupName(group))}: ${oneLine(principalName(principal))}`;
  for (const key of DECISION_KEYS) {
    const value = decided?.fields?.get(key)?.value;
    if (value !== undefined) setField(document, node, key, plainOf(value));
  }
  return node;
}

/** A value as it was read. */
function plainOf(value: Value): unknown {
  if (value.items) return value.items.map(plainOf);
  if (value.fields) return Object.fromEntries([...value.fields].map(([key, field]) => [key, plainOf(field.value)]));
  return value.text ?? '';
}

function setField(document: Document, node: YAMLMap, key: string, value: unknown): void {
  const made = document.createNode(value);
  if (isSeq(made)) made.flow = true;
  node.set(key, made);
}

export interface NewDecision {
  readonly decision: Decision;
  readonly by: string;
  readonly note?: string;
  readonly next?: string;
}

/** The text with one membership decided, or undecided again; its block is added at its place where there is none. */
export function decide(
  source: string,
  { group, principal }: Pick<Membership, 'group' | 'principal'>,
  made: NewDecision | undefined,
  now: number,
): string {
  const document = parseDocument(source, { version: '1.2', logLevel: 'silent' }) as unknown as Document;
  const items = document.get('items');
  if (document.errors.length > 0 || !isSeq(items))
    throw new RolecallError('invalidRequest', l10n.t('The file has mistakes. Correct them first.'));
  const who = whoOf(principal);
  const isIt = (node: unknown) =>
    isMap(node) && String(node.get('group')) === group.key && String(node.get('who')) === who;
  let node = items.items.find(isIt) as YAMLMap | undefined;
  for (const repeated of items.items.filter((one) => isIt(one) && one !== node))
    items.items.splice(items.items.indexOf(repeated), 1);
  if (node === undefined) {
    node = itemNode(document, group, principal, undefined);
    const after = items.items.findIndex(
      (one) => isMap(one) && (compare(String(one.get('group')), group.key) || compare(String(one.get('who')), who)) > 0,
    );
    items.items.splice(after < 0 ? items.items.length : after, 0, node);
  }
  for (const key of made === undefined ? DECISION_KEYS : ['note', 'next']) node.delete(key);
  if (made === undefined) return reviewText(document, source);
  setField(document, node, 'gives', group.roles.map(({ id }) => id).sort(compare));
  setField(document, node, 'decision', made.decision);
  setField(document, node, 'by', made.by);
  setField(document, node, 'date', new Date(now).toISOString().slice(0, 10));
  if (made.note !== undefined) setField(document, node, 'note', made.note);
  if (made.next !== undefined) setField(document, node, 'next', made.next);
  return reviewText(document, source);
}

/** Where the block of a membership stands in a text. */
export function blockPlace(
  source: string,
  { group, principal }: Pick<Membership, 'group' | 'principal'>,
): Place | undefined {
  const { document } = parseYaml(source);
  const items = document?.get('items');
  if (!isSeq(items)) return undefined;
  const node = items.items.find(
    (one) => isMap(one) && String(one.get('group')) === group.key && String(one.get('who')) === whoOf(principal),
  );
  return placeOf(node);
}

/** Who decided what, when, on which reading: for the auditor. */
export function campaignDocument(state: CampaignState, model: AccessModel, now: number): PageDocument<never> {
  const { memberships, progress, done, isComplete, isReadingWhole } = state;
  const open = memberships.filter(({ status }) => !isDecision(status));
  const row = ({ group, principal, status, item, isTakenOver }: Membership) => {
    const decided = item?.decided;
    return [
      [oneLine(groupName(group))],
      [oneLine(principalName(principal))],
      [isTakenOver ? l10n.t('{0} (earlier review)', statusText(status)) : statusText(status)],
      [decided?.by ?? ''],
      [decided?.date ?? ''],
      [decided?.note ?? ''],
    ];
  };
  const columns = [l10n.t('Group'), l10n.t('Member'), l10n.t('Decision'), l10n.t('By'), l10n.t('On'), l10n.t('Note')];
  return {
    title: l10n.t('Decisions about access in {0}', model.organization),
    about: [l10n.t('read {0} · written {1}', timeText(model.at), timeText(now))],
    blocks: [
      ...(isReadingWhole ? [] : [notice(l10n.t('Not everything could be read, so the review cannot be complete.'))]),
      paragraph({ strong: progressText(state) }, isComplete ? l10n.t(' · complete') : ''),
      heading(l10n.t('Open')),
      table(columns, open.map(row), l10n.t('Nothing is open.')),
      heading(l10n.t('Decided')),
      table(columns, memberships.filter(({ status }) => isDecision(status)).map(row), l10n.t('Nothing is decided.')),
      ...(done.length === 0
        ? []
        : [
            heading(l10n.t('Revoked and ended')),
            table(
              [l10n.t('Group ID'), l10n.t('Member'), l10n.t('By'), l10n.t('On')],
              done.map(({ group, who, decided }) => [
                [{ small: group }],
                [{ small: who }],
                [decided?.by ?? ''],
                [decided?.date ?? ''],
              ]),
              '',
            ),
          ]),
      ...(progress.all === 0 ? [paragraph(l10n.t('No memberships.'))] : []),
    ],
  };
}

/** `12 of 40 decided, 9 of them in an earlier review, 2 to ask`. */
export function progressText({
  progress: { decided, all, asked, takenOver },
}: Pick<CampaignState, 'progress'>): string {
  return [
    l10n.t('{0} of {1} decided', decided, all),
    ...(takenOver === 0 ? [] : [l10n.t('{0} of them in an earlier review', takenOver)]),
    ...(asked === 0 ? [] : [l10n.t('{0} to ask', asked)]),
  ].join(', ');
}

/** How a membership stands, as a sentence: `Kept by ada@acme.example on 2026-11-22`. */
export function standingText({
  status,
  item,
  isTakenOver,
}: Pick<Membership, 'status' | 'item' | 'isTakenOver'>): string {
  const { by = '', date = '', next = 0 } = item?.decided ?? {};
  const decided = (text: string) => (isTakenOver ? l10n.t('{0}, in an earlier review', text) : text);
  switch (status) {
    case 'keep':
      return decided(l10n.t('Kept by {0} on {1}', oneLine(by), date));
    case 'revoke':
      return decided(l10n.t('Revoked by {0} on {1}', oneLine(by), date));
    case 'ask':
      return decided(l10n.t('Question raised by {0} on {1}', oneLine(by), date));
    case 'undecided':
      return l10n.t('Undecided');
    case 'changed':
      return l10n.t('Undecided: the group’s roles have changed since {0}', date);
    case 'due':
      return l10n.t('Undecided: due for review since {0}', dateText(next));
    case 'conflict':
      return l10n.t('Undecided: there are two decisions');
  }
}

export function statusText(status: ItemStatus): string {
  switch (status) {
    case 'keep':
      return l10n.t('Keep');
    case 'revoke':
      return l10n.t('Revoke');
    case 'ask':
      return l10n.t('Ask');
    case 'undecided':
      return l10n.t('Undecided');
    case 'changed':
      return l10n.t('Changed since');
    case 'due':
      return l10n.t('Due again');
    case 'conflict':
      return l10n.t('Decided twice');
  }
}
