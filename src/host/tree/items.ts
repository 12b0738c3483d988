import * as vscode from 'vscode';
import { duplicatePeopleNote, findingsText } from '../../core/access/descriptions.ts';
import type { GroupEntry, ReviewProgress } from '../../core/access/model.ts';
import { principalName, shortId, tagText } from '../../core/access/queries.ts';
import { commands } from '../../ids.ts';
import { targetUri } from '../accessTarget.ts';
import { clockTime } from '../formats.ts';
import { nextStep } from '../showError.ts';
import { addFacts, coloredIcon, createTreeItem, resourceItem } from './createTreeItem.ts';
import type { GroupPart, Node, NodeOf } from './nodes.ts';

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
/** The most members of a part that is expanded at first. */
const FEW = 30;

/** The known facts of an organization when its row is drawn. */
export interface OrganizationFacts {
  /** When it was read, in milliseconds since 1970. */
  readonly readAt: number | undefined;
  readonly isStale: boolean;
  readonly filter: string;
  readonly review: ReviewProgress | undefined;
}

/** The presentation of a node. */
export function treeItem(
  node: Node,
  now: number,
  factsOf: (organization: string) => OrganizationFacts,
): vscode.TreeItem {
  const item = node.kind === 'organization' ? organization(node, factsOf(node.organization), now) : look(node, now);
  item.id = node.id;
  item.contextValue = contextOf(node, factsOf);
  tellFindings(item, node);
  if (node.target && node.kind !== 'step') item.resourceUri = targetUri(node.target);
  return item;
}

/** Adds findings to the tooltip and to what is read aloud: the row's mark is only a letter. */
function tellFindings(item: vscode.TreeItem, node: Node): void {
  if (!('source' in node) || !('entry' in node || 'principal' in node)) return;
  const text = findingsText(node.source.model, 'entry' in node ? node.entry : node.principal);
  if (text === '') return;
  const findings = text.split('\n');
  addFacts(
    item,
    findings.map((finding) => [vscode.l10n.t('Found by access rules'), finding]),
  );
  const label = item.accessibilityInformation?.label ?? [item.label, item.description].filter(Boolean).join(', ');
  item.accessibilityInformation = { label: [label, ...findings].join(', ') };
}

/** Words that the `when` clauses of menus match. */
function contextOf(node: Node, factsOf: (organization: string) => OrganizationFacts): string {
  if (node.kind === 'group' || node.kind === 'role') return node.isFavorite ? `${node.kind} favorite` : node.kind;
  if (node.kind !== 'organization') return node.kind;
  const { filter, review } = factsOf(node.organization);
  return [node.kind, ...(filter === '' ? [] : ['filtered']), ...(review ? ['reviewed'] : [])].join(' ');
}

function organization(node: NodeOf<'organization'>, facts: OrganizationFacts, now: number): vscode.TreeItem {
  const { readAt, isStale, filter, review } = facts;
  const progress = review && vscode.l10n.t('{0} of {1} decided', review.decided, review.all);
  const icon = isStale ? coloredIcon('warning', 'list.warningForeground') : 'briefcase';
  const description = [
    node.otherName,
    progress === undefined ? '' : vscode.l10n.t('review: {0}', progress),
    readAt === undefined ? '' : vscode.l10n.t('as of {0}', clockTime(readAt, now)),
    isStale ? vscode.l10n.t('out of date') : '',
    filter === '' ? '' : vscode.l10n.t('filtered'),
  ];
  return createTreeItem(node.label, Collapsed, icon, description.filter((part) => part !== '').join(' · '), [
    [vscode.l10n.t('ID'), node.organization],
    [vscode.l10n.t('As of'), readAt === undefined ? undefined : clockTime(readAt, now)],
    [vscode.l10n.t('Filter'), filter],
    [vscode.l10n.t('Review'), review && `${progress} (${review.name})`],
  ]);
}

function look(node: Exclude<Node, NodeOf<'organization'>>, now: number): vscode.TreeItem {
  switch (node.kind) {
    case 'favorites':
      return createTreeItem(vscode.l10n.t('Favorites'), Expanded, 'star-full', String(node.children.length));
    case 'groups':
      return section(node, vscode.l10n.t('Groups'), 'type-hierarchy-sub');
    case 'roles':
      return section(node, vscode.l10n.t('Roles'), 'shield');
    case 'group':
      return group(node.entry, Collapsed, now);
    case 'grantedBy':
      return group(node.entry, None, now);
    case 'role':
      return node.entry.role ? resourceItem(node.entry.role, 'shield', Collapsed, now) : unlisted(node, Collapsed);
    case 'grant':
      return node.entry.role ? resourceItem(node.entry.role, 'shield', None, now) : unlisted(node, None);
    case 'part':
      return part(node);
    case 'subject':
    case 'user':
    case 'serviceAccount':
      return member(node);
    case 'notSent':
      return notSent(node);
    case 'tag':
      return createTreeItem(tagText(node.tag), None, 'tag');
    case 'bucket':
      return createTreeItem(`${node.from} … ${node.to}`, Collapsed, 'folder', `${node.range[0]}–${node.range[1]}`);
    case 'unlisted':
      return unlistedRoles(node);
    case 'empty':
      return createTreeItem(node.text, None, 'circle-slash');
    case 'stopped':
      return stopped();
    case 'problem':
      return problem(node);
    case 'step':
      return step(node);
    case 'stale':
      return stale(node, now);
    case 'malformed':
      return malformed(node);
  }
}

function group(entry: GroupEntry, state: vscode.TreeItemCollapsibleState, now: number): vscode.TreeItem {
  const item = resourceItem(entry.group, 'organization', state, now);
  if (entry.missing.length > 0) {
    item.description = [item.description, vscode.l10n.t('incomplete')].filter(Boolean).join(' · ');
  }
  return item;
}

function section(node: NodeOf<'groups' | 'roles'>, label: string, icon: string): vscode.TreeItem {
  const { count, shown } = node;
  if (count === undefined) return createTreeItem(label, Collapsed, icon, vscode.l10n.t('could not be read'));
  return createTreeItem(
    label,
    Collapsed,
    icon,
    shown === count ? String(count) : vscode.l10n.t('{0} of {1}', shown, count),
  );
}

function unlisted(node: NodeOf<'role' | 'grant'>, state: vscode.TreeItemCollapsibleState): vscode.TreeItem {
  const { entry, source } = node;
  const isKnown = source.model.rolesKnown;
  const item = createTreeItem(
    shortId(entry.id),
    state,
    'shield',
    isKnown ? vscode.l10n.t('not listed') : vscode.l10n.t('name unknown'),
    [
      [vscode.l10n.t('ID'), entry.id],
      [
        vscode.l10n.t('Note'),
        isKnown
          ? vscode.l10n.t('The service does not list this role: it is protected or has been removed.')
          : vscode.l10n.t('The roles could not be read.'),
      ],
    ],
  );
  return spokenWhole(item, entry.id);
}

/** A screen reader reads the whole ID and its description. */
function spokenWhole(item: vscode.TreeItem, id: string): vscode.TreeItem {
  if (item.label === id) return item;
  item.accessibilityInformation = { label: [id, item.description].filter(Boolean).join(', ') };
  return item;
}

function unlistedRoles({ rolesKnown, children }: NodeOf<'unlisted'>): vscode.TreeItem {
  const count = String(children.length);
  if (!rolesKnown) return createTreeItem(vscode.l10n.t('Granted by groups'), Collapsed, 'shield', count);
  return createTreeItem(vscode.l10n.t('Granted, but not listed'), Collapsed, 'shield', count, [
    [vscode.l10n.t('Note'), vscode.l10n.t('Groups have these roles, but the service does not list them.')],
  ]);
}

function part({ part: which, children }: NodeOf<'part'>): vscode.TreeItem {
  const labels: Readonly<Record<GroupPart, readonly [string, string]>> = {
    grants: [vscode.l10n.t('Roles granted'), 'shield'],
    subjects: [vscode.l10n.t('Subjects'), 'account'],
    users: [vscode.l10n.t('User IDs'), 'person'],
    serviceAccounts: [vscode.l10n.t('Service accounts'), 'server-process'],
    tags: [vscode.l10n.t('Tags'), 'tag'],
  };
  const [label, icon] = labels[which];
  const note = which === 'subjects' || which === 'users' ? duplicatePeopleNote() : undefined;
  return createTreeItem(label, children.length > FEW ? Collapsed : Expanded, icon, String(children.length), [
    [vscode.l10n.t('Note'), note],
  ]);
}

function notSent({ list }: NodeOf<'notSent'>): vscode.TreeItem {
  const labels = {
    roles: vscode.l10n.t('Roles not sent by the service'),
    serviceAccounts: vscode.l10n.t('Service accounts not sent by the service'),
  };
  return createTreeItem(labels[list], None, coloredIcon('warning', 'list.warningForeground'), '', [
    [
      vscode.l10n.t('Note'),
      vscode.l10n.t('The service did not send this list, so it is unknown whether there are any.'),
    ],
  ]);
}

function member({ kind, principal }: NodeOf<'subject' | 'user' | 'serviceAccount'>): vscode.TreeItem {
  const { id, email, issuer } = principal;
  if (kind !== 'subject') {
    const icon = kind === 'user' ? 'person' : 'server-process';
    return spokenWhole(createTreeItem(shortId(id), None, icon, '', [[vscode.l10n.t('ID'), id]]), id);
  }
  return createTreeItem(shortId(principalName(principal)), None, 'account', issuer, [
    [vscode.l10n.t('Subject'), id],
    [vscode.l10n.t('Email'), email],
    [vscode.l10n.t('Issuer'), issuer],
  ]);
}

function stopped(): vscode.TreeItem {
  const item = createTreeItem(
    vscode.l10n.t('Loading was stopped'),
    None,
    'circle-slash',
    vscode.l10n.t('click to refresh'),
  );
  item.command = { title: vscode.l10n.t('Refresh'), command: commands.refresh };
  return item;
}

function problem({ error }: NodeOf<'problem'>): vscode.TreeItem {
  const item = createTreeItem(error.message, None, coloredIcon('error', 'list.errorForeground'), undefined, [
    [vscode.l10n.t('Status'), error.details.status?.toString()],
  ]);
  const step = nextStep(error);
  if (step) item.command = { title: step.title, command: step.command, arguments: [...(step.arguments ?? [])] };
  return item;
}

function step({ step: which, target }: NodeOf<'step'>): vscode.TreeItem {
  const item =
    which === 'tryAgain'
      ? createTreeItem(vscode.l10n.t('Try Again'), None, 'refresh')
      : createTreeItem(vscode.l10n.t('Sign In with Another Account'), None, 'account');
  const title = String(item.label);
  item.command =
    which === 'tryAgain'
      ? { title, command: commands.refresh, arguments: [{ target }] }
      : { title, command: commands.signIn };
  return item;
}

function stale({ error, at }: NodeOf<'stale'>, now: number): vscode.TreeItem {
  const label = vscode.l10n.t('Could not be refreshed; shown as of {0}', clockTime(at, now));
  return createTreeItem(label, None, coloredIcon('warning', 'list.warningForeground'), error.message, [
    [vscode.l10n.t('Problem'), error.message],
  ]);
}

function malformed({ what, item }: NodeOf<'malformed'>): vscode.TreeItem {
  const label =
    what === 'group'
      ? vscode.l10n.t('A group could not be understood')
      : vscode.l10n.t('A role could not be understood');
  return createTreeItem(
    label,
    None,
    coloredIcon('warning', 'list.warningForeground'),
    vscode.l10n.t('item {0}: {1}', item.index, item.path),
    [
      [vscode.l10n.t('Where'), item.path || vscode.l10n.t('the item itself')],
      [vscode.l10n.t('Reason'), item.reason],
    ],
  );
}
