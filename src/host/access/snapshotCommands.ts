import * as vscode from 'vscode';
import { groupCountText, roleCountText } from '../../core/access/descriptions.ts';
import { type Difference, differenceOf, isEmptyDifference } from '../../core/access/difference.ts';
import { comparableText, differenceDocument } from '../../core/access/differenceText.ts';
import { type Review, readReview, reviewOf } from '../../core/access/review.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { commands } from '../../ids.ts';
import type { AccessData, ActiveSession, ReadOrganization } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import type { ChangeMark, ChangeMarks } from '../changeMarks.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showQuickPick, showWarningMessage } from '../dialogs.ts';
import { clockTime, formatTime } from '../formats.ts';
import { pickOrganization, readAgain } from '../pickTarget.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import type { AccessPages } from './accessPages.ts';
import { confirmGaps, readerOf } from './exportReview.ts';
import { MAX_SNAPSHOTS, type Snapshot, type SnapshotStore } from './snapshotStore.ts';

export interface CompareDeps {
  readonly data: AccessData;
  readonly documents: VirtualDocuments;
  readonly pages: () => Promise<AccessPages>;
  readonly marks: ChangeMarks;
}

/** Shows the changes since a review: in the editor's own comparison, in words, and as marks in the tree. */
export async function showDifference(
  { data, documents, pages, marks }: CompareDeps,
  read: ReadOrganization,
  before: Review,
): Promise<void> {
  if (data.session !== read.session) throw cancelled(); // Signed out while a dialog was open.
  const after = reviewOf(read.model, readerOf(read));
  const difference = differenceOf(before, after);
  if (isEmptyDifference(difference)) {
    marks.acknowledge();
    tellSame(before, after);
    return;
  }
  marks.show(marksOf(difference, read));
  await vscode.commands.executeCommand(
    'vscode.diff',
    documents.put(read, 'before.txt', comparableText(before)),
    documents.put(read, 'now.txt', comparableText(after)),
    vscode.l10n.t('{0}: {1} ↔ now', data.nameOf(after.organization), momentOf(before) ?? '?'),
    { preview: false },
  );
  // In front of the comparison, which has every line.
  await (await pages()).show(read, {
    identity: ['difference'],
    title: vscode.l10n.t('What changed in {0}', data.nameOf(after.organization)),
    icon: 'diff',
    document: (now) => {
      const current = reviewOf(now.model, readerOf(now));
      return differenceDocument(differenceOf(before, current), before, current);
    },
  });
}

/** The time of the reading, in the tree's words. */
function momentOf({ readAt }: Review): string | undefined {
  const at = Date.parse(readAt ?? '');
  return Number.isNaN(at) ? readAt : clockTime(at, Date.now());
}

/** The messages have no buttons, so there is nothing to wait for. */
function tellSame(before: Review, after: Review): void {
  if (before.gaps.length + after.gaps.length > 0) {
    void showWarningMessage(
      vscode.l10n.t('No changes were found, but the data is incomplete: some changes may be missing.'),
    );
    return;
  }
  const since = momentOf(before);
  void showInformationMessage(
    since === undefined ? vscode.l10n.t('No changes.') : vscode.l10n.t('No changes since {0}.', since),
  );
}

function marksOf({ groups, roles }: Difference, { session, model }: ReadOrganization): [AccessTarget, ChangeMark][] {
  const mark =
    (kind: 'group' | 'role', how: ChangeMark) =>
    ({ key }: { readonly key: string }): [AccessTarget, ChangeMark] => [
      { kind, key, organization: model.organization, connection: session.cloud.key },
      how,
    ];
  return [
    ...groups.added.map(mark('group', 'added')),
    ...groups.changed.map(mark('group', 'changed')),
    ...roles.added.map(mark('role', 'added')),
    ...roles.changed.map(mark('role', 'changed')),
  ];
}

export interface SnapshotCommandsDeps extends CompareDeps {
  readonly store: SnapshotStore;
}

/** Save, Compare With, Manage and Clear Snapshots; Acknowledge Changes. */
export function snapshotCommands(deps: SnapshotCommandsDeps) {
  const { data, store, marks } = deps;
  return {
    [commands.saveSnapshot]: async (node) => {
      const read = await readAgain(data, await pickOrganization(data, node));
      await confirmGaps(read.model);
      await store.save(read.session, reviewOf(read.model, readerOf(read)));
      const message = vscode.l10n.t('Snapshot saved. The {0} newest of each organization are kept.', MAX_SNAPSHOTS);
      void showInformationMessage(message); // Stays until the user closes it.
    },
    [commands.compareSnapshot]: async (node) => {
      const session = data.requireSession();
      const organization = await pickOrganization(data, node);
      const before = await askReview(deps, session, organization);
      if (data.session !== session) throw cancelled(); // Signed out while a dialog was open.
      await showDifference(deps, await readAgain(data, organization), before);
    },
    [commands.acknowledgeChanges]: () => marks.acknowledge(),
    [commands.manageSnapshots]: () => manageSnapshots(deps),
    [commands.clearSnapshots]: async () => {
      const yes = vscode.l10n.t('Delete All');
      const chosen = await showWarningMessage(
        vscode.l10n.t('Delete the snapshots of every organization and account on this machine?'),
        { modal: true },
        yes,
      );
      if (chosen !== yes) return;
      marks.acknowledge();
      await store.clear();
    },
  } satisfies Partial<Handlers>;
}

/** A snapshot, or an exported file. */
async function askReview(
  { data, store }: SnapshotCommandsDeps,
  session: ActiveSession,
  organization: string,
): Promise<Review> {
  const snapshots = await store.list(session, organization);
  const file = {
    label: vscode.l10n.t('Browse for an exported JSON review…'),
    description: '',
    iconPath: new vscode.ThemeIcon('file'),
    snapshot: undefined,
  };
  const picked = await showQuickPick([...snapshots.map((snapshot) => itemOf(data, snapshot)), file], {
    placeHolder: vscode.l10n.t('Compare current access with…'),
  });
  if (!picked) throw cancelled();
  if (picked.snapshot) return store.read(session, picked.snapshot);
  const [uri] = (await vscode.window.showOpenDialog({ filters: { JSON: ['json'] } })) ?? [];
  if (!uri) throw cancelled();
  const review = readReview(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
  if (!review) {
    const message = vscode.l10n.t('This file is not an access review that this version of Rolecall can read.');
    throw new RolecallError('invalidRequest', message);
  }
  if (review.organization === organization) return review;
  throw new RolecallError(
    'invalidRequest',
    vscode.l10n.t('This review is for {0}, not for {1}.', review.organization, organization),
  );
}

/** Lists the snapshots: each can be opened, compared with current access, or deleted. */
async function manageSnapshots(deps: SnapshotCommandsDeps): Promise<void> {
  const { data, documents, store } = deps;
  const session = data.requireSession();
  for (;;) {
    const snapshots = await store.list(session);
    if (snapshots.length === 0) {
      void showInformationMessage(vscode.l10n.t('No snapshots are kept for this account.'));
      return;
    }
    const title = vscode.l10n.t('Manage Snapshots');
    const placeHolder = vscode.l10n.t('Choose a snapshot to open, compare or delete');
    const picked = await showQuickPick(
      snapshots.map((snapshot) => itemOf(data, snapshot)),
      { title, placeHolder },
    );
    if (!picked) throw cancelled();
    const { snapshot, label } = picked;
    const open = { label: vscode.l10n.t('Open'), iconPath: new vscode.ThemeIcon('go-to-file') };
    const compare = { label: vscode.l10n.t('Compare with Current Access'), iconPath: new vscode.ThemeIcon('diff') };
    const remove = { label: vscode.l10n.t('Delete'), iconPath: new vscode.ThemeIcon('trash') };
    const action = await showQuickPick([open, compare, remove], { title: label });
    const { organization } = snapshot.head;
    if (action === remove) await store.remove(session, snapshot);
    if (action === compare) {
      if (data.session !== session) throw cancelled();
      return showDifference(deps, await readAgain(data, organization), await store.read(session, snapshot));
    }
    if (action === open) {
      const text = comparableText(await store.read(session, snapshot));
      const name = vscode.l10n.t('Snapshot {0}', snapshot.head.savedAt);
      await documents.show({ session, model: { organization } }, `${name}.txt`, text);
      return;
    }
  }
}

function itemOf(data: AccessData, snapshot: Snapshot) {
  const { organization, savedAt, groups, roles, complete } = snapshot.head;
  const size = `${groupCountText(groups)}, ${roleCountText(roles)}`;
  return {
    label: `${data.nameOf(organization)} · ${formatTime(savedAt, Date.now())}`,
    description: complete ? size : vscode.l10n.t('{0}, incomplete', size),
    snapshot,
  };
}
