import * as vscode from 'vscode';
import { fenced, isTruncated } from '../fenced.ts';
import { linesOf } from '../passage.ts';
import { imageName } from './images.ts';

/** A question with what was attached to it, as text. */
export interface WrittenQuestion {
  readonly text: string;
  /** Names of attachments that were too long to be sent whole. */
  readonly cut: readonly string[];
}

/** The user's words, followed by what was attached to them; images are only named, see `attachedImages`. */
export async function promptWithReferences({
  prompt,
  references,
}: Pick<vscode.ChatRequest, 'prompt' | 'references'>): Promise<WrittenQuestion> {
  const attached = await Promise.all(references.map(attachment));
  return {
    text: [prompt, ...attached.map(({ text }) => text)].join('\n\n'),
    cut: attached.flatMap(({ cut }) => cut),
  };
}

async function attachment(reference: vscode.ChatPromptReference): Promise<WrittenQuestion> {
  const { value, modelDescription, id } = reference;
  const image = imageName(reference);
  if (image !== undefined) return { text: vscode.l10n.t('Attached image: {0}', image), cut: [] };
  if (typeof value === 'string') return quotation(modelDescription ?? vscode.l10n.t('Attachment'), value, '');
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (!(uri instanceof vscode.Uri)) return unreadable(modelDescription ?? id);
  const name = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const range = value instanceof vscode.Location ? value.range : undefined;
    const lines = range ? ` ${linesOf(range)}` : '';
    return quotation(name + lines, document.getText(range), document.languageId);
  } catch {
    return unreadable(name);
  }
}

function quotation(name: string, text: string, language: string): WrittenQuestion {
  return { text: fenced(name, text, language), cut: isTruncated(text) ? [name] : [] };
}

/** An attachment is never left out silently. */
function unreadable(name: string): WrittenQuestion {
  return { text: vscode.l10n.t('{0} was attached but cannot be read as text.', name), cut: [] };
}
