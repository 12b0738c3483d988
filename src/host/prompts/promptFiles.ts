import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { type PromptFile, readPromptFile } from '../../core/prompts/promptFile.ts';
import { decodeText, MAX_TEXT_BYTES } from '../../core/prompts/promptRequest.ts';
import type { TextRange } from '../../core/prompts/yamlText.ts';

/** A prompt file as it stands in its editor or, where none is open, on disk. */
export class OpenedPrompt {
  readonly uri: vscode.Uri;
  readonly text: string;
  readonly file: PromptFile;
  #starts: readonly number[] | undefined;

  constructor(uri: vscode.Uri, text: string) {
    this.uri = uri;
    this.text = text;
    this.file = readPromptFile(text);
  }

  /** Its name without folders. */
  get name(): string {
    return this.uri.path.split('/').at(-1) ?? '';
  }

  rangeOf({ start, end }: TextRange): vscode.Range {
    return new vscode.Range(this.#positionAt(start), this.#positionAt(end));
  }

  /** As a document would say: most files of the Test view have none. */
  #positionAt(offset: number): vscode.Position {
    this.#starts ??= [0, ...[...this.text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return new vscode.Position(low, offset - (this.#starts[low] ?? 0));
  }
}

const opened = new WeakMap<vscode.TextDocument, { readonly version: number; readonly prompt: OpenedPrompt }>();

/** What stands in an editor; read once for each version. */
export function promptOf(document: vscode.TextDocument): OpenedPrompt {
  const known = opened.get(document);
  if (known?.version === document.version) return known.prompt;
  const prompt = new OpenedPrompt(document.uri, document.getText());
  opened.set(document, { version: document.version, prompt });
  return prompt;
}

export function documentOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

/** What stands in the editor of `uri`, changes that are not saved included, else on disk. */
export async function readPrompt(uri: vscode.Uri): Promise<OpenedPrompt> {
  let document = documentOf(uri);
  if (document) return promptOf(document);
  const text = await readFromDisk(uri);
  document = documentOf(uri); // It can have been opened, and edited, in the meantime.
  return document ? promptOf(document) : new OpenedPrompt(uri, text);
}

/** Without a mark of the byte order. @throws RolecallError `configuration` for what is too long, or no UTF-8. */
export async function readFromDisk(uri: vscode.Uri): Promise<string> {
  const name = uri.path.split('/').at(-1) ?? '';
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MAX_TEXT_BYTES) {
    const megabytes = MAX_TEXT_BYTES / (1024 * 1024);
    throw new RolecallError('configuration', vscode.l10n.t('"{0}" is larger than {1} MB.', name, megabytes));
  }
  return decodeText(await vscode.workspace.fs.readFile(uri), name);
}
