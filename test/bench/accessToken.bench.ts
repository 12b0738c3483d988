// The hot path: what it costs to ask for a token that is fresh. An extension asks before every request it sends.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connectionFolderName } from '../../src/core/oauth/rotation/statePaths.ts';
import { TokenManager } from '../../src/core/oauth/rotation/tokenManager.ts';
import { firstSession, readSession, writeSession } from '../../src/core/oauth/session.ts';
import { silentLog } from '../support/silentLog.ts';
import { benchConnection } from './connection.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 9;

export async function bench(): Promise<Figure[]> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-bench-'));
  try {
    return await hotPath(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Way {
  readonly name: string;
  readonly calls: number;
  readonly call: () => Promise<unknown>;
  /** Ours divided by this one's, at most. */
  readonly aim: number;
}

async function hotPath(state: string): Promise<Figure[]> {
  const connection = benchConnection('http://127.0.0.1:1');
  const grant = { accessToken: 'a'.repeat(1500), refreshToken: 'r'.repeat(300), expiresInSeconds: 3600 };
  let text: string | undefined;
  const tokenManager = new TokenManager({
    connection,
    store: {
      read: async () => text,
      write: async (written) => {
        text = written;
      },
    },
    prepareRefresh: async () => async () => grant,
    addSecret: () => {},
    log: silentLog,
    now: Date.now,
    state,
  });
  await tokenManager.load();
  const session = firstSession(connection, grant, { id: 'ada', label: 'Ada' }, Date.now());
  await tokenManager.signIn(session);
  const { signal } = new AbortController();
  const kept = writeSession(session);
  const file = path.join(state, connectionFolderName(connection.identityUrl, connection.clientId), 'session.sealed');
  const ours = () => tokenManager.accessToken(signal);
  const rivals: Way[] = [
    {
      name: 'floor: an async function that looks at the clock and returns a constant',
      calls: 200_000,
      call: async () => (Date.now() < (session.expiresAt ?? 0) ? grant.accessToken : undefined),
      aim: 2,
    },
    {
      name: 'reading a session from a store in memory at each call, parsed and checked',
      calls: 20_000,
      call: async () => readSession(kept, connection),
      aim: 0.1,
    },
    {
      name: 'reading the file that windows share at each call, without opening its seal',
      calls: 4000,
      call: () => fs.readFile(file),
      aim: 0.01,
    },
  ];
  const measured = await measure([{ name: 'ours', calls: 200_000, call: ours, aim: 1 }, ...rivals]);
  await tokenManager.dispose();
  const value = measured.get('ours') ?? Number.NaN;
  return rivals.map(({ name, aim }) => ({
    name: 'accessToken() with a fresh token',
    value,
    unit: 'ns',
    against: name,
    ratio: value / (measured.get(name) ?? Number.NaN),
    aim,
    higherIsBetter: false,
  }));
}

/** Nanoseconds of one call: the median of rounds in which every way has its turn; the first only warms up. */
async function measure(ways: readonly Way[]): Promise<ReadonlyMap<string, number>> {
  const rounds = new Map<string, number[]>(ways.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, calls, call } of ways) {
      const began = process.hrtime.bigint();
      for (let n = 0; n < calls; n += 1) await call();
      if (round > 0) rounds.get(name)?.push(Number(process.hrtime.bigint() - began) / calls);
    }
  }
  return new Map([...rounds].map(([name, values]) => [name, median(values)]));
}
