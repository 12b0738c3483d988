import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether a module was started as a program rather than imported. (`import.meta.main` is newer than the oldest Node here.) */
export function isMain(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && fs.realpathSync(started) === fileURLToPath(url);
}

/** The whole number that option `name` of the command line gives. @throws Error with a sentence for whoever typed it. */
export function countOption<Name extends string>(
  values: Readonly<Record<Name, string>>,
  name: Name,
  least = 1,
): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name} must be a whole number from ${least} up.`);
  return value;
}
