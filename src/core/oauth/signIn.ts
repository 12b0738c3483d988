import * as l10n from '@vscode/l10n';
import { raceWithSignal } from '../base/abort.ts';
import type { Connection } from '../base/connection.ts';
import { asRolecallError, isCancelled, RolecallError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AuthorizationServer, PendingSignIn } from './authorizationServer.ts';
import { type LoopbackListener, type LoopbackOptions, listenForRedirect, serveStartPage } from './loopbackListener.ts';
import { accountOf, firstSession, type Session } from './session.ts';
import type { SignInMethodId } from './signInMethods.ts';

/** What finishing a sign-in needs, in whichever window. */
export interface SignInDeps {
  readonly connection: Connection;
  readonly server: AuthorizationServer;
  /** Makes the log hide a value; called before it is used. */
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
}

export interface BrowserSignIn extends SignInDeps {
  readonly method: Exclude<SignInMethodId, 'serviceToken'>;
  readonly pages: LoopbackOptions['pages'];
  /**
   * Opens a start address, which leads to `authorizationUrl` once, in the user's own browser. Resolves to false when the user
   * declined.
   */
  readonly openBrowser: (newStartUrl: () => string, authorizationUrl: string) => Promise<boolean>;
  /** Resolves when the answer comes another way: pasted, or as a link to the editor. A rejection ends the sign-in. */
  readonly delivered: (pending: PendingSignIn, signal: AbortSignal) => Promise<URL>;
  /** Called when the answer has arrived: from now on the sign-in cannot be canceled. */
  readonly arrived: () => void;
  /** Stores the session, before the browser shows success. */
  readonly storeSession: (session: Session) => Promise<void>;
}

/** How long the user has to sign in on the provider's page. */
export const SIGN_IN_DEADLINE_MS = 5 * 60_000;

/**
 * Authorization code flow with PKCE through the browser (RFC 6749 section 4.1, RFC 7636, RFC 8252). The answer comes to a
 * loopback listener, as a link to the editor, or is pasted; the first one counts.
 *
 * @throws RolecallError `cancelled`, `timeout`, `configuration`, `invalidRequest` (refused on the page), `offline`, …
 */
export async function signInWithBrowser(deps: BrowserSignIn, signal: AbortSignal): Promise<Session> {
  try {
    return await throughBrowser(deps, signal);
  } catch (error) {
    throw offeringAgain(error);
  }
}

async function throughBrowser(deps: BrowserSignIn, signal: AbortSignal): Promise<Session> {
  const { connection, server, log, method } = deps;
  const { newSignIn } = await import('./authorizationServer.ts');
  const pending = newSignIn(connection);
  for (const secret of [pending.state, pending.nonce, pending.codeVerifier]) deps.addSecret(secret);
  const authorizationUrl = (await server.authorizationUrl(pending, signal)).href;
  await server.preflight(authorizationUrl, signal);
  const { redirectUri, state } = pending;
  const listener =
    method === 'loopback'
      ? await listenForRedirect({ redirectUri, state, authorizationUrl, pages: deps.pages })
      : { ...(await serveStartPage(authorizationUrl)), reply: () => {} };
  try {
    log.info(`Sign-in started at ${connection.identityUrl} (${method}).`);
    const callback = await arrival(deps, pending, authorizationUrl, listener, signal);
    deps.arrived();
    // From here nothing stops it: the service has one session for each client, and a code that was sent has replaced
    // it.
    const session = await finishSignIn(deps, callback, pending, new AbortController().signal);
    await deps.storeSession(session);
    listener.reply();
    return session;
  } catch (error) {
    listener.reply(isCancelled(error) ? '' : asRolecallError(error).message);
    throw error;
  } finally {
    void listener.close(); // The browser may fetch the rest of the page meanwhile.
  }
}

/** A sign-in that failed can be tried again, unless something has to be changed first. */
function offeringAgain(thrown: unknown): RolecallError {
  const error = asRolecallError(thrown);
  const { kind, message, cause, details } = error;
  if (error.remedy || kind === 'cancelled' || kind === 'configuration') return error;
  return new RolecallError(kind, message, { cause, details, remedy: { kind: 'signInAgain' } });
}

/** Opens the browser and waits for the first answer, in whichever way it comes. */
async function arrival(
  deps: BrowserSignIn,
  pending: PendingSignIn,
  authorizationUrl: string,
  listener: Pick<LoopbackListener, 'newStartUrl'> & Partial<LoopbackListener>,
  signal: AbortSignal,
): Promise<URL> {
  const stop = new AbortController();
  const deadline = AbortSignal.timeout(SIGN_IN_DEADLINE_MS);
  const waiting = AbortSignal.any([signal, deadline, stop.signal]);
  try {
    const delivered = deps.delivered(pending, waiting);
    const listened = listener.answer ? [listener.answer(waiting)] : [];
    const arrived = Promise.race([delivered, ...listened]);
    arrived.catch(() => {}); // Awaited below, unless the browser was not opened.
    if (!(await deps.openBrowser(listener.newStartUrl, authorizationUrl))) {
      throw new RolecallError('cancelled', l10n.t('The browser was not opened.'));
    }
    return await raceWithSignal(arrived, waiting);
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    throw new RolecallError(
      'timeout',
      l10n.t(
        'The sign-in was not finished in the browser within {0} minutes. If the page showed an error, check the client ID and the redirect URI.',
        SIGN_IN_DEADLINE_MS / 60_000,
      ),
      { remedy: { kind: 'signInAgain' } },
    );
  } finally {
    stop.abort();
  }
}

/** Exchanges the code of `callback`, once. */
export async function finishSignIn(
  deps: SignInDeps,
  callback: URL,
  pending: PendingSignIn,
  signal: AbortSignal,
): Promise<Session> {
  const { connection, server, addSecret } = deps;
  addSecret(callback.searchParams.get('code') ?? undefined);
  const sentAt = deps.now(); // The lifetime begins at the service some time after that.
  const grant = await server.exchange(callback, pending, signal);
  for (const secret of [grant.accessToken, grant.refreshToken]) addSecret(secret);
  const claims = grant.claims ?? (await quietUserInfo(deps, grant.accessToken, signal));
  return firstSession(connection, grant, accountOf(claims, connection.label), sentAt);
}

/** The userinfo claims, without a failure: they only give the account's name, and the sign-in is valid without it. */
async function quietUserInfo(deps: SignInDeps, accessToken: string, signal: AbortSignal) {
  try {
    return await deps.server.userInfo(accessToken, signal);
  } catch (error) {
    deps.log.debug(`No userinfo: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
