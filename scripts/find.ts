import fs from 'node:fs';
import path from 'node:path';

/** The full path of a program on PATH, or undefined. */
export function findOnPath(name: string): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const ending of endings) {
      const full = path.join(folder, `${name}${ending}`);
      if (folder !== '' && isFile(full)) {
        return full;
      }
    }
  }
  return undefined;
}

function isFile(full: string): boolean {
  return fs.statSync(full, { throwIfNoEntry: false })?.isFile() ?? false;
}
