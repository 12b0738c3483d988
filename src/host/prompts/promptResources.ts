import { realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import {
  decodeText,
  MAX_IMAGE_BYTES,
  MAX_TEXT_BYTES,
  type PromptResources,
  unreadable,
} from '../../core/prompts/promptRequest.ts';
import { isInside } from '../../core/tools/permissions.ts';
import type { OpenToolRegistry } from '../conversation.ts';

/**
 * What a prompt file names beside itself: files of its workspace folder (of its own folder, where it belongs to none), read only
 * where the workspace is trusted, since they are sent to a service. No path and no link leads out of that folder.
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
  if ((type & vscode.FileType.File) === 0) throw unreadable.noFile(file);
  if (size > maxBytes) throw unreadable.tooLarge(file, maxBytes);
  return vscode.workspace.fs.readFile(uri);
}

/** @returns where the file really is, so that no link can be put in its place afterwards. */
async function confined(folder: vscode.Uri, uri: vscode.Uri, file: string): Promise<vscode.Uri> {
  if (!isInside(folder.path, uri.path, path.posix)) throw unreadable.outside(file);
  if (uri.scheme === 'file') {
    const [real, root] = await Promise.all([realpath(uri.fsPath), realpath(folder.fsPath)]).catch(() => {
      throw unreadable.missing(file);
    });
    if (!isInside(root, real)) throw unreadable.outside(file);
    return vscode.Uri.file(real);
  }
  // Elsewhere nobody says where a link leads.
  const names = uri.path.slice(folder.path.length).split('/').filter(Boolean);
  let at = folder;
  for (const name of names) {
    at = vscode.Uri.joinPath(at, name);
    const { type } = await statOf(at, file);
    if ((type & vscode.FileType.SymbolicLink) !== 0) throw unreadable.outside(file);
  }
  return uri;
}

async function statOf(uri: vscode.Uri, file: string): Promise<vscode.FileStat> {
  try {
    return await vscode.workspace.fs.stat(uri);
  } catch {
    throw unreadable.missing(file);
  }
}

function configuration(message: string): RolecallError {
  return new RolecallError('configuration', message);
}
