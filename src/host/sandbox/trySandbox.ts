import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { withProgress } from '../dialogs.ts';
import {
  isListening,
  readDescriptor,
  type SandboxDescriptor,
  SandboxProcess,
  type SandboxProgram,
  sandboxConnection,
} from './sandboxProcess.ts';

export interface SandboxDeps {
  readonly clouds: Clouds;
  readonly program: SandboxProgram;
  /** The ready line of a sandbox that is already running (`npm start`), if there is one. */
  readonly running: string | undefined;
  /** The address of the sandbox that this window is in, kept when it is reloaded. */
  readonly memory: { get(): string | undefined; set(identityUrl: string | undefined): void };
  /** Remembers the registered client's secret for as long as the window lives. */
  readonly rememberSecret: (clientId: string, secret: string) => void;
  /** Called with the sandbox's description of its models. */
  readonly describeModels: (models: SandboxDescriptor['models']) => void;
  readonly signIn: (cloud: Cloud) => Promise<unknown>;
  /** Opens the chat with a prompt that is ready to be sent. */
  readonly openChat: (prompt: string) => Promise<unknown>;
  readonly log: Log;
}

/** The command Try the Sandbox: starts the demo cloud, makes it active and signs in. */
export class Sandbox implements vscode.Disposable {
  readonly #deps: SandboxDeps;
  #process: SandboxProcess | undefined;
  #starting: Promise<Cloud> | undefined;
  #firstPrompt: string | undefined;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
  }

  async enter(): Promise<void> {
    const { signIn, openChat } = this.#deps;
    const cloud = await this.#startOnce();
    await cloud.load();
    if (cloud.tokenManager.session) return;
    await signIn(cloud);
    if (this.#firstPrompt !== undefined) await openChat(this.#firstPrompt);
  }

  /** After a reload: back into the sandbox that this window was in, if it still runs. */
  async resume(signal: AbortSignal): Promise<void> {
    const { memory, program } = this.#deps;
    const beside = await this.#beside();
    if (beside && beside.identity === memory.get()) return this.#show(beside).load();
    const process = await SandboxProcess.running(program.folder, signal);
    if (process && process.descriptor.identity === memory.get()) return this.#follow(process).load();
    process?.dispose();
    memory.set(undefined);
  }

  /** The sandbox that runs beside the editor, unless it has ended. */
  async #beside(): Promise<SandboxDescriptor | undefined> {
    const { running } = this.#deps;
    const descriptor = running === undefined ? undefined : readDescriptor(running);
    return descriptor && (await isListening(descriptor.identity)) ? descriptor : undefined;
  }

  leave(): void {
    const process = this.#process;
    this.#process = undefined;
    this.#deps.clouds.leaveSandbox();
    process?.leave();
    this.#deps.memory.set(undefined);
  }

  /** A second call while it starts waits for the same sandbox. */
  #startOnce(): Promise<Cloud> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<Cloud> {
    const { clouds } = this.#deps;
    const entered = clouds.sandbox;
    if (entered && (await isListening(entered.connection.identityUrl)) && clouds.sandbox === entered) return entered;
    const beside = await this.#beside();
    if (beside) return this.#show(beside);
    const cloud = this.#follow(await this.#startProcess());
    if (clouds.sandbox !== cloud) {
      throw new RolecallError('unexpected', vscode.l10n.t('The sandbox could not be started.'));
    }
    return cloud;
  }

  /** Shows a sandbox until it ends. */
  #follow(process: SandboxProcess): Cloud {
    const { clouds, log } = this.#deps;
    this.#process = process;
    const cloud = this.#show(process.descriptor);
    // Called at once if the process has already ended.
    process.onEnd(() => {
      if (this.#process !== process) return;
      this.#process = undefined;
      clouds.leaveSandbox();
      log.warn('The sandbox has ended.');
    });
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
    const { clouds, memory, rememberSecret, describeModels, log } = this.#deps;
    rememberSecret(descriptor.clients.loopback.id, descriptor.clients.loopback.secret);
    describeModels(descriptor.models);
    this.#firstPrompt = descriptor.prompts[0];
    log.info(`The sandbox listens at ${descriptor.identity} (identity) and ${descriptor.inference} (inference).`);
    memory.set(descriptor.identity);
    return clouds.enterSandbox(sandboxConnection(descriptor));
  }

  dispose(): void {
    this.#process?.dispose();
    this.#process = undefined;
  }
}
