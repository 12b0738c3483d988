// The two ways in which an editor's secret store is not a register that windows share.
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionStore } from '../../src/core/oauth/rotation/sessionSecretStore.ts';

export type StoreMode = 'lag' | 'snapshot';

export interface StormStore extends SessionStore {
  /** Another extension stores something of its own. */
  disturb(): Promise<void>;
}

/** @param pace How much faster than an editor's it is. */
export async function openStore(mode: StoreMode, folder: string, pace: number): Promise<StormStore> {
  await fs.mkdir(folder, { recursive: true });
  return mode === 'lag' ? laggingStore(folder, LAG_MS / pace) : await snapshotStore(path.join(folder, 'blob.json'));
}

const LAG_MS = 2000;
const KEEP_MS = 6000;

/** The desktop: a write reaches each process 0 to `lagMs` later, and now and then takes that long itself. */
function laggingStore(folder: string, lagMs: number): StormStore {
  const lagOf = (name: string) => createHash('sha256').update(`${process.pid} ${name}`).digest().readUInt32BE() % lagMs;
  const writes = async () => {
    const names = (await fs.readdir(folder)).filter((name) => !name.endsWith('.tmp')).sort();
    return names.map((name) => ({ name, at: Number(name.split('-')[0]) }));
  };
  const write = async (text: string) => {
    if (Math.random() < 0.03) await sleep(Math.random() * lagMs);
    const name = `${Date.now()}-${randomBytes(4).toString('hex')}`;
    await replace(path.join(folder, name), text);
    const old = (await writes()).filter(({ at }) => at < Date.now() - KEEP_MS).slice(0, -1);
    await Promise.all(old.map((each) => fs.rm(path.join(folder, each.name), { force: true })));
  };
  return {
    read: async () => {
      const visible = (await writes()).filter(({ name, at }) => at + lagOf(name) <= Date.now()).at(-1);
      if (!visible) return undefined;
      return fs.readFile(path.join(folder, visible.name), 'utf8').catch(() => undefined);
    },
    write,
    disturb: async () => {},
  };
}

/** A browser: one blob, read once; whoever writes anything writes the whole of what it has read. */
async function snapshotStore(file: string): Promise<StormStore> {
  const read = await fs.readFile(file, 'utf8').catch(() => '{}');
  const snapshot = JSON.parse(read) as Record<string, string>;
  const write = () => replace(file, JSON.stringify(snapshot));
  return {
    read: async () => snapshot.session,
    write: async (text) => {
      snapshot.session = text;
      await write();
    },
    disturb: async () => {
      snapshot.other = randomBytes(4).toString('hex');
      await write();
    },
  };
}

async function replace(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  await fs.writeFile(unfinished, text);
  await fs.rename(unfinished, file);
}
