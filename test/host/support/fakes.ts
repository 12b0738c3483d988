import * as vscode from 'vscode';
import type { Connection } from '../../../src/core/base/connection.ts';
import type { Log } from '../../../src/core/base/log.ts';
import { type Deadlines, defaultDeadlines } from '../../../src/core/completions/deadlineSignal.ts';
import { type ExtraHeaders, readExtraHeaders } from '../../../src/core/completions/extraHeaders.ts';
import type { ParameterLayer } from '../../../src/core/completions/parameters.ts';
import { type ConfiguredModel, type ParameterSource, Settings } from '../../../src/host/settings.ts';

/** Settings that a test writes by hand; `change` tells as VS Code would. */
export class FakeSettings extends Settings {
  connection: Connection | undefined;
  problem: Error | undefined;
  ids: readonly string[] = [];
  labels: ReadonlyMap<string, string> = new Map();
  minutes = 0;
  described: readonly ConfiguredModel[] = [];
  preferred: string | undefined;
  /** `rolecall.chat.parameters` of the user. */
  parameters: unknown;
  /** `rolecall.inference.headers` of the user. */
  headers: unknown;
  limits: Partial<Deadlines> = {};
  rounds = 10;
  readonly #changed = new vscode.EventEmitter<void>();
  override readonly onDidChange = this.#changed.event;

  change(): void {
    this.#changed.fire();
  }

  override serviceConnection(): Connection | undefined {
    if (this.problem) throw this.problem;
    return this.connection;
  }

  override maxToolRounds(): number {
    return this.rounds;
  }

  override organizations(): readonly string[] {
    return this.ids;
  }

  override async addOrganization(id: string): Promise<void> {
    this.ids = [...this.ids, id];
    this.change();
  }

  override async removeOrganization(id: string): Promise<void> {
    this.ids = this.ids.filter((other) => other !== id);
    this.change();
  }

  override organizationLabels(): ReadonlyMap<string, string> {
    return this.labels;
  }

  override async labelOrganization(id: string, label: string): Promise<void> {
    this.labels = new Map([...this.labels, [id, label]]);
    this.change();
  }

  override refreshMinutes(): number {
    return this.minutes;
  }

  override models(): readonly ConfiguredModel[] {
    return this.described;
  }

  override chatParameters(): readonly ParameterLayer<ParameterSource>[] {
    return [{ source: 'user', value: this.parameters }];
  }

  override deadlines(): Deadlines {
    return { ...defaultDeadlines, ...this.limits };
  }

  override inferenceHeaders(): ExtraHeaders {
    return readExtraHeaders(this.headers);
  }

  override async setDefaultModel(id: string): Promise<void> {
    this.preferred = id;
    this.change();
  }

  override defaultModel(): string | undefined {
    return this.preferred;
  }
}

/** What SecretStorage does, in memory. */
export class FakeSecrets implements vscode.SecretStorage {
  readonly values = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.SecretStorageChangeEvent>();
  readonly onDidChange = this.#changed.event;

  async keys(): Promise<string[]> {
    return [...this.values.keys()];
  }

  async get(key: string): Promise<string | undefined> {
    return this.values.get(key);
  }

  async store(key: string, value: string): Promise<void> {
    this.values.set(key, value);
    this.#changed.fire({ key });
  }

  async delete(key: string): Promise<void> {
    this.values.delete(key);
    this.#changed.fire({ key });
  }
}

/** What a Memento does, in memory. */
export class FakeMemento implements vscode.Memento {
  readonly #values = new Map<string, unknown>();

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  get<T>(key: string, fallback?: T): T | undefined {
    return this.#values.has(key) ? (this.#values.get(key) as T) : fallback;
  }

  async update(key: string, value: unknown): Promise<void> {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
  }
}

/** A log that can be read back. */
export class FakeLog implements Log {
  readonly lines: string[] = [];

  trace(message: string): void {
    this.lines.push(`trace ${message}`);
  }
  debug(message: string): void {
    this.lines.push(`debug ${message}`);
  }
  info(message: string): void {
    this.lines.push(`info ${message}`);
  }
  warn(message: string): void {
    this.lines.push(`warn ${message}`);
  }
  error(message: string): void {
    this.lines.push(`error ${message}`);
  }
}
