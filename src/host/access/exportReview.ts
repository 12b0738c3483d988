import * as vscode from 'vscode';
import { gapText } from '../../core/access/descriptions.ts';
import type { AccessModel } from '../../core/access/model.ts';
import { documentMarkdown } from '../../core/access/pageDocument.ts';
import type { ReviewOrigin } from '../../core/access/review.ts';
import { reviewCsv, reviewDocument, reviewJson } from '../../core/access/reviewText.ts';
import { cancelled } from '../../core/base/errors.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { showInformationMessage, showQuickPick, showWarningMessage } from '../dialogs.ts';
import { readPicked } from '../pickTarget.ts';

/** Export Access Review: Markdown for people, CSV for spreadsheets, JSON for programs. */
export async function exportReview(data: AccessData, node: unknown): Promise<void> {
  const read = await readPicked(data, node);
  await confirmGaps(read.model);
  const { extension, write } = await askFormat();
  const defaultUri = suggestedUri(read, extension);
  const uri = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export Access Review'),
    ...(defaultUri && { defaultUri }),
    filters: { [extension.toUpperCase()]: [extension] },
  });
  if (!uri) return;
  if (data.session !== read.session) throw cancelled(); // Signed out while the dialog was open.
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(write(read.model, readerOf(read))));
  const open = vscode.l10n.t('Open');
  const chosen = await showInformationMessage(
    vscode.l10n.t('Access review saved to {0}.', uri.path.split('/').at(-1) ?? ''),
    open,
  );
  if (chosen !== open) return;
  // Names are escaped in it, so the editor's own preview finds no picture to load.
  if (extension === 'md') await vscode.commands.executeCommand('markdown.showPreview', uri);
  else await vscode.window.showTextDocument(uri);
}

/** The reader named above a review. */
export function readerOf({ session }: ReadOrganization): ReviewOrigin {
  return { service: session.cloud.connection.label, account: session.account.label };
}

/**
 * An incomplete review is written only after the user agreed, and says that it is incomplete.
 *
 * @throws RolecallError `cancelled` unless the user continues.
 */
export async function confirmGaps({ gaps }: AccessModel): Promise<void> {
  if (gaps.length === 0) return;
  const anyway = vscode.l10n.t('Continue, Marked as Incomplete');
  const chosen = await showWarningMessage(
    vscode.l10n.t('Some of the data could not be read.'),
    { modal: true, detail: gaps.map(gapText).join('\n') },
    anyway,
  );
  if (chosen !== anyway) throw cancelled();
}

interface Format extends vscode.QuickPickItem {
  readonly extension: string;
  readonly write: (model: AccessModel, reader: ReviewOrigin) => string;
}

async function askFormat(): Promise<Format> {
  const formats: readonly Format[] = [
    {
      extension: 'md',
      description: '.md',
      label: vscode.l10n.t('Markdown, for reading'),
      write: (model, reader) => documentMarkdown(reviewDocument(model, reader)),
    },
    { extension: 'csv', description: '.csv', label: vscode.l10n.t('CSV, for a spreadsheet'), write: reviewCsv },
    {
      extension: 'json',
      description: '.json',
      label: vscode.l10n.t('JSON, for programs and later comparison'),
      write: reviewJson,
    },
  ];
  const picked = await showQuickPick(formats, { placeHolder: vscode.l10n.t('Format of the review') });
  if (!picked) throw cancelled();
  return picked;
}

function suggestedUri({ model }: ReadOrganization, extension: string): vscode.Uri | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const day = new Date(model.at ?? Date.now()).toISOString().slice(0, 10);
  const name = `access-review-${model.organization.replace(/[^\w.-]+/g, '_')}-${day}.${extension}`;
  return folder && vscode.Uri.joinPath(folder, name);
}
