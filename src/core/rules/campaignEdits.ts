import * as l10n from '@vscode/l10n';
import { Document, isMap, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import { timeText } from '../access/descriptions.ts';
import { englishMemberName } from '../access/english.ts';
import type { AccessModel, GroupEntry, Principal } from '../access/model.ts';
import { groupName } from '../access/queries.ts';
import { RolecallError, type TextRange } from '../base/errors.ts';
import { compareText, oneLine } from '../base/text.ts';
import {
  CAMPAIGN_FORMAT,
  type Campaign,
  campaignState,
  DECISION_KEYS,
  type Decision,
  isDecision,
  type Membership,
  memberIdentity,
  membershipKey,
  sortedMemberships,
} from './campaign.ts';
import { documentText } from './declare.ts';
import { hasMalformed } from './references.ts';
import { parseForEdit, parseYaml, placeOf, type Value } from './schema.ts';

/* Writes into files of decisions: a whole one, or one decision. The rest of the file is unchanged. */

/** The library indents the empty line before the first block. */
function reviewText(document: Document, source: string): string {
  return documentText(document, source).replace(/^items:(\r?\n) +(\r?\n)/m, 'items:$1$2');
}

/**
 * A new file of decisions, with every membership that was read. Decisions of `previous` whose grant is unchanged are
 * taken over; memberships that are new, changed, due or decided twice are open.
 *
 * @throws RolecallError where the groups could not all be read.
 */
export function startCampaign(model: AccessModel, now: number, previous?: Campaign): string {
  if (!model.groupsKnown || hasMalformed(model, 'groups'))
    throw new RolecallError('invalidRequest', l10n.t('Not all groups could be read, so they cannot be reviewed.'));
  const before = previous && campaignState(previous, model, now);
  const kept = new Map(
    before?.memberships.map((one) => [membershipKey(one.group.key, memberIdentity(one.principal)), one]),
  );
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
  const node = document.createNode({ group: group.key, who: memberIdentity(principal) }) as YAMLMap;
  node.spaceBefore = true;
  node.commentBefore = ` ${oneLine(groupName(group))}: ${oneLine(englishMemberName(principal))}`;
  for (const key of DECISION_KEYS) {
    const value = decided?.fields?.get(key)?.value;
    if (value !== undefined) setField(document, node, key, plainOf(value));
  }
  return node;
}

/** The plain value of what was read. */
function plainOf(value: Value): unknown {
  if (value.items) return value.items.map(plainOf);
  if (value.fields) return Object.fromEntries([...value.fields].map(([key, field]) => [key, plainOf(field.value)]));
  return value.text ?? '';
}

function setField(document: Document, node: YAMLMap, key: string, value: unknown): void {
  const child = document.createNode(value);
  if (isSeq(child)) child.flow = true;
  node.set(key, child);
}

export interface NewDecision {
  readonly decision: Decision;
  readonly by: string;
  readonly note?: string;
  readonly next?: string;
}

/** The text with one membership decided, or undecided again. If it has no block, one is added at its place. */
export function writeDecision(
  source: string,
  { group, principal }: Pick<Membership, 'group' | 'principal'>,
  decision: NewDecision | undefined,
  now: number,
): string {
  const document: Document = parseForEdit(source);
  const items = document.get('items');
  if (!isSeq(items)) throw new RolecallError('invalidRequest', l10n.t('The file has errors. Correct them first.'));
  const who = memberIdentity(principal);
  const isIt = (node: unknown) =>
    isMap(node) && String(node.get('group')) === group.key && String(node.get('who')) === who;
  let node = items.items.find(isIt) as YAMLMap | undefined;
  for (const repeated of items.items.filter((one) => isIt(one) && one !== node))
    items.items.splice(items.items.indexOf(repeated), 1);
  if (node === undefined) {
    node = itemNode(document, group, principal, undefined);
    const after = items.items.findIndex(
      (one) =>
        isMap(one) &&
        (compareText(String(one.get('group')), group.key) || compareText(String(one.get('who')), who)) > 0,
    );
    items.items.splice(after < 0 ? items.items.length : after, 0, node);
  }
  for (const key of decision === undefined ? DECISION_KEYS : ['note', 'next']) node.delete(key);
  if (decision === undefined) return reviewText(document, source);
  setField(document, node, 'gives', group.roles.map(({ id }) => id).sort(compareText));
  setField(document, node, 'decision', decision.decision);
  setField(document, node, 'by', decision.by);
  setField(document, node, 'date', new Date(now).toISOString().slice(0, 10));
  if (decision.note !== undefined) setField(document, node, 'note', decision.note);
  if (decision.next !== undefined) setField(document, node, 'next', decision.next);
  return reviewText(document, source);
}

/** The place of a membership's block in a text. */
export function decisionPlace(
  source: string,
  { group, principal }: Pick<Membership, 'group' | 'principal'>,
): TextRange | undefined {
  const { document } = parseYaml(source);
  const items = document?.get('items');
  if (!isSeq(items)) return undefined;
  const node = items.items.find(
    (one) =>
      isMap(one) && String(one.get('group')) === group.key && String(one.get('who')) === memberIdentity(principal),
  );
  return placeOf(node);
}
