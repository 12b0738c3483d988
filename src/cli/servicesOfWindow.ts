import { RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
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
  /** The window that started this program, where one did: no other is asked. */
  readonly address: string | undefined;
  /** For whoever waits. */
  readonly note: (text: string) => void;
}

/** The services through a window's sign-in, and that window. */
export interface WindowServices extends Services {
  readonly window: JoinedWindow;
}

/** Joins a window whose user allows it. @throws RolecallError `signedOut` where there is none; `forbidden`; `cancelled`. */
export async function servicesOfWindow(
  { configuration, state, folder, address, log, note }: WindowServicesDeps,
  signal: AbortSignal,
): Promise<WindowServices> {
  const { windows, silent } = await findWindows({ state }, signal);
  const found = windows.filter(
    (window) => isConfigured(window, configuration) && (address === undefined || window.address === address),
  );
  const chosen = found.find(({ about }) => about.folders.some((open) => isInside(open, folder))) ?? found[0];
  if (!chosen) throw silent > 0 ? noAnswer() : noWindow(configuration);
  const { editor, identityUrl, inferenceUrl, folders } = chosen.about;
  const place =
    folders.length === 0
      ? `${editor}, in the window without a folder`
      : `${editor}, in the window of ${folders.join(', ')}`;
  const window = await chosen.join(() => note(`Waiting for your permission in ${place}…`), signal);
  const { account, organizations, defaultModel } = window.joined;
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

/** Addresses that somebody has given must be those of the window: a question is not answered by another cloud. */
function isConfigured({ about }: FoundWindow, { identityUrl, inferenceUrl }: Configuration): boolean {
  return (
    (identityUrl ?? about.identityUrl) === about.identityUrl &&
    (inferenceUrl ?? about.inferenceUrl) === about.inferenceUrl
  );
}

function noAnswer(): RolecallError {
  return new RolecallError(
    'timeout',
    'A window of the editor is open, but did not answer: it is very busy, stopped, or has another version of Rolecall. Try again, or reload it.',
  );
}

function noWindow({ identityUrl, inferenceUrl }: Configuration): RolecallError {
  const which = identityUrl ?? inferenceUrl;
  return new RolecallError(
    'signedOut',
    `No window of the editor is signed in${which === undefined ? '' : ` to ${which}`}. Open one and sign in, or set ${tokenVariables.token} to a service token.`,
  );
}
