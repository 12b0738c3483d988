import * as vscode from 'vscode';
import { reviewOf } from '../../core/access/review.ts';
import { type Review, readReview } from '../../core/access/reviewFormat.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { commands } from '../../ids.ts';
import type { ReadOrganization } from '../accessData.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showQuickPick, showWarningMessage } from '../dialogs.ts';
import { moment } from '../moments.ts';
import { readPicked } from '../pickTarget.ts';
import { type CompareDeps, compareWith } from './compare.ts';
import { readerOf, refuseSilentGaps } from './exportReview.ts';
import { MAX_SNAPSHOTS, type Snapshot, type SnapshotStore } from './snapshotStore.ts';

export interface SnapshotCommandsDeps extends CompareDeps {
  readonly store: SnapshotStore;
}

/** Save, Compare With, Show and Clear Snapshots; Acknowledge Changes. */
export function snapshotCommands(deps: SnapshotCommandsDeps) {
  const { data, store, marks } = deps;
  return {
    [commands.saveSnapshot]: async (node) => {
      const read = await readPicked(data, node);
      await refuseSilentGaps(read.model);
      await store.save(read.stage, reviewOf(read.model, readerOf(read)));
      const kept = vscode.l10n.t('Saved. The {0} newest snapshots of each organization are kept.', MAX_SNAPSHOTS);
      void showInformationMessage(kept); // Stays until the user closes it.
    },
    [commands.compareSnapshot]: async (node) => {
      const read = await readPicked(data, node);
      await compareWith(deps, read, await askReview(store, read));
    },
    [commands.acknowledgeChanges]: () => marks.acknowledge(),
    [commands.showSnapshots]: () => showSnapshots(deps),
    [commands.clearSnapshots]: async () => {
      const yes = vscode.l10n.t('Remove All');
      const chosen = await showWarningMessage(
        vscode.l10n.t('Remove the snapshots of every organization and account from this machine?'),
        { modal: true },
        yes,
      );
      if (chosen !== yes) return;
      marks.acknowledge();
      await store.clear();
    },
  } satisfies Partial<Handlers>;
}

/** One that is kept, or an exported file. */
async function askReview(store: SnapshotStore, { stage, model }: ReadOrganization): Promise<Review> {
  const kept = await store.list(stage, model.organization);
  const file = {
    label: vscode.l10n.t('A review exported as JSON…'),
    description: '',
    iconPath: new vscode.ThemeIcon('file'),
    snapshot: undefined,
  };
  const picked = await showQuickPick([...kept.map(itemOf), file], {
    placeHolder: vscode.l10n.t('Compare what is now with…'),
  });
  if (!picked) throw cancelled();
  if (picked.snapshot) return store.read(stage, picked.snapshot);
  const [uri] = (await vscode.window.showOpenDialog({ filters: { JSON: ['json'] } })) ?? [];
  if (!uri) throw cancelled();
  const review = readReview(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
  if (!review) {
    const message = vscode.l10n.t('This file is no access review that this version of Rolecall reads.');
    throw new RolecallError('invalidRequest', message);
  }
  if (review.organization === model.organization) return review;
  throw new RolecallError(
    'invalidRequest',
    vscode.l10n.t('That review is of {0}, not of {1}.', review.organization, model.organization),
  );
}

/** The list of what is kept, each with a way to remove it. */
async function showSnapshots({ data, store }: SnapshotCommandsDeps): Promise<void> {
  const stage = data.requireStage();
  const kept = await store.list(stage);
  if (kept.length === 0) {
    void showInformationMessage(vscode.l10n.t('No snapshots are kept for this account.'));
    return;
  }
  const picked = await showQuickPick(kept.map(itemOf), {
    placeHolder: vscode.l10n.t('Snapshots kept on this machine. Choose those to remove.'),
    canPickMany: true,
  });
  for (const { snapshot } of picked ?? []) await store.remove(stage, snapshot);
}

function itemOf(snapshot: Snapshot) {
  const { organization, savedAt, groups, roles, complete } = snapshot.head;
  const size = vscode.l10n.t('{0} groups, {1} roles', groups, roles);
  return {
    label: `${organization} · ${moment(savedAt, Date.now())}`,
    description: complete ? size : vscode.l10n.t('{0}, incomplete', size),
    snapshot,
  };
}
