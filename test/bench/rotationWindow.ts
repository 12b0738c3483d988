// A process of the benchmark: rotates as fast as it can, in one of three ways.
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../src/core/base/log.ts';
import { SharedTokenKeeper } from '../../src/core/oauth/rotation/sharedTokenKeeper.ts';
import { firstSession, type TokenGrant } from '../../src/core/oauth/session.ts';
import { benchConnection } from './connection.ts';

export type RotationWay = 'rolecall' | 'polling' | 'none';

export interface WindowPlan {
  readonly way: RotationWay;
  readonly state: string;
  readonly serverUrl: string;
  readonly signsIn?: boolean;
}

const plan = JSON.parse(process.argv[2] ?? '') as WindowPlan;

async function post(url: string, body?: URLSearchParams): Promise<TokenGrant & { refreshToken: string }> {
  const answer = await fetch(url, { method: 'POST', ...(body && { body }) });
  if (answer.status !== 200) throw new Error(String(answer.status));
  const given = (await answer.json()) as { access_token: string; refresh_token: string; expires_in: number };
  return { accessToken: given.access_token, refreshToken: given.refresh_token, expiresInSeconds: given.expires_in };
}

const refresh = (url: string, token: string) =>
  post(`${url}/oauth2/v2/token`, new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token }));

const ways: Record<RotationWay, (plan: WindowPlan) => Promise<void>> = {
  rolecall: async ({ serverUrl, state, signsIn }) => {
    const connection = benchConnection(serverUrl);
    const file = path.join(path.dirname(state), `${path.basename(state)}.store`);
    const store = {
      read: () => fs.readFile(file, 'utf8').catch(() => undefined),
      write: async (text: string) => {
        await fs.writeFile(`${file}.${process.pid}`, text);
        await fs.rename(`${file}.${process.pid}`, file);
      },
      clear: () => fs.rm(file, { force: true }),
    };
    const keeper = new SharedTokenKeeper({
      connection,
      store,
      refresh: (token) => refresh(serverUrl, token),
      learn: () => {},
      log: silentLog,
      now: Date.now,
      state,
    });
    await keeper.load();
    if (signsIn) {
      const session = firstSession(connection, await post(`${serverUrl}/sign-in`), { id: 'a', label: 'A' }, Date.now());
      await keeper.adopt(session);
    }
    const { signal } = new AbortController();
    for (;;) await keeper.accessToken(signal).catch(() => sleep(10)); // Not signed in yet.
  },
  polling: async ({ serverUrl, state, signsIn }) => {
    await fs.mkdir(state, { recursive: true });
    const [file, lock] = [path.join(state, 'session.json'), path.join(state, 'lock')];
    const keep = async (grant: TokenGrant) => {
      const handle = await fs.open(`${file}.${process.pid}`, 'w');
      await handle.writeFile(JSON.stringify(grant));
      await handle.sync();
      await handle.close();
      await fs.rename(`${file}.${process.pid}`, file);
    };
    if (signsIn) await keep(await post(`${serverUrl}/sign-in`));
    for (;;) {
      while (!(await isMade(lock))) await sleep(20);
      const text = await fs.readFile(file, 'utf8').catch(() => undefined);
      if (text !== undefined)
        await keep(await refresh(serverUrl, (JSON.parse(text) as { refreshToken: string }).refreshToken));
      await fs.rmdir(lock);
    }
  },
  none: async ({ serverUrl }) => {
    let { refreshToken } = await post(`${serverUrl}/sign-in`);
    for (;;) ({ refreshToken } = await refresh(serverUrl, refreshToken));
  },
};

function isMade(folder: string): Promise<boolean> {
  return fs.mkdir(folder).then(
    () => true,
    () => false,
  );
}

process.on('disconnect', () => process.exit(0));
await ways[plan.way](plan);
