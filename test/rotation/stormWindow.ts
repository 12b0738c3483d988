// One editor window of the storm: uses the real module, asks for tokens all the time and uses them.
import fs from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../src/core/base/connection.ts';
import { asRolecallError } from '../../src/core/base/errors.ts';
import { AuthorizationServer } from '../../src/core/oauth/authorizationServer.ts';
import { JoiningServer } from '../../src/core/oauth/joining/joiningServer.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from '../../src/core/oauth/rotation/timeouts.ts';
import { TokenManager } from '../../src/core/oauth/rotation/tokenManager.ts';
import { firstSession } from '../../src/core/oauth/session.ts';
import { silentLog } from '../support/silentLog.ts';
import type { FromWindow, ToWindow, WindowOptions } from './messages.ts';
import { openStore } from './stores.ts';

const options = JSON.parse(process.argv[2] ?? '') as WindowOptions;
const never = new AbortController().signal;

const connection: Connection = {
  id: 'service',
  label: 'storm',
  identityUrl: options.serverUrl,
  inferenceUrl: options.serverUrl,
  clientId: 'storm',
  clientAuthentication: 'client_secret_post',
  redirectUri: 'http://127.0.0.1:1/callback',
  scope: 'openid',
};

const tell = (message: FromWindow): void => {
  if (process.connected) process.send?.(message);
};

/** The generation in the first line of the sealed file, read without the module under test. */
async function seen(): Promise<number> {
  const [folder] = await fs.readdir(options.state);
  const bytes = await fs.readFile(path.join(options.state, folder ?? '', 'session.sealed')).catch(() => undefined);
  const line = bytes?.subarray(0, bytes.indexOf('\n')).toString() ?? '{"generation":0}';
  return (JSON.parse(line) as { generation: number }).generation;
}

const server = new AuthorizationServer({
  connection,
  clientSecret: 'storm-secret',
  log: silentLog,
  fetch: async (url, init) => {
    const headers = { ...(init?.headers as Record<string, string>), 'x-pid': String(process.pid) };
    return fetch(url, { ...init, headers: { ...headers, 'x-seen': String(await seen()) } });
  },
});

const store = await openStore(options.storeMode, options.storeFolder, options.pace);
const tokenManager = new TokenManager({
  connection,
  store,
  prepareRefresh: async () => (refreshToken, signal) => server.refresh(refreshToken, signal),
  addSecret: () => {},
  log: process.env.STORM_LOG === undefined ? silentLog : loud(),
  now: Date.now,
  state: options.state,
  timeouts: hurried(DEFAULT_TIMEOUTS, options.pace),
  ...(options.later && { protocol: { version: 2, oldest: 1, extras: { colour: 'blue', windows: [{ id: 1 }] } } }),
});

let reloadTold = false;
let ended = 0;
let hadSession = options.expectsSession;
tokenManager.onDidChange((state) => {
  if (state.kind === 'signedOut' && hadSession) tell({ type: 'signedOut' });
  if (state.kind === 'ended') {
    // Only a test may look into a token.
    const session = Number(/^rt\.(\d+)\./.exec(lastRefreshToken)?.[1] ?? 0);
    if (session === ended) return;
    ended = session;
    tell({ type: 'ended', session, reason: state.reason, sentence: state.error.message });
  }
  if (state.kind === 'signedIn') {
    hadSession = true;
    lastRefreshToken = tokenManager.session?.refreshToken ?? lastRefreshToken;
  }
});
let lastRefreshToken = '';

process.on('message', (message: ToWindow) => {
  const work = message.type === 'signIn' ? signIn() : settle();
  void work.catch((error: unknown) => {
    if (message.type === 'signIn') tell({ type: 'notSignedIn' });
    report(error);
  });
});
process.on('disconnect', () => process.exit(0));

async function signIn(): Promise<void> {
  const answer = await fetch(`${options.serverUrl}/sign-in`, { method: 'POST' });
  const grant = (await answer.json()) as { access_token: string; refresh_token: string; expires_in: number };
  const tokens = {
    accessToken: grant.access_token,
    refreshToken: grant.refresh_token,
    expiresInSeconds: grant.expires_in,
  };
  await tokenManager.signIn(firstSession(connection, tokens, { id: 'ada', label: 'Ada' }, Date.now()));
  const session = Number(grant.refresh_token.split('.')[1]);
  tell({ type: 'signedIn', session, generation: tokenManager.session?.generation ?? Number.MAX_SAFE_INTEGER });
}

async function settle(): Promise<void> {
  for (;;) {
    try {
      if (await useOnce()) break;
    } catch {
      await sleep(20); // The loop below reports what is worth it.
    }
  }
  tell({ type: 'settled', generation: tokenManager.session?.generation ?? 0 });
}

/** One request as the extension makes it: one more try after a 401. @returns whether it was accepted. */
async function useOnce(): Promise<boolean> {
  const token = await tokenManager.accessToken(never);
  if (await accepts(token)) return true;
  const next = await tokenManager.refreshAfter401(token, never);
  return next !== undefined && (await accepts(next));
}

async function accepts(token: string): Promise<boolean> {
  const answer = await fetch(`${options.serverUrl}/api`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status === 200;
}

function report(thrown: unknown, waitedMs = 0): void {
  const { kind, message } = asRolecallError(thrown);
  if (kind === 'timeout' && message.includes('process ID')) tell({ type: 'holderSilent', waitedMs });
  else tell({ type: 'failed', kind, message });
  if (tokenManager.state.kind === 'storeUnavailable' && !reloadTold) {
    reloadTold = true;
    setTimeout(() => {
      reloadTold = false;
      if (tokenManager.state.kind === 'storeUnavailable') tell({ type: 'reload' });
    }, 3000 / options.pace);
  }
}

const joiningServer = new JoiningServer({
  state: options.programs,
  about: () => ({ editor: 'storm', folders: [] }),
  signIn: () =>
    tokenManager.session && {
      session: tokenManager.session.account.id,
      urls: { identity: options.serverUrl, inference: options.serverUrl },
      tokens: { identity: tokenManager, inference: tokenManager },
      inferenceHeaders: {},
      describe: async () => ({ account: 'Ada', organizations: [] }),
    },
  ask: async () => true,
  calls: {},
  fetch,
  log: silentLog,
});
await joiningServer.open();
await tokenManager.load();
flushCompileCache(); // A killed process leaves none otherwise.
for (let turn = 0; ; turn += 1) {
  const began = performance.now();
  try {
    if (turn % 12 === 0) await useOnce();
    else await tokenManager.accessToken(never);
  } catch (error) {
    report(error, performance.now() - began);
    await sleep(20);
  }
  if (Math.random() < 0.005) await store.disturb();
  await sleep(10 + Math.random() * 50);
}

function hurried(limits: Timeouts, pace: number): Timeouts {
  const faster = (value: number | readonly number[]) =>
    typeof value === 'number' ? value / pace : value.map((each) => each / pace);
  return Object.fromEntries(
    Object.entries(limits as unknown as Record<string, number | readonly number[]>).map(([name, value]) => [
      name,
      faster(value),
    ]),
  ) as unknown as Timeouts;
}

function loud(): typeof silentLog {
  const write = (message: string) => console.error(`${Date.now() % 1e6} ${process.pid} ${message}`);
  return { trace: write, debug: write, info: write, warn: write, error: write };
}
