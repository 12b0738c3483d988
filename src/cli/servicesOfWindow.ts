import fs from 'node:fs/promises';
import { withTimeout } from '../core/base/abort.ts';
import { RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { formatSeconds } from '../core/base/text.ts';
import { IdentityClient } from '../core/identity/identityClient.ts';
import { type FoundWindow, findWindows } from '../core/oauth/joining/findWindows.ts';
import type { JoinedWindow } from '../core/oauth/joining/joinedWindow.ts';
import { isInside } from '../core/tools/permissions.ts';
import { type Configuration, tokenVariables } from './configuration.ts';
import type { Services } from './services.ts';

export interface WindowServicesDeps {
  readonly configuration: Configuration;
  /** The folder of the state that windows share. */
  readonly state: string;
  /** The current folder: a window in which it is open comes first. */
  readonly folder: string;
  readonly log: Log;
  /** The window that started this program, if one did: no other is asked. */
  readonly address: string | undefined;
  /** The command, such as `rolecall check`: shown to the user. */
  readonly command: string;
  /** Shows a message to whoever waits. */
  readonly note: (text: string) => void;
  /** How long the user may take to answer, in milliseconds. */
  readonly answerMs?: number;
}

/** A program whose question nobody answers must end by itself: it may run unattended. */
const ANSWER_MS = 120_000;

/** The services through a window's sign-in, and that window. */
export interface WindowServices extends Services {
  readonly window: JoinedWindow;
}

/** Joins a window whose user allows it. @throws RolecallError `signedOut` where there is none; `forbidden`; `cancelled`. */
export async function servicesOfWindow(
  { configuration, state, folder, address, command, log, note, answerMs = ANSWER_MS }: WindowServicesDeps,
  signal: AbortSignal,
): Promise<WindowServices> {
  const { windows, silent } = await findWindows({ state }, signal);
  const candidates = windows.filter(
    (window) => isConfigured(window, configuration) && (address === undefined || window.address === address),
  );
  const here = await firstWithFolder(candidates, folder);
  const chosen = here ?? candidates[0];
  if (!chosen) throw silent > 0 ? noAnswer() : noWindow(configuration);
  const { editor, identityUrl, inferenceUrl, folders } = chosen.about;
  const place =
    folders.length === 0
      ? `${editor}, in the window without a folder`
      : `${editor}, in the window of ${folders.join(', ')}`;
  const onAsking = () => note(`Waiting for your permission in ${place}…`);
  const limit = new AbortController();
  const joining = chosen.join({ command, folder }, onAsking, AbortSignal.any([signal, limit.signal]));
  const window = await withTimeout(joining, answerMs, signal);
  if (!window) {
    joining.catch(() => {}); // Ends as cancelled.
    limit.abort();
    throw notAnswered(place, answerMs);
  }
  const { account, organizations, defaultModel } = window.joined;
  // Another window may be signed in as somebody else, to another cloud.
  if (here === undefined && address === undefined)
    note(`No signed-in window has this folder open. Using ${account} at ${identityUrl}, from ${place}.`);
  const { fetch } = window;
  return {
    source: `a window of ${editor}`,
    identityUrl,
    inferenceUrl,
    identity: new IdentityClient({ fetch, identityUrl, tokens: window.tokens('identity'), log, now: Date.now }),
    inference: { fetch, log, ...window.tokens('inference') },
    account: async () => account,
    organizations: async () =>
      configuration.organizations.length === 0
        ? organizations
        : configuration.organizations.map((typed) => {
            const isMeant = (name: string) => name.toLowerCase() === typed.toLowerCase();
            return (
              organizations.find(({ id, names }) => isMeant(id) || names.some(isMeant)) ?? { id: typed, names: [] }
            );
          }),
    defaultModel: configuration.model ?? defaultModel,
    get lost() {
      return window.lost;
    },
    window,
  };
}

/** Addresses that the user has set must be those of the window, so that no other cloud answers. */
function isConfigured({ about }: FoundWindow, { identityUrl, inferenceUrl }: Configuration): boolean {
  return (
    (identityUrl ?? about.identityUrl) === about.identityUrl &&
    (inferenceUrl ?? about.inferenceUrl) === about.inferenceUrl
  );
}

/** The first window in which the folder is open, by any of its names. */
async function firstWithFolder(windows: readonly FoundWindow[], folder: string): Promise<FoundWindow | undefined> {
  const real = (name: string) => fs.realpath(name).catch(() => name); // A window that has closed is left out.
  const current = await real(folder);
  for (const window of windows) {
    const open = await Promise.all(window.about.folders.map(real));
    if (open.some((each) => isInside(each, current))) return window;
  }
  return undefined;
}

const useToken = `set ${tokenVariables.token} to a service token, and ROLECALL_IDENTITY_URL or ROLECALL_INFERENCE_URL to the address of the service`;

function notAnswered(place: string, ms: number): RolecallError {
  return new RolecallError(
    'timeout',
    `The question in ${place} was not answered within ${formatSeconds(ms)}. Run the command again and answer it, or ${useToken}.`,
  );
}

function noAnswer(): RolecallError {
  return new RolecallError(
    'timeout',
    'An editor window is open, but did not respond: it is very busy, suspended, or has another version of Rolecall. Try again, or reload it.',
  );
}

function noWindow({ identityUrl, inferenceUrl }: Configuration): RolecallError {
  const url = identityUrl ?? inferenceUrl;
  return new RolecallError(
    'signedOut',
    `No editor window is signed in${url === undefined ? '' : ` to ${url}`}. Open one and sign in, or ${useToken}.`,
  );
}
