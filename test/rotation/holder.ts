import fs from 'node:fs/promises';
import path from 'node:path';

export interface NewestHolder {
  readonly number: number;
  readonly pid: number;
  /** True while its socket is there: it holds, or was killed while it held. */
  readonly isListed: boolean;
}

/** Who took the newest lock, read without the module under test. */
export async function newestHolder(state: string): Promise<NewestHolder | undefined> {
  try {
    const [folder] = await fs.readdir(state);
    const locks = path.join(state, folder ?? '', 'locks');
    const numbers = (await fs.readdir(locks)).flatMap((name) =>
      /^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : [],
    );
    const number = Math.max(...numbers);
    const text = await fs.readFile(path.join(locks, `lock.${number}`), 'utf8');
    const { pid, address } = JSON.parse(text) as { pid: number; address: string };
    const isListed = await fs.lstat(address).then(
      () => true,
      () => false,
    );
    return { number, pid, isListed };
  } catch {
    return undefined; // Nobody yet, or replaced in this moment.
  }
}
