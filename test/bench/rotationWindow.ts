// A process of the benchmark: rotates as fast as it can, in one of four ways.
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TokenManager } from '../../src/core/oauth/rotation/tokenManager.ts';
import { firstSession, type TokenGrant } from '../../src/core/oauth/session.ts';
import { silentLog } from '../support/silentLog.ts';
import { benchConnection } from './connection.ts';

export type RotationWay = 'rolecall' | 'acknowledged' | 'polling' | 'none';

export interface WindowPlan {
  readonly way: RotationWay;
  readonly state: string;
  readonly serverUrl: string;
  readonly signsIn?: boolean;
}

/** How often the rivals look. */
const POLL_MS = 20;

const plan = JSON.parse(process.argv[2] ?? '') as WindowPlan;

type Grant = TokenGrant & { readonly refreshToken: string };

async function post(url: string, body?: URLSearchParams): Promise<Grant> {
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
    const tokenManager = new TokenManager({
      connection,
      store,
      prepareRefresh: async () => (token) => refresh(serverUrl, token),
      addSecret: () => {},
      log: silentLog,
      now: Date.now,
      state,
    });
    await tokenManager.load();
    if (signsIn) {
      const session = firstSession(connection, await post(`${serverUrl}/sign-in`), { id: 'a', label: 'A' }, Date.now());
      await tokenManager.signIn(session);
    }
    const { signal } = new AbortController();
    for (;;) await tokenManager.accessToken(signal).catch(() => sleep(10)); // Not signed in yet.
  },
  acknowledged: async ({ serverUrl, state, signsIn }) => {
    const acks = path.join(state, 'acks');
    await fs.mkdir(acks, { recursive: true });
    const mine = path.join(acks, String(process.pid));
    await fs.writeFile(mine, '');
    const session = new LockedFile(state);
    void acknowledge(session, mine);
    if (signsIn) await session.keep(await post(`${serverUrl}/sign-in`));
    for (;;) {
      await session.locked(async (grant) => {
        const next = await refresh(serverUrl, grant.refreshToken);
        await session.keep(next);
        while (!(await areAll(acks, next.accessToken))) await sleep(POLL_MS);
      });
    }
  },
  polling: async ({ serverUrl, state, signsIn }) => {
    await fs.mkdir(state, { recursive: true });
    const session = new LockedFile(state);
    if (signsIn) await session.keep(await post(`${serverUrl}/sign-in`));
    for (;;) {
      await session.locked(async (grant) => session.keep(await refresh(serverUrl, grant.refreshToken)));
    }
  },
  none: async ({ serverUrl }) => {
    let { refreshToken } = await post(`${serverUrl}/sign-in`);
    for (;;) ({ refreshToken } = await refresh(serverUrl, refreshToken));
  },
};

/** A session in a file, whole and synced, and the lock that most programs use: a folder that only one can make. */
class LockedFile {
  readonly #file: string;
  readonly #lock: string;

  constructor(state: string) {
    this.#file = path.join(state, 'session.json');
    this.#lock = path.join(state, 'lock');
  }

  async read(): Promise<Grant | undefined> {
    const text = await fs.readFile(this.#file, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as Grant);
  }

  async keep(grant: Grant): Promise<void> {
    const handle = await fs.open(`${this.#file}.${process.pid}`, 'w');
    await handle.writeFile(JSON.stringify(grant));
    await handle.sync();
    await handle.close();
    await fs.rename(`${this.#file}.${process.pid}`, this.#file);
  }

  async locked(work: (grant: Grant) => Promise<void>): Promise<void> {
    while (!(await isMade(this.#lock))) await sleep(POLL_MS);
    const grant = await this.read();
    if (grant) await work(grant);
    await fs.rmdir(this.#lock);
  }
}

/** Says in a file of its own which token this window would use now. */
async function acknowledge(session: LockedFile, mine: string): Promise<void> {
  for (let last = ''; ; await sleep(POLL_MS)) {
    const token = (await session.read())?.accessToken ?? '';
    if (token !== last) await fs.writeFile(mine, token);
    last = token;
  }
}

async function areAll(acks: string, token: string): Promise<boolean> {
  const said = await Promise.all((await fs.readdir(acks)).map((name) => fs.readFile(path.join(acks, name), 'utf8')));
  return said.every((each) => each === token);
}

function isMade(folder: string): Promise<boolean> {
  return fs.mkdir(folder).then(
    () => true,
    () => false,
  );
}

process.on('disconnect', () => process.exit(0));
await ways[plan.way](plan);
