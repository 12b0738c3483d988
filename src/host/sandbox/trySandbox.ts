import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { withProgress } from '../dialogs.ts';
import { readDescriptor, type SandboxDescriptor, sandboxConnection } from './descriptor.ts';
import { SandboxProcess } from './sandboxProcess.ts';

export interface SandboxDeps {
  readonly clouds: Clouds;
  /** Absolute path of the bundled sandbox program. */
  readonly program: string;
  /** The ready line of a sandbox that already runs (`npm start`), if there is one. */
  readonly running: string | undefined;
  /** Remembers the registered client's secret for as long as the window lives. */
  readonly rememberSecret: (clientId: string, secret: string) => void;
  /** Told what the sandbox says about its models. */
  readonly describeModels: (models: SandboxDescriptor['models']) => void;
  readonly signIn: (cloud: Cloud) => Promise<unknown>;
  readonly log: Log;
}

/** The command Try the Sandbox: starts the embedded cloud, puts it on the stage and signs in. */
export class Sandbox implements vscode.Disposable {
  readonly #deps: SandboxDeps;
  #process: SandboxProcess | undefined;
  #starting: Promise<Cloud> | undefined;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
  }

  async enter(): Promise<void> {
    const { clouds, signIn } = this.#deps;
    const cloud = clouds.sandbox ?? (await this.#startOnce());
    await cloud.load();
    if (!cloud.keeper.session) await signIn(cloud);
  }

  leave(): void {
    this.#deps.clouds.leaveSandbox();
    this.#process?.stop();
    this.#process = undefined;
  }

  /** A second press while it starts waits for the same sandbox. */
  #startOnce(): Promise<Cloud> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<Cloud> {
    const { clouds, running, log } = this.#deps;
    if (running !== undefined) return this.#show(readDescriptor(running));
    const process = await this.#startProcess();
    this.#process = process;
    const cloud = this.#show(process.descriptor);
    // At once for a process that has ended by now.
    process.onExit(() => {
      if (this.#process !== process) return;
      this.#process = undefined;
      clouds.leaveSandbox();
      log.warn('The sandbox has ended.');
    });
    if (clouds.sandbox !== cloud) throw new RolecallError('unexpected', 'The sandbox could not be started.');
    return cloud;
  }

  async #startProcess(): Promise<SandboxProcess> {
    const { program, log } = this.#deps;
    return withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Starting the sandbox…'),
        cancellable: true,
      },
      (_progress, token) => SandboxProcess.start(program, log, signalOf(token)),
    );
  }

  #show(descriptor: SandboxDescriptor): Cloud {
    const { clouds, rememberSecret, describeModels, log } = this.#deps;
    rememberSecret(descriptor.clients.loopback.id, descriptor.clients.loopback.secret);
    describeModels(descriptor.models);
    log.info(`The sandbox listens at ${descriptor.identity} (identity) and ${descriptor.inference} (inference).`);
    return clouds.enterSandbox(sandboxConnection(descriptor));
  }

  dispose(): void {
    this.#process?.stop();
    this.#process = undefined;
  }
}
