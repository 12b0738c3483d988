// One program beside the windows of the storm: uses the sign-in of whichever window answers, all the time.
import { setTimeout as sleep } from 'node:timers/promises';
import { asRolecallError } from '../../src/core/base/errors.ts';
import { IdentityClient } from '../../src/core/identity/identityClient.ts';
import { findWindows } from '../../src/core/oauth/joining/findWindows.ts';
import { silentLog } from '../support/silentLog.ts';
import type { FromProgram } from './messages.ts';

const [state = '', identityUrl = ''] = process.argv.slice(2);
const never = new AbortController().signal;

const tell = (message: FromProgram): void => {
  if (process.connected) process.send?.(message);
};
process.on('disconnect', () => process.exit(0));

/** As a command does: finds a window, joins it, asks a question. @returns whether there was a window. */
async function askOnce(): Promise<boolean> {
  const { windows } = await findWindows({ state, silenceMs: 500 }, never); // Some are stopped for seconds.
  const window = windows[Math.floor(Math.random() * windows.length)];
  if (!window) return false;
  const { fetch, tokens } = await window
    .join({}, () => {}, never)
    .then((joined) => ({ fetch: joined.fetch, tokens: joined.tokens('identity') }));
  const handles: string[] = [];
  const noted = {
    accessToken: async (signal: AbortSignal) => {
      const handle = await tokens.accessToken(signal);
      handles.push(handle);
      return handle;
    },
    refreshAfter401: tokens.refreshAfter401,
  };
  const client = new IdentityClient({ fetch, identityUrl, tokens: noted, log: silentLog, now: Date.now });
  await client.groups('acme', never);
  // What the server of the storm issues begins with these.
  if (handles.some((handle) => /[ar]t\.\d/.test(handle))) tell({ type: 'gotToken' });
  return true;
}

for (;;) {
  try {
    if (await askOnce()) tell({ type: 'answered' });
  } catch (error) {
    const { kind, message } = asRolecallError(error);
    tell({ type: 'notAnswered', kind, message });
  }
  await sleep(20 + Math.random() * 80);
}
