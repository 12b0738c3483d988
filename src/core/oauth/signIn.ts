import type { Connection } from '../base/connection.ts';
import { RolecallError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type AuthorizationServer, newSignIn } from './authorizationServer.ts';
import { type LoopbackOptions, listenForRedirect } from './loopbackListener.ts';
import { accountOf, firstSession, type Session } from './session.ts';

export interface BrowserSignIn {
  readonly connection: Connection;
  readonly server: AuthorizationServer;
  readonly pages: LoopbackOptions['pages'];
  /** Opens the address in the user's own browser. Resolves to false when the user said no. */
  readonly openBrowser: (url: string) => Promise<boolean>;
  /** Tells the log which values to hide, before they are used. */
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
}

/** How long the user has to sign in on the provider's page. */
export const SIGN_IN_DEADLINE_MS = 5 * 60_000;

/**
 * Authorization code flow with PKCE through the browser and a loopback redirect (RFC 6749 section 4.1, RFC 7636,
 * RFC 8252).
 *
 * @throws RolecallError `cancelled`, `timeout`, `configuration`, `invalidRequest` (refused on the page), `offline`, …
 */
export async function signInWithBrowser(deps: BrowserSignIn, signal: AbortSignal): Promise<Session> {
  const { connection, server, log } = deps;
  const pending = newSignIn(connection);
  for (const secret of [pending.state, pending.nonce, pending.codeVerifier]) deps.learn(secret);
  const authorizationUrl = await server.authorizationUrl(pending, signal);
  const listener = await listenForRedirect({
    redirectUri: pending.redirectUri,
    state: pending.state,
    authorizationUrl: authorizationUrl.href,
    pages: deps.pages,
  });
  const deadline = AbortSignal.timeout(SIGN_IN_DEADLINE_MS);
  let callback: URL;
  try {
    log.info(`Sign-in started at ${connection.identityUrl}.`);
    if (!(await deps.openBrowser(listener.startUrl))) {
      throw new RolecallError('cancelled', 'The browser was not opened.');
    }
    callback = await listener.answer(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted && !signal.aborted) {
      throw new RolecallError('timeout', 'The sign-in was not finished in the browser within five minutes.');
    }
    throw error;
  } finally {
    void listener.close(); // Nobody waits for the browser to fetch the rest of the page.
  }
  deps.learn(callback.searchParams.get('code') ?? undefined);
  const grant = await server.exchange(callback, pending, signal);
  for (const secret of [grant.accessToken, grant.refreshToken]) deps.learn(secret);
  const claims = grant.claims ?? (await quietUserInfo(deps, grant.accessToken, signal));
  return firstSession(connection, grant, accountOf(claims, connection.label), deps.now());
}

/** The account's name is a courtesy: without it the sign-in still stands. */
async function quietUserInfo(deps: BrowserSignIn, accessToken: string, signal: AbortSignal) {
  try {
    return await deps.server.userInfo(accessToken, signal);
  } catch (error) {
    deps.log.debug(`No userinfo: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
