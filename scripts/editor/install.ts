import fs from 'node:fs';
import path from 'node:path';
import { fetchEditor, installOnce, servedEditor } from '../install.mjs';
import { replaceNatives } from './natives.ts';
import { makeStrict } from './strict.ts';

const codeServer = path.join(import.meta.dirname, 'node_modules', 'code-server');

/** The program of the served editor, after `installEditor`. */
export const editorProgram: string = path.join(codeServer, 'out', 'node', 'entry.js');

/** The folder of its built-in extensions. */
export const builtinExtensions: string = path.join(codeServer, 'lib', 'vscode', 'extensions');

/** Installs the served editor on first use (600 MB) and makes it enforce the stable API. Quick afterwards. */
export async function installEditor(): Promise<void> {
  await installOnce({ ...servedEditor, title: 'The served editor, once' }, async (isFetched) => {
    if (!isFetched) {
      await fetchEditor();
    }
    // It can be made strict once only: if this is interrupted, it is fetched again.
    fs.rmSync(servedEditor.stamp, { force: true });
    replaceNatives(codeServer);
    makeStrict(codeServer);
  });
}
