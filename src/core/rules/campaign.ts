import * as l10n from '@vscode/l10n';
import { memberName } from '../access/descriptions.ts';
import type { AccessModel, GroupEntry, Principal } from '../access/model.ts';
import { groupName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { compareText, oneLine } from '../base/text.ts';
import { hasMalformed, lowerCaseAscii } from './references.ts';
import {
  type DocumentSchema,
  dayOf,
  dayOfTime,
  documentSchema,
  type FileProblem,
  itemsOf,
  problem,
  readDocument,
  type Schema,
  textOf,
  type Value,
} from './schema.ts';

/*
 * A review of access with decisions: one block for each membership, since that is what can be ended, in the order of group and
 * member and with an empty line between. So the decisions of two reviewers merge unless they are about the same membership.
 */

export const CAMPAIGN_FORMAT = 'rolecall.campaign';
export const DECISIONS = ['keep', 'revoke', 'ask'] as const;
export type Decision = (typeof DECISIONS)[number];

const text: Schema = { type: 'text' };
const date: Schema = { type: 'date' };

/** What a file of decisions can hold. */
export const CAMPAIGN_SCHEMA: DocumentSchema = documentSchema(
  CAMPAIGN_FORMAT,
  () => l10n.t('The ID of the organization that the review is about.'),
  {
    started: { schema: text, about: () => l10n.t('When the review began, and when its data was read.') },
    items: {
      schema: {
        type: 'list',
        of: {
          type: 'record',
          keys: {
            group: { schema: text, isRequired: true, about: () => l10n.t('The ID of the group.') },
            who: { schema: text, isRequired: true, about: () => l10n.t('The member: its kind and ID.') },
            gives: {
              schema: { type: 'list', of: text },
              about: () => l10n.t('The IDs of the roles that the group had when the decision was made.'),
            },
            decision: {
              schema: { type: 'choice', of: [...DECISIONS] },
              about: () => l10n.t('keep, revoke or ask. A note is required for revoke and ask.'),
            },
            by: { schema: text, about: () => l10n.t('Who made the decision.') },
            date: { schema: date, about: () => l10n.t('The day of the decision, in UTC.') },
            note: { schema: text, about: () => l10n.t('The reason for the decision, or the question.') },
            next: { schema: date, about: () => l10n.t('The day on which the decision is due again.') },
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
  /** Absent where nothing was decided, or not completely. */
  readonly decided: RecordedDecision | undefined;
  /** The place of the decision; without one, that of the group. */
  readonly place: TextRange;
  readonly value: Value;
}

export interface RecordedDecision {
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

/** The keys of a decision. */
export const DECISION_KEYS = ['gives', 'decision', 'by', 'date', 'note', 'next'] as const;

/** Reads a file of decisions. Never throws. */
export function readCampaign(source: string): Campaign {
  const { value, problems, isReadable } = readDocument(source, CAMPAIGN_SCHEMA);
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
    const message = l10n.t('This decision does not count. Missing: {0}.', lacking.join(', '));
    report(problem('incomplete-decision', item.place, message));
    return [{ ...item, decided: undefined }];
  }
  const next = textOf(value, 'next');
  const decided: RecordedDecision = {
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
 * The status of a membership: `changed`: the group has other roles than when it was decided; `due`: it was to be
 * decided again; `conflict`: two decisions; these count as undecided.
 */
export type MembershipStatus = Decision | 'undecided' | 'changed' | 'due' | 'conflict';

export interface Membership {
  readonly group: GroupEntry;
  readonly principal: Principal;
  readonly status: MembershipStatus;
  readonly item: CampaignItem | undefined;
  /** Whether the decision was taken over from an earlier review. */
  readonly isTakenOver: boolean;
}

export interface CampaignState {
  readonly campaign: Campaign;
  /** In the order of the file. */
  readonly memberships: readonly Membership[];
  /** Memberships that were revoked, and no longer exist. */
  readonly revoked: readonly CampaignItem[];
  /** Whether it is known which memberships no longer exist. */
  readonly isReadingWhole: boolean;
  readonly problems: readonly FileProblem[];
  readonly progress: {
    readonly decided: number;
    /** The number of decided ones whose decision is `ask`. */
    readonly openQuestions: number;
    readonly takenOver: number;
    readonly all: number;
  };
  /** Everything is decided, no decision is `ask`, and everything was read. */
  readonly isComplete: boolean;
}

/** Who is signed in, with the ID as well as the name in decisions. */
export interface Reviewer {
  readonly id: string;
  readonly label: string;
}

/**
 * Compares the decisions of a file with a reading.
 *
 * @param account who is signed in.
 */
export function campaignState(campaign: Campaign, model: AccessModel, now: number, account?: Reviewer): CampaignState {
  const idsOf = reviewerIds(model, account);
  const problems = [...campaign.problems];
  const byKey = Map.groupBy(campaign.items, ({ group, who }) => membershipKey(group, who));
  const today = dayOfTime(now);
  const memberships = sortedMemberships(model).map(({ group, principal, key }): Membership => {
    const items = byKey.get(key) ?? [];
    byKey.delete(key);
    const status = statusOf(items, group, today);
    const item = items.find(({ decided }) => decided !== undefined) ?? items[0];
    if (item !== undefined)
      problems.push(...problemsOf(items, item, status, group, principal), ...ownDecision(item, principal, idsOf));
    const { started } = campaign;
    const date = isDecision(status) ? item?.decided?.date : undefined;
    return { group, principal, status, item, isTakenOver: !!started && !!date && date < started };
  });
  const isReadingWhole =
    model.groupsKnown && !hasMalformed(model, 'groups') && model.gaps.every(({ kind }) => kind !== 'stale');
  const absent = [...byKey.values()].flat();
  const revoked = isReadingWhole ? absent.filter(({ decided }) => decided?.decision === 'revoke') : [];
  const decided = memberships.filter(({ status }) => isDecision(status)).length;
  const openQuestions = memberships.filter(({ status }) => status === 'ask').length;
  const takenOver = memberships.filter(({ isTakenOver }) => isTakenOver).length;
  return {
    campaign,
    memberships,
    revoked,
    isReadingWhole,
    problems: problems.sort((one, other) => one.start - other.start),
    progress: { decided, openQuestions, takenOver, all: memberships.length },
    isComplete: campaign.isReadable && isReadingWhole && decided === memberships.length && openQuestions === 0,
  };
}

export function isDecision(status: MembershipStatus): status is Decision {
  return DECISIONS.some((one) => one === status);
}

function statusOf(items: readonly CampaignItem[], group: GroupEntry, today: number): MembershipStatus {
  const decided = items.flatMap((item) => item.decided ?? []);
  const [first] = decided;
  if (first === undefined) return 'undecided';
  // Two equal decisions count as one.
  if (decided.some(({ decision }) => decision !== first.decision)) return 'conflict';
  if (group.missing.includes('roles') || group.roles.some(({ id }) => !first.gives.includes(id))) return 'changed';
  return first.next !== undefined && first.next <= today ? 'due' : first.decision;
}

function problemsOf(
  items: readonly CampaignItem[],
  { place }: CampaignItem,
  status: MembershipStatus,
  group: GroupEntry,
  principal: Principal,
): readonly FileProblem[] {
  const who = oneLine(memberName(principal));
  const name = oneLine(groupName(group));
  const problems: FileProblem[] = [];
  if (status === 'conflict') {
    const message = l10n.t('There are two decisions about {0} in {1}, so neither counts.', who, name);
    for (const item of items) problems.push(problem('conflict', item.place, message));
  }
  if (status === 'revoke')
    problems.push(
      problem(
        'still-there',
        place,
        l10n.t('{0} is still in {1}, although this membership was revoked.', who, name),
        'warning',
      ),
    );
  if (status === 'changed')
    problems.push(
      problem('changed', place, l10n.t('The roles of {0} have changed: decide again.', name), 'information'),
    );
  if (status === 'due') problems.push(problem('due', place, l10n.t('This decision is due again.'), 'information'));
  return problems;
}

function ownDecision(
  { place, decided, value }: CampaignItem,
  { id, email, kind }: Principal,
  idsOf: (name: string) => ReadonlySet<string>,
): readonly FileProblem[] {
  if (decided === undefined) return [];
  const { by } = decided;
  const isOwn =
    (email !== undefined && lowerCaseAscii(email) === lowerCaseAscii(by)) ||
    by === `${kind}:${id}` ||
    (kind !== 'serviceAccount' && idsOf(by).has(id));
  if (!isOwn) return [];
  const at = value.fields?.get('by')?.value ?? place;
  return [problem('own-decision', at, l10n.t('Nobody should decide on their own access.'), 'warning')];
}

/** The IDs of the people whom decisions name by an email address: a group can list them by ID alone. */
function reviewerIds({ principals }: AccessModel, account: Reviewer | undefined) {
  const ids = new Map<string, Set<string>>();
  const add = (name: string, id: string) => {
    const idsOfName = ids.get(lowerCaseAscii(name)) ?? new Set();
    ids.set(lowerCaseAscii(name), idsOfName.add(id));
  };
  for (const { kind, email, id } of principals) if (kind === 'subject' && email !== undefined) add(email, id);
  if (account) add(account.label, account.id);
  const none: ReadonlySet<string> = new Set();
  return (name: string) => ids.get(lowerCaseAscii(name)) ?? none;
}

/** `subject 1b8f…|https://…`: unique in a group, and the same on every machine. */
export function memberIdentity({ kind, id, issuer }: Principal): string {
  return kind === 'subject' ? `${kind} ${id}|${issuer ?? ''}` : `${kind} ${id}`;
}

export function membershipKey(group: string, who: string): string {
  return JSON.stringify([group, who]);
}

/** In the order of the file. */
export function sortedMemberships(model: AccessModel) {
  return model.groups
    .flatMap((group) =>
      group.members.map((principal) => {
        const who = memberIdentity(principal);
        return { group, principal, who, key: membershipKey(group.key, who) };
      }),
    )
    .sort((one, other) => compareText(one.group.key, other.group.key) || compareText(one.who, other.who));
}

/** The next membership to decide after a place in the text; after the last one, it starts again at the beginning. */
export function nextUndecided({ memberships }: CampaignState, after: number): Membership | undefined {
  const open = memberships.filter(({ status }) => !isDecision(status));
  return open.find(({ item }) => item !== undefined && item.value.start > after) ?? open[0];
}
