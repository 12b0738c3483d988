import * as vscode from 'vscode';
import { fenced } from '../fenced.ts';
import { linesOf } from '../passage.ts';
import { imageName } from './images.ts';

/** The user's words, followed by what was attached to them; images are only named, see `attachedImages`. */
export async function promptWithReferences({
  prompt,
  references,
}: Pick<vscode.ChatRequest, 'prompt' | 'references'>): Promise<string> {
  return [prompt, ...(await Promise.all(references.map(attachment)))].join('\n\n');
}

async function attachment(reference: vscode.ChatPromptReference): Promise<string> {
  const { value, modelDescription, id } = reference;
  const image = imageName(reference);
  if (image !== undefined) return vscode.l10n.t('Attached image: {0}', image);
  if (typeof value === 'string') return fenced(modelDescription ?? vscode.l10n.t('Attachment'), value, '');
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (!(uri instanceof vscode.Uri)) return unreadable(modelDescription ?? id);
  const name = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const range = value instanceof vscode.Location ? value.range : undefined;
    const lines = range ? ` ${linesOf(range)}` : '';
    return fenced(name + lines, document.getText(range), document.languageId);
  } catch {
    return unreadable(name);
  }
}

/** What was attached is never left out silently. */
function unreadable(name: string): string {
  return vscode.l10n.t('{0} was attached but cannot be read as text.', name);
}
