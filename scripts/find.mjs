// Finds programs, in plain JavaScript: bootstrap.mjs uses it before there is anything to run TypeScript with.
import fs from 'node:fs';
import path from 'node:path';

const isFile = (full) => fs.statSync(full, { throwIfNoEntry: false })?.isFile() ?? false;

/** The full path of a program on PATH, or undefined. */
export function findOnPath(name) {
  return programFiles(name, process.env.PATH ?? '', process.platform).find(isFile);
}

/** The command that opens a desktop editor (a launcher script, as a person types it), or undefined. */
export function findDesktopCommand() {
  return ['code', 'code-insiders', 'codium'].map(findOnPath).find((found) => found !== undefined);
}

/** The possible places of a program with this name, in the order in which a shell looks. */
export function programFiles(name, searched, platform) {
  const { join, delimiter } = platform === 'win32' ? path.win32 : path.posix;
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const folders = searched.split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)));
}
