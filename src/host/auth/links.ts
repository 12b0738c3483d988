import * as vscode from 'vscode';
import { delay } from '../../core/base/abort.ts';
import { connectionKey } from '../../core/base/connection.ts';
import { asStorageError, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { PendingSignIn } from '../../core/oauth/authorizationServer.ts';
import { readPending, writePending } from '../../core/oauth/pendingSignIn.ts';
import { finishSignIn, SIGN_IN_DEADLINE_MS } from '../../core/oauth/signIn.ts';
import { secrets } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { describeError, showError } from '../showError.ts';

/** The pause between checks whether another window has finished our sign-in, in milliseconds. */
const LOOK_MS = 300;

interface Waiting {
  readonly cloud: Cloud;
  readonly pending: PendingSignIn;
  readonly give: (callback: URL) => void;
}

export interface SignInLinksDeps {
  readonly clouds: Clouds;
  readonly storage: vscode.SecretStorage;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/**
 * Links to the editor that complete a sign-in (`<uriScheme>://rolecall.rolecall/callback?code=…&state=…`). The system
 * gives a link to any window, so the pending sign-in is in the secret store, and a claim lets one window finish it.
 */
export class SignInLinks implements vscode.UriHandler {
  readonly #deps: SignInLinksDeps;
  /** The sign-ins that wait in this window, by `state`. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: SignInLinksDeps) {
    this.#deps = deps;
  }

  /**
   * The link that answers `pending`, when this window receives it.
   *
   * @throws {@link FinishedInOtherWindow} when another window has received and finished it; RolecallError `cancelled`, or
   * `invalidRequest` when it failed there.
   */
  async receive(cloud: Cloud, pending: PendingSignIn, signal: AbortSignal): Promise<URL> {
    const { storage, log } = this.#deps;
    const key = pendingKey(cloud);
    const received = new Promise<URL>((resolve) => {
      this.#waiting.set(pending.state, { cloud, pending, give: resolve });
    });
    // A locked or slow keyring does not delay this.
    void Promise.resolve(
      storage.store(key, writePending(cloud.connection, pending, Date.now() + SIGN_IN_DEADLINE_MS)),
    ).catch((error: unknown) => log.warn(`Only this window can finish the sign-in: ${describeError(error)}`));
    const stop = new AbortController();
    try {
      return await Promise.race([received, this.#elsewhere(cloud, pending, AbortSignal.any([signal, stop.signal]))]);
    } finally {
      stop.abort();
      this.#waiting.delete(pending.state);
      void this.#forget(cloud, pending.state); // Never rejects.
    }
  }

  /** Handles a link that has reached this window. Never rejects: VS Code would show that as a defect. */
  async handleUri(uri: vscode.Uri): Promise<void> {
    try {
      await this.#handle(uri);
    } catch (error) {
      await showError(error, this.#deps.log);
    }
  }

  async #handle(uri: vscode.Uri): Promise<void> {
    if (uri.path !== '/callback') throw stray();
    const query = new URLSearchParams(uri.query);
    const state = query.get('state');
    const mine = this.#waiting.get(state ?? '');
    const match = mine ?? (await this.#find(state));
    if (!match) throw stray();
    // Only now: anyone can send links, and values from them would displace secrets that are remembered.
    const { cloud, pending } = match;
    for (const secret of [query.get('code'), pending.state, pending.codeVerifier])
      this.#deps.addSecret(secret ?? undefined);
    const claims = await cloud.tokenManager.claims();
    const claim = claimOf(pending);
    if (!(await claims.take(claim))) {
      throw new RolecallError('invalidRequest', vscode.l10n.t('This sign-in is already finished.'));
    }
    const callback = new URL(`${pending.redirectUri}?${query}`);
    if (mine) {
      mine.give(callback);
      return;
    }
    try {
      await this.#finish(cloud, callback, pending);
      await claims.recordOutcome(claim, 'done');
    } catch (error) {
      await claims.recordOutcome(claim, 'failed');
      throw error;
    }
  }

  /** Finishes a sign-in that another window began. */
  async #finish(cloud: Cloud, callback: URL, pending: PendingSignIn): Promise<void> {
    const { addSecret, log } = this.#deps;
    const { signal } = new AbortController();
    const server = await cloud.authorizationServer(true);
    const deps = { connection: cloud.connection, server, addSecret, log, now: Date.now };
    await cloud.tokenManager.signIn(await finishSignIn(deps, callback, pending, signal));
    log.info(`Signed in to ${cloud.connection.identityUrl}. Another window had started the sign-in.`);
  }

  async #find(state: string | null): Promise<{ cloud: Cloud; pending: PendingSignIn } | undefined> {
    for (const cloud of this.#deps.clouds.all) {
      await cloud.load();
      const text = await this.#read(cloud);
      const pending = readPending(text, cloud.connection, state, Date.now());
      if (pending) return { cloud, pending };
    }
    return undefined;
  }

  async #read(cloud: Cloud): Promise<string | undefined> {
    try {
      return await this.#deps.storage.get(pendingKey(cloud));
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /** Rejects when the sign-in has succeeded or failed in another window. */
  async #elsewhere(cloud: Cloud, pending: PendingSignIn, signal: AbortSignal): Promise<never> {
    const claims = await cloud.tokenManager.claims();
    for (;;) {
      await delay(LOOK_MS, signal);
      const outcome = await claims.outcome(claimOf(pending));
      if (outcome === 'done') throw new FinishedInOtherWindow();
      if (outcome === 'failed') {
        throw new RolecallError(
          'invalidRequest',
          vscode.l10n.t('The sign-in failed in another window. See that window for details.'),
        );
      }
    }
  }

  async #forget(cloud: Cloud, state: string): Promise<void> {
    const { storage, log } = this.#deps;
    try {
      const pending = readPending(await storage.get(pendingKey(cloud)), cloud.connection, state, 0);
      if (pending) await storage.delete(pendingKey(cloud)); // Else a later sign-in waits there.
    } catch (error) {
      log.warn(`A finished sign-in could not be removed from the secret store: ${describeError(error)}`);
    }
  }
}

/** The window that began the sign-in has nothing left to do. */
export class FinishedInOtherWindow extends Error {}

function pendingKey({ connection }: Cloud): string {
  return secrets.signIn + connectionKey(connection);
}

function claimOf({ state }: PendingSignIn): string {
  return `sign-in ${state}`;
}

function stray(): RolecallError {
  return new RolecallError(
    'invalidRequest',
    vscode.l10n.t(
      'This link does not belong to a sign-in that Rolecall is waiting for. Start again with Rolecall: Sign In.',
    ),
    { remedy: { kind: 'otherSignIn' } },
  );
}
