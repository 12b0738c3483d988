import * as vscode from 'vscode';
import { raceWithSignal } from '../../core/base/abort.ts';
import { isLoopback } from '../../core/base/addresses.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { PendingSignIn } from '../../core/oauth/authorizationServer.ts';
import { readPastedCallback } from '../../core/oauth/pastedCallback.ts';
import type { Session } from '../../core/oauth/session.ts';
import { signInWithBrowser } from '../../core/oauth/signIn.ts';
import {
  availableMethods,
  editorLinkUri,
  type SignInContext,
  type SignInMethodId,
} from '../../core/oauth/signInMethods.ts';
import { commands, contextKeys } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { setContextKey } from '../contextKeys.ts';
import { showInformationMessage, showInputBox, showWarningMessage, withProgress } from '../dialogs.ts';
import { FinishedInOtherWindow, type SignInLinks } from './links.ts';
import { askForMethod } from './methodPicker.ts';
import { signInPages } from './pages.ts';
import type { ServiceTokens } from './serviceTokens.ts';

type BrowserMethod = Exclude<SignInMethodId, 'serviceToken'>;

export interface InteractiveSignInDeps {
  readonly links: Pick<SignInLinks, 'receive'>;
  readonly serviceTokens: Pick<ServiceTokens, 'signIn'>;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** A sign-in that waits for the browser. */
interface Waiting {
  readonly cloud: Cloud;
  readonly method: SignInMethodId;
  readonly session: Promise<Session>;
  readonly stop: AbortController;
  /** Set when the browser is asked to open: what the answer must belong to, and the address. */
  answer?: { readonly pending: PendingSignIn; readonly deliver: (callback: URL) => void; readonly ended: AbortSignal };
  /** For the user to open, if the editor cannot. */
  authorizationUrl?: string;
  /** Opens the page again. */
  reopen?: () => Promise<unknown>;
}

/** Signs in to a cloud by any method; one sign-in at a time. */
export class SignIn {
  readonly #deps: InteractiveSignInDeps;
  #waiting: Waiting | undefined;

  constructor(deps: InteractiveSignInDeps) {
    this.#deps = deps;
  }

  /**
   * Signs in the usual way, or by `method`. A second call for the same connection joins the sign-in that is under way,
   * unless it requests another way: then the first one is given up.
   */
  async run(cloud: Cloud, method?: SignInMethodId): Promise<Session> {
    const chosen = method ?? usualMethod(cloud);
    for (let before = this.#waiting; before; before = this.#waiting) {
      if (before.cloud === cloud && (method === undefined || method === before.method)) {
        this.#remind(before);
        return before.session;
      }
      before.stop.abort();
      await before.session.catch(() => {}); // Its callers get the error; the port must be free.
      this.#deps.log.info('A new sign-in replaced the one that was waiting.');
    }
    const stop = new AbortController();
    const session = this.#signIn(cloud, chosen, stop.signal).finally(() => {
      if (this.#waiting?.session === session) this.#wait(undefined);
    });
    this.#wait({ cloud, method: chosen, session, stop });
    return session;
  }

  /** Ends a sign-in whose connection goes away: other settings, or the sandbox was left. */
  cancelWhenRemoved(clouds: Pick<Clouds, 'all' | 'onDidChange'>): vscode.Disposable {
    const subscription = clouds.onDidChange(() => {
      const waiting = this.#waiting;
      if (!waiting || waiting.stop.signal.aborted || clouds.all.includes(waiting.cloud)) return;
      waiting.stop.abort();
      void showInformationMessage(
        vscode.l10n.t('The sign-in was canceled because the connection was changed or closed.'),
      ); // No buttons, so nothing to wait for.
    });
    return vscode.Disposable.from(subscription, { dispose: () => this.cancel() });
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Offers the page again, which may have been closed. */
  #remind({ reopen }: Waiting): void {
    if (!reopen) return;
    const [again, paste] = [vscode.l10n.t('Open Again'), vscode.l10n.t('Paste Redirect Address')];
    const shown = showInformationMessage(vscode.l10n.t('A sign-in is waiting in your browser.'), again, paste);
    void Promise.resolve(shown)
      .then((chosen) => (chosen === again ? reopen() : chosen === paste ? this.paste() : undefined))
      .catch((error: unknown) => this.#deps.log.warn(String(error)));
  }

  /** Lets the user choose the way. */
  async choose(cloud: Cloud): Promise<Session> {
    return this.run(cloud, await askForMethod(signInContextOf(cloud)));
  }

  cancel(): void {
    this.#waiting?.stop.abort();
  }

  /** Asks for the address the browser ended on; the sign-in goes on waiting when the user gives none. */
  async paste(): Promise<void> {
    const answer = this.#waiting?.answer;
    if (!answer) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('No sign-in is waiting for an address. Run Rolecall: Sign In first.'),
        {
          remedy: { kind: 'otherSignIn' },
        },
      );
    }
    const { pending, deliver, ended } = answer;
    if (ended.aborted) return;
    const source = new vscode.CancellationTokenSource();
    const close = () => source.cancel();
    ended.addEventListener('abort', close, { once: true });
    const typed = await showInputBox(
      {
        title: vscode.l10n.t('Paste Redirect Address'),
        prompt: vscode.l10n.t(
          'Continue in your browser. If it ends on an error page, paste the address of that page here, or only the code.',
        ),
        placeHolder: `${pending.redirectUri}?code=…`,
        ignoreFocusOut: true,
        validateInput: (value) => sentenceOf(() => readPastedCallback(value, pending)),
      },
      source.token,
    );
    ended.removeEventListener('abort', close);
    source.dispose();
    if (typed !== undefined) deliver(readPastedCallback(typed, pending));
  }

  /**
   * For the user to open in a browser; contains no secret of ours, only a `state` that is valid for this sign-in alone.
   */
  async copyAddress(): Promise<void> {
    const address = this.#waiting?.authorizationUrl;
    if (address !== undefined) await vscode.env.clipboard.writeText(address);
  }

  #wait(waiting: Waiting | undefined): void {
    this.#waiting = waiting;
    setContextKey(contextKeys.isSigningIn, waiting !== undefined);
  }

  async #signIn(cloud: Cloud, method: SignInMethodId, stopped: AbortSignal): Promise<Session> {
    if (method === 'serviceToken') return this.#deps.serviceTokens.signIn(cloud, stopped);
    // It may ask for the client secret; a cancelled sign-in does not wait for that box.
    const server = await raceWithSignal(cloud.authorizationServer(true), stopped);
    const isOver = cloud.tokenManager.beginSignIn();
    try {
      return await withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          title: vscode.l10n.t('Signing in to {0}: continue in your browser. Having trouble?', cloud.connection.label),
          link: { title: vscode.l10n.t('Paste the redirect address.'), command: commands.pasteSignInAddress },
          cancellable: true,
        },
        (_progress, token) => this.#withBrowser(cloud, server, method, AbortSignal.any([stopped, signalOf(token)])),
      );
    } finally {
      isOver();
    }
  }

  async #withBrowser(
    cloud: Cloud,
    server: Awaited<ReturnType<Cloud['authorizationServer']>>,
    method: BrowserMethod,
    signal: AbortSignal,
  ): Promise<Session> {
    const { addSecret, log } = this.#deps;
    const { connection, tokenManager } = cloud;
    const elsewhere = signedInElsewhere(cloud);
    try {
      const own = signInWithBrowser(
        {
          connection,
          server,
          method,
          pages: signInPages(connection.label),
          openBrowser: (newStartUrl, authorizationUrl) => this.#open(method, newStartUrl, authorizationUrl),
          delivered: (pending, ended) => this.#delivered(cloud, pending, ended),
          arrived: () => {
            elsewhere.stop();
            if (this.#waiting) delete this.#waiting.answer;
          },
          storeSession: (own) => tokenManager.signIn(own),
          addSecret,
          log,
          now: Date.now,
        },
        AbortSignal.any([signal, elsewhere.signal]),
      );
      const session = await Promise.race([elsewhere.session, own]);
      await Promise.allSettled([own]); // A sign-in that another window has finished frees its port first.
      log.info(`Signed in to ${connection.identityUrl}.`);
      return session;
    } catch (error) {
      if (!(error instanceof FinishedInOtherWindow)) throw error;
      await tokenManager.load();
      if (tokenManager.session) return tokenManager.session;
      throw cancelled(error);
    } finally {
      elsewhere.stop();
    }
  }

  /** Pasted by the user, or a link to the editor: whichever comes first. */
  async #delivered(cloud: Cloud, pending: PendingSignIn, ended: AbortSignal): Promise<URL> {
    const pasted = new Promise<URL>((resolve) => {
      if (this.#waiting) this.#waiting.answer = { pending, deliver: resolve, ended };
    });
    const isLink = pending.redirectUri === editorLinkUri(vscode.env.uriScheme);
    const links = isLink ? [this.#deps.links.receive(cloud, pending, ended)] : [];
    return raceWithSignal(Promise.race([pasted, ...links]), ended);
  }

  /** No browser was opened: the user may open the address elsewhere. */
  async #offerAddress(authorizationUrl: string): Promise<boolean> {
    const copy = vscode.l10n.t('Copy the Address');
    const chosen = await showWarningMessage(vscode.l10n.t('The browser was not opened.'), copy);
    if (chosen === copy) await vscode.env.clipboard.writeText(authorizationUrl);
    return chosen === copy;
  }

  async #open(method: BrowserMethod, newStartUrl: () => string, authorizationUrl: string): Promise<boolean> {
    const open = async (url: string) => vscode.env.openExternal(vscode.Uri.parse(url, true));
    const startUrl = newStartUrl();
    if (this.#waiting) this.#waiting.authorizationUrl = authorizationUrl;
    const opened = await open(startUrl);
    if (!opened && !(await this.#offerAddress(authorizationUrl))) return false;
    if (this.#waiting) this.#waiting.reopen = () => open(newStartUrl());
    if (!opened || !(await arrivesByItself(method, startUrl))) {
      // The sign-in went on without the box.
      void this.paste().catch((error: unknown) => this.#deps.log.debug(String(error)));
    }
    return true;
  }
}

function signInContextOf({ connection }: Pick<Cloud, 'connection'>): SignInContext {
  return { connection, uriScheme: vscode.env.uriScheme, isWeb: vscode.env.uiKind === vscode.UIKind.Web };
}

function usualMethod(cloud: Cloud): SignInMethodId {
  const usual = availableMethods(signInContextOf(cloud)).find(({ usesBrowser }) => usesBrowser);
  return usual?.id ?? 'paste'; // Its error names what is missing.
}

/** Whether the browser can reach the listener: not if the editor is a page from another machine, or a container. */
async function arrivesByItself(method: BrowserMethod, startUrl: string): Promise<boolean> {
  if (method === 'paste') return false;
  if (method === 'editorLink') return true;
  try {
    const external = await vscode.env.asExternalUri(vscode.Uri.parse(new URL(startUrl).origin, true));
    return isLoopback(external.toString(true));
  } catch {
    return true; // Unknown; the address can still be pasted.
  }
}

/** A session that another window signs in to while this one waits for the same. */
function signedInElsewhere({ tokenManager }: Cloud) {
  const controller = new AbortController();
  let stop = () => {};
  const session = new Promise<Session>((resolve) => {
    if (tokenManager.session) return; // What changes now is a refresh.
    stop = tokenManager.onDidChange(() => {
      if (!tokenManager.session) return;
      resolve(tokenManager.session);
      controller.abort();
    });
  });
  return { session, signal: controller.signal, stop: () => stop() };
}

function sentenceOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
