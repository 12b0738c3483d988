import { realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { RolecallError, type TextRange } from '../../core/base/errors.ts';
import { type PromptFile, readPromptFile } from '../../core/prompts/promptFile.ts';
import {
  decodeText,
  fileErrors,
  MAX_IMAGE_BYTES,
  MAX_TEXT_BYTES,
  type PromptResources,
} from '../../core/prompts/promptRequest.ts';
import { isInside } from '../../core/tools/permissions.ts';
import type { OpenToolRegistry } from '../conversation.ts';

/** A prompt file with the text in its editor or, if none is open, on disk. */
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

  /** The members of a document that are needed: most files of the Test view have no document. */
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

/** The text in an editor; read once for each version. */
export function promptOf(document: vscode.TextDocument): OpenedPrompt {
  const cached = opened.get(document);
  if (cached?.version === document.version) return cached.prompt;
  const prompt = new OpenedPrompt(document.uri, document.getText());
  opened.set(document, { version: document.version, prompt });
  return prompt;
}

export function documentOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

/** The text in the editor of `uri`, unsaved changes included, else on disk. */
export async function readPrompt(uri: vscode.Uri): Promise<OpenedPrompt> {
  let document = documentOf(uri);
  if (document) return promptOf(document);
  const text = await readFromDisk(uri);
  document = documentOf(uri); // It can have been opened, and edited, in the meantime.
  return document ? promptOf(document) : new OpenedPrompt(uri, text);
}

/** Without a byte order mark. @throws RolecallError `configuration` for a file that is too long, or not UTF-8. */
export async function readFromDisk(uri: vscode.Uri): Promise<string> {
  const name = uri.path.split('/').at(-1) ?? '';
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MAX_TEXT_BYTES) {
    const megabytes = MAX_TEXT_BYTES / (1024 * 1024);
    throw new RolecallError('configuration', vscode.l10n.t('"{0}" is larger than {1} MB.', name, megabytes));
  }
  return decodeText(await vscode.workspace.fs.readFile(uri), name);
}

/**
 * Reads the files that a prompt file names: those of its workspace folder (of its own folder, if it belongs to none),
 * and only if the workspace is trusted, since they are sent to a service. No path and no link leads out of that folder.
 */
export function resourcesOf(prompt: vscode.Uri, openTools: OpenToolRegistry): PromptResources {
  return {
    readText: async (file, signal) => decodeText(await readConfined(prompt, file, MAX_TEXT_BYTES, signal), file),
    readImage: (file, signal) => readConfined(prompt, file, MAX_IMAGE_BYTES, signal),
    tools: async () => (await openTools()).tools.map(({ definition }) => definition),
  };
}

async function readConfined(
  prompt: vscode.Uri,
  file: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (!vscode.workspace.isTrusted) {
    throw configuration(vscode.l10n.t('Files can be included only in a trusted workspace.'));
  }
  if (prompt.scheme === 'untitled') {
    throw configuration(vscode.l10n.t('Save the prompt file first: "{0}" is relative to it.', file));
  }
  const own = vscode.Uri.joinPath(prompt, '..');
  const folder = vscode.workspace.getWorkspaceFolder(prompt)?.uri ?? own;
  const uri = await confined(folder, vscode.Uri.joinPath(own, file), file);
  signal.throwIfAborted();
  const { size, type } = await statOf(uri, file);
  if ((type & vscode.FileType.File) === 0) throw fileErrors.noFile(file);
  if (size > maxBytes) throw fileErrors.tooLarge(file, maxBytes);
  return vscode.workspace.fs.readFile(uri);
}

/** @returns the real path of the file, so that no link can take its place afterwards. */
async function confined(folder: vscode.Uri, uri: vscode.Uri, file: string): Promise<vscode.Uri> {
  if (!isInside(folder.path, uri.path, path.posix)) throw fileErrors.outside(file);
  if (uri.scheme === 'file') {
    const [real, root] = await Promise.all([realpath(uri.fsPath), realpath(folder.fsPath)]).catch(() => {
      throw fileErrors.missing(file);
    });
    if (!isInside(root, real)) throw fileErrors.outside(file);
    return vscode.Uri.file(real);
  }
  // Other file systems do not tell where a link leads.
  const names = uri.path.slice(folder.path.length).split('/').filter(Boolean);
  let at = folder;
  for (const name of names) {
    at = vscode.Uri.joinPath(at, name);
    const { type } = await statOf(at, file);
    if ((type & vscode.FileType.SymbolicLink) !== 0) throw fileErrors.outside(file);
  }
  return uri;
}

async function statOf(uri: vscode.Uri, file: string): Promise<vscode.FileStat> {
  try {
    return await vscode.workspace.fs.stat(uri);
  } catch {
    throw fileErrors.missing(file);
  }
}

function configuration(message: string): RolecallError {
  return new RolecallError('configuration', message);
}
