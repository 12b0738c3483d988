import * as vscode from 'vscode';
import { type Connection, connectionKey } from '../core/base/connection.ts';
import { asRolecallError, RolecallError } from '../core/base/errors.ts';
import { contextKeys } from '../ids.ts';
import type { Cloud } from './cloud.ts';
import { setContextKey } from './contextKeys.ts';
import type { Settings } from './settings.ts';

/**
 * All connections, and the one that is shown. The configured services are one; the sandbox is a second, which is the
 * active one while it runs and changes nothing of the first.
 */
export class Clouds implements vscode.Disposable {
  readonly #settings: Settings;
  readonly #make: (connection: Connection) => Cloud;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Another connection is shown, or the session of one has changed. */
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  #service: Cloud | undefined;
  #sandbox: Cloud | undefined;
  #problem: RolecallError | undefined;

  constructor(settings: Settings, make: (connection: Connection) => Cloud) {
    this.#settings = settings;
    this.#make = make;
    this.#subscription = settings.onDidChange(() => this.#configure());
  }

  /** Reads the settings and the stored session: after everything is registered. */
  async start(): Promise<void> {
    this.#configure();
    await this.active?.load();
  }

  /** The connection that views, chat and commands use; `undefined` while nothing is configured. */
  get active(): Cloud | undefined {
    return this.#sandbox ?? this.#service;
  }

  /** Every connection, for the Accounts menu. */
  get all(): readonly Cloud[] {
    return [this.#sandbox, this.#service].filter((cloud) => cloud !== undefined);
  }

  get sandbox(): Cloud | undefined {
    return this.#sandbox;
  }

  /** The problem of the settings, if that is why there is no {@link active} connection. */
  get problem(): RolecallError | undefined {
    return this.#sandbox ? undefined : this.#problem;
  }

  /** @throws RolecallError `configuration` or `signedOut`. */
  require(): Cloud {
    if (this.active) return this.active;
    throw (
      this.#problem ??
      new RolecallError(
        'configuration',
        vscode.l10n.t(
          'No cloud configured yet. Set rolecall.identity.url and rolecall.inference.url, or try the sandbox.',
        ),
        { remedy: { kind: 'chooseCloud' } },
      )
    );
  }

  enterSandbox(connection: Connection): Cloud {
    this.#sandbox?.dispose();
    this.#sandbox = this.#create(connection);
    this.#publish();
    return this.#sandbox;
  }

  leaveSandbox(): void {
    this.#sandbox?.dispose();
    this.#sandbox = undefined;
    this.#publish();
    void this.active?.load(); // The service's session may not have been read yet; its state tells when it has.
  }

  #configure(): void {
    let connection: Connection | undefined;
    this.#problem = undefined;
    try {
      connection = this.#settings.serviceConnection();
    } catch (error) {
      this.#problem = asRolecallError(error);
    }
    if (connection && this.#service && isSame(connection, this.#service.connection)) {
      this.#publish(); // Organizations or models may have changed.
      return;
    }
    this.#service?.dispose();
    this.#service = connection && this.#create(connection);
    void this.#service?.load(); // Its state tells when it is known.
    this.#publish();
  }

  #create(connection: Connection): Cloud {
    const cloud = this.#make(connection);
    cloud.onDidChange(() => this.#publish());
    return cloud;
  }

  #publish(): void {
    setContextKey(contextKeys.connection, this.#sandbox ? 'sandbox' : 'service');
    setContextKey(
      contextKeys.session,
      this.active?.tokenManager.state.kind ?? (this.#problem ? 'misconfigured' : 'unconfigured'),
    );
    const state = this.active?.tokenManager.state;
    setContextKey(contextKeys.hasClientSecret, this.active?.hasClientSecret ?? false);
    setContextKey(contextKeys.hasInferenceToken, this.active?.inferenceAccount === 'token');
    setContextKey(contextKeys.endReason, state?.kind === 'ended' ? state.reason : '');
    this.#changed.fire();
  }

  dispose(): void {
    void this.close(); // Never rejects.
  }

  /** Like `dispose`; resolves when everything that only this window knows of a session is stored. */
  async close(): Promise<void> {
    this.#subscription.dispose();
    const closing = this.all.map((cloud) => cloud.close());
    this.#changed.dispose();
    await Promise.all(closing);
  }
}

function isSame(a: Connection, b: Connection): boolean {
  return connectionKey(a) === connectionKey(b) && JSON.stringify(a) === JSON.stringify(b);
}
