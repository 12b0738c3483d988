import type * as vscode from 'vscode';
import { fits, isFlag, isNumber, isText, listOf, optional } from '../../core/base/shape.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';

const KEY = 'rolecall.lastModels';
/** Models kept; services list far fewer. */
const MAX_KEPT = 200;

const isKept = listOf((kept): kept is Model =>
  fits<Model>(kept, {
    id: isText,
    label: isText,
    contextLength: isNumber,
    maxOutput: isNumber,
    isLengthKnown: isFlag,
    vision: isFlag,
    tools: optional(isFlag),
    reasoning: optional(isFlag),
  }),
);

/**
 * The models that were offered last, also those of an earlier window. VS Code answers a message itself, with "unavailable",
 * when the model that was picked is no longer listed: after a sign-out, and while a window starts.
 */
export class RememberedModels implements vscode.Disposable {
  readonly #catalog: ModelCatalog;
  readonly #storage: vscode.Memento;
  readonly #subscription: vscode.Disposable;

  constructor(catalog: ModelCatalog, storage: vscode.Memento) {
    this.#catalog = catalog;
    this.#storage = storage;
    this.#subscription = catalog.onDidChange(() => this.#keep());
  }

  /** What can be asked now; until the service has said what that is, also what could be asked before. */
  get models(): readonly Model[] {
    const { models, isComplete } = this.#catalog;
    if (isComplete && models.length > 0) return models;
    const now = new Set(models.map(({ id }) => id));
    return [...models, ...this.#kept().filter(({ id }) => !now.has(id))];
  }

  #kept(): readonly Model[] {
    const kept = this.#storage.get<unknown>(KEY);
    return isKept(kept) ? kept : [];
  }

  #keep(): void {
    const { models, isComplete } = this.#catalog;
    if (!isComplete || models.length === 0) return;
    const kept = models.slice(0, MAX_KEPT);
    if (JSON.stringify(kept) === JSON.stringify(this.#storage.get(KEY))) return;
    void this.#storage.update(KEY, kept); // Losing it costs a click, not an answer.
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
