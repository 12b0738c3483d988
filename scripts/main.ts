import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether a module was started as a program rather than imported. (`import.meta.main` is newer than the oldest Node here.) */
export function isMain(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && fs.realpathSync(started) === fileURLToPath(url);
}
