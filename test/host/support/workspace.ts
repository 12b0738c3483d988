import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { settings } from '../../../src/ids.ts';

/** The opened folder: a copy of examples/workspace that belongs to this run. */
export function folder(): vscode.WorkspaceFolder {
  return vscode.workspace.workspaceFolders?.[0] ?? assert.fail('no folder is open');
}

/** A file of the opened folder; after each test of the `describe` that calls this it is again what it was. */
export function workspaceFile(relative: string) {
  let before: Uint8Array | undefined;
  const uri = () => vscode.Uri.joinPath(folder().uri, relative);
  const remove = async () => {
    if (await isThere(uri())) await vscode.workspace.fs.delete(uri(), { recursive: true });
  };
  beforeEach(async () => {
    before = (await isThere(uri())) ? await vscode.workspace.fs.readFile(uri()) : undefined;
  });
  afterEach(async () => {
    if (before) await vscode.workspace.fs.writeFile(uri(), before);
    else await remove();
  });
  return {
    uri,
    remove,
    write: async (text: string) => vscode.workspace.fs.writeFile(uri(), new TextEncoder().encode(text)),
  };
}

/** User settings. After each test of the `describe` that calls this none is set, or after `clear` when they are kept. */
export function userSettings({ keep = false } = {}) {
  const touched = new Map<string, string>();
  const update = async (section: string, name: string, value: unknown, target: vscode.ConfigurationTarget) =>
    vscode.workspace.getConfiguration(section || undefined).update(name, value, target);
  const clear = async () => {
    const { section, organizations, organizationLabels } = settings;
    for (const name of [organizations, organizationLabels]) touched.set(name, section);
    const set = [...touched].filter(
      ([name, of]) => vscode.workspace.getConfiguration(of || undefined).inspect(name)?.globalValue !== undefined,
    );
    touched.clear();
    await Promise.all(set.map(([name, of]) => update(of, name, undefined, vscode.ConfigurationTarget.Global)));
  };
  if (!keep) afterEach(clear);
  return {
    clear,
    /** Of Rolecall. */
    write: async (values: Readonly<Record<string, unknown>>) => {
      for (const name of Object.keys(values)) touched.set(name, settings.section);
      const { Global } = vscode.ConfigurationTarget;
      await Promise.all(Object.entries(values).map(([name, value]) => update(settings.section, name, value, Global)));
    },
    /** Of anybody else. */
    writeElsewhere: async (name: string, value: unknown) => {
      touched.set(name, '');
      await update('', name, value, vscode.ConfigurationTarget.Global);
    },
  };
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
