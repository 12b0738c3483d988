import * as l10n from '@vscode/l10n';
import { oneLine } from '../base/text.ts';
import type { AccessMetadata } from './model.ts';
import {
  type AccessModel,
  attentionOf,
  type Gap,
  type GroupEntry,
  type GroupList,
  isBeingDeleted,
  openFindings,
  PRINCIPAL_KINDS,
  type Principal,
  type PrincipalKind,
  type RoleEntry,
} from './model.ts';

/*
 * Descriptions for people, in the language of the editor. `english.ts` has those for models and files.
 */

export function kindName(kind: PrincipalKind): string {
  switch (kind) {
    case 'subject':
      return l10n.t('subject');
    case 'user':
      return l10n.t('user ID');
    case 'serviceAccount':
      return l10n.t('service account');
  }
}

/** Servers list the same people in both ways, without a link between them. */
export function duplicatePeopleNote(): string {
  return l10n.t('A subject comes from the identity provider, a user ID from the cloud. The same person may have both.');
}

/** Whether the same person can be among these twice. */
export function mayContainDuplicates(members: readonly Pick<Principal, 'kind'>[]): boolean {
  return members.some(({ kind }) => kind === 'subject') && members.some(({ kind }) => kind === 'user');
}

/** `2 subjects, 2 user IDs, 1 service account`. Not one number, because that could count people twice. */
export function membersText(members: readonly Pick<Principal, 'kind'>[]): string {
  const texts = PRINCIPAL_KINDS.flatMap((kind) => {
    const many = members.filter((member) => member.kind === kind).length;
    return many === 0 ? [] : [memberCountText(kind, many)];
  });
  return texts.join(', ') || l10n.t('no members');
}

function memberCountText(kind: PrincipalKind, many: number): string {
  switch (kind) {
    case 'subject':
      return many === 1 ? l10n.t('1 subject') : l10n.t('{0} subjects', many);
    case 'user':
      return many === 1 ? l10n.t('1 user ID') : l10n.t('{0} user IDs', many);
    case 'serviceAccount':
      return many === 1 ? l10n.t('1 service account') : l10n.t('{0} service accounts', many);
  }
}

export function groupCountText(many: number): string {
  return many === 1 ? l10n.t('1 group') : l10n.t('{0} groups', many);
}

/** `ada@acme.example`; without an email address the kind and the ID: `user ID 17`. */
export function memberName({ kind, id, email }: Pick<Principal, 'kind' | 'id' | 'email'>): string {
  return email ?? `${kindName(kind)} ${id}`;
}

export function roleCountText(many: number): string {
  return many === 1 ? l10n.t('1 role') : l10n.t('{0} roles', many);
}

/** `2026-03-01 12:00 UTC`: the same in every time zone. */
export function timeText(at = Number.NaN): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return l10n.t('unknown time');
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What is unusual about its provisioning and its health: none for a healthy, provisioned resource. */
export function stateTexts({ healthStatus, provisioningStatus }: AccessMetadata): readonly string[] {
  return [provisioningText(provisioningStatus), healthText(healthStatus)].filter((text) => text !== '');
}

function provisioningText(status: string): string {
  if (status === 'provisioned') return '';
  if (status === 'provisioning') return l10n.t('Provisioning');
  return status === 'deprovisioning' ? l10n.t('Deprovisioning') : l10n.t('Provisioning {0}', status);
}

function healthText(status: string): string {
  if (status === 'healthy') return '';
  return status === 'degraded' ? l10n.t('Degraded') : l10n.t('Health {0}', status);
}

/** A list that the service left out of a group. */
export function missingText(list: GroupList): string {
  return list === 'roles'
    ? l10n.t('roles not sent by the service')
    : l10n.t('service accounts not sent by the service');
}

/** What is unusual about a group. */
export function groupNotes({ group, missing }: GroupEntry): readonly string[] {
  const { metadata } = group;
  const attention = attentionOf(metadata);
  const states = { error: l10n.t('error'), degraded: l10n.t('degraded') };
  return [
    ...(isBeingDeleted(metadata) ? [l10n.t('being deleted')] : []),
    ...(attention === undefined ? [] : [states[attention]]),
    ...missing.map(missingText),
  ];
}

/** What is missing in an answer, as a sentence. */
export function gapText({ list, kind, count, reason }: Gap): string {
  const isGroups = list === 'groups';
  const withReason = (sentence: string) => (reason === '' ? sentence : `${sentence} ${oneLine(reason)}`);
  switch (kind) {
    case 'unread':
      return withReason(isGroups ? l10n.t('The groups could not be read.') : l10n.t('The roles could not be read.'));
    case 'stale':
      return withReason(
        isGroups
          ? l10n.t('The groups could not be refreshed, so earlier data is shown.')
          : l10n.t('The roles could not be refreshed, so earlier data is shown.'),
      );
    case 'malformed':
      if (count === 1) {
        return isGroups
          ? l10n.t('1 group could not be understood and was left out.')
          : l10n.t('1 role could not be understood and was left out.');
      }
      return isGroups
        ? l10n.t('{0} groups could not be understood and were left out.', count)
        : l10n.t('{0} roles could not be understood and were left out.', count);
    case 'missing':
      return count === 1
        ? l10n.t('The service sent 1 group without a list of roles or service accounts, so these are unknown.')
        : l10n.t(
            'The service sent {0} groups without a list of roles or service accounts, so these are unknown.',
            count,
          );
  }
}

/** The findings of access rules about an entry that are not accepted, one a line. */
export function findingsText(model: AccessModel, entry: GroupEntry | Principal | RoleEntry): string {
  return openFindings(model, entry)
    .map(({ message }) => oneLine(message))
    .join('\n');
}
