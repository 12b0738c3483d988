import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of its own for the tests of one `describe`, removed afterwards. */
export function temporaryFolder(): { readonly path: string; script(name: string, text: string): Promise<string> } {
  let folder = '';
  before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'rolecall-tools-')));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  return {
    get path() {
      return folder;
    },
    async script(name, text) {
      const file = path.join(folder, name);
      await writeFile(file, text, { mode: 0o755 });
      return file;
    },
  };
}
