import * as l10n from '@vscode/l10n';
import { memberName, timeText } from '../access/descriptions.ts';
import type { AccessModel } from '../access/model.ts';
import { heading, notice, type PageDocument, paragraph, table } from '../access/pageDocument.ts';
import { groupName, roleName } from '../access/queries.ts';
import { oneLine } from '../base/text.ts';
import {
  type CampaignState,
  isDecision,
  type Membership,
  type MembershipStatus,
  memberIdentity,
  membershipKey,
} from './campaign.ts';
import { dateText } from './schema.ts';

/** The record for the auditor: who decided what, when, on which reading. */
export function campaignDocument(state: CampaignState, model: AccessModel, now: number): PageDocument<never> {
  const { memberships, progress, revoked, isComplete, isReadingWhole } = state;
  const open = memberships.filter(({ status }) => !isDecision(status));
  const row = ({ group, principal, status, item, isTakenOver }: Membership) => {
    const decided = item?.decided;
    return [
      [oneLine(groupName(group))],
      [oneLine(memberName(principal))],
      [oneLine(group.roles.map(roleName).join(', '))],
      [isTakenOver ? l10n.t('{0} (earlier review)', statusText(status)) : statusText(status)],
      [decided?.by ?? ''],
      [decided?.date ?? ''],
      [decided?.note ?? ''],
    ];
  };
  const columns = [
    l10n.t('Group'),
    l10n.t('Member'),
    l10n.t('Roles'),
    l10n.t('Decision'),
    l10n.t('By'),
    l10n.t('On'),
    l10n.t('Note'),
  ];
  return {
    title: l10n.t('Access decisions in {0}', model.organization),
    about: [l10n.t('read {0} · written {1}', timeText(model.at), timeText(now))],
    blocks: [
      ...(isReadingWhole ? [] : [notice(l10n.t('Not everything could be read, so the review cannot be complete.'))]),
      paragraph({ strong: progressText(state) }, isComplete ? l10n.t(' · complete') : ''),
      heading(l10n.t('Open')),
      table(columns, open.map(row), l10n.t('No open decisions.')),
      heading(l10n.t('Decided')),
      table(columns, memberships.filter(({ status }) => isDecision(status)).map(row), l10n.t('No decisions yet.')),
      ...(revoked.length === 0
        ? []
        : [
            heading(l10n.t('Revoked and removed')),
            table(
              [l10n.t('Group ID'), l10n.t('Member'), l10n.t('By'), l10n.t('On')],
              revoked.map(({ group, who, decided }) => [
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

/** `12 of 40 decided (9 in an earlier review), 2 to ask`. */
export function progressText({
  progress: { decided, all, openQuestions, takenOver },
}: Pick<CampaignState, 'progress'>): string {
  return [
    takenOver === 0
      ? l10n.t('{0} of {1} decided', decided, all)
      : l10n.t('{0} of {1} decided ({2} in an earlier review)', decided, all, takenOver),
    ...(openQuestions === 0 ? [] : [l10n.t('{0} with questions', openQuestions)]),
  ].join(', ');
}

/** Sentences about what a new review takes over from an earlier one, and what not, with the reasons. */
export function takenOverText(
  name: string,
  earlier: CampaignState,
  { progress }: Pick<CampaignState, 'progress'>,
): string {
  const { memberships, campaign } = earlier;
  const count = (status: MembershipStatus) => memberships.filter((one) => one.status === status).length;
  const there = new Set(memberships.map(({ group, principal }) => membershipKey(group.key, memberIdentity(principal))));
  const former = campaign.items.filter(
    ({ decided, group, who }) => decided && !there.has(membershipKey(group, who)),
  ).length;
  const dropped: readonly (readonly [number, string])[] = [
    [count('changed'), l10n.t('the group’s roles have changed')],
    [count('due'), l10n.t('due again')],
    [count('conflict'), l10n.t('decided twice')],
    [former, l10n.t('no longer a member')],
  ];
  const reasons = dropped.filter(([many]) => many > 0).map(([many, why]) => l10n.t('{0} ({1})', many, why));
  return [
    l10n.t('Decisions carried over from {0}: {1}.', name, progress.takenOver),
    ...(reasons.length === 0 ? [] : [l10n.t('Not carried over: {0}.', reasons.join(', '))]),
    l10n.t('Memberships to decide: {0}.', progress.all - progress.decided),
  ].join(' ');
}

/** The status of a membership as a sentence: `Kept by ada@acme.example on 2026-11-22`. */
export function membershipText({
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
      return decided(l10n.t('To be revoked: decided by {0} on {1}', oneLine(by), date));
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

export function statusText(status: MembershipStatus): string {
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
