import * as vscode from 'vscode';
import { type Difference, differenceOf, isEmptyDifference } from '../../core/access/difference.ts';
import { comparableText, differenceDocument } from '../../core/access/differenceText.ts';
import { reviewOf } from '../../core/access/review.ts';
import type { Review } from '../../core/access/reviewFormat.ts';
import { cancelled } from '../../core/base/errors.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import type { ChangeMark, ChangeMarks } from '../changeMarks.ts';
import { showInformationMessage, showWarningMessage } from '../dialogs.ts';
import { clockTime } from '../times.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import type { AccessPages } from './accessPages.ts';
import { readerOf } from './exportReview.ts';

export interface CompareDeps {
  readonly data: AccessData;
  readonly documents: VirtualDocuments;
  readonly pages: () => Promise<AccessPages>;
  readonly marks: ChangeMarks;
}

/** Shows what changed since a review: in the editor's own comparison, in words, and as marks in the tree. */
export async function compareWith(
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

/** When it was read, as the tree says it. */
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
