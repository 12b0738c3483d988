import * as vscode from 'vscode';
import { arrayOf, isBoolean, isNumber, isString, matchesShape, optional } from '../../core/base/shape.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';
import { modelShape } from '../settings.ts';

const OFFERED = 'rolecall.lastModels';
/** The most models that are stored; services list far fewer. */
const MAX_OFFERED = 200;
const PICKED = 'rolecall.pickedModels';
/** The most models that stay listed: more would fill the picker with models that are not available. */
const MAX_PICKED = 5;

const isKept = arrayOf((kept): kept is Model =>
  matchesShape<Model>(kept, {
    ...modelShape,
    id: isString, // One that a service lists in a strange way must not make all others forgotten.
    reasoningEfforts: optional(arrayOf(isString)),
    label: isString,
    contextLength: isNumber,
    maxOutput: isNumber,
    isLengthKnown: isBoolean,
    vision: isBoolean,
  }),
);

/**
 * The models that were offered last and those that were picked, also in an earlier window. If the model that a chat has
 * picked is no longer listed, VS Code keeps waiting for it and answers every message itself, with "unavailable": after
 * a sign-out, while a window starts, and when another connection replaces the sandbox.
 */
export class RememberedModels implements vscode.Disposable {
  readonly #catalog: ModelCatalog;
  readonly #storage: vscode.Memento;
  readonly #subscription: vscode.Disposable;

  constructor(catalog: ModelCatalog, storage: vscode.Memento) {
    this.#catalog = catalog;
    this.#storage = storage;
    this.#subscription = vscode.Disposable.from(
      catalog.onDidChange(() => this.#keepOffered()),
      catalog.onDidPick((model) => {
        if (model) this.#keepPicked(model);
      }),
    );
  }

  /** The models that are available; until the service has listed them, also the earlier ones. */
  get models(): readonly Model[] {
    const { models, isComplete } = this.#catalog;
    if (isComplete && models.length > 0) return models;
    return [...models, ...without(models, this.#stored(OFFERED))];
  }

  /**
   * Models that were picked recently and are no longer offered. They stay listed: `@rolecall` then answers with the
   * default model, and VS Code's own chat gets an error that it is unavailable.
   */
  get withdrawn(): readonly Model[] {
    return without(this.models, this.#stored(PICKED));
  }

  #stored(key: string): readonly Model[] {
    const stored = this.#storage.get<unknown>(key);
    return isKept(stored) ? stored : [];
  }

  #keepOffered(): void {
    const { models, isComplete } = this.#catalog;
    if (isComplete && models.length > 0) this.#keep(OFFERED, models.slice(0, MAX_OFFERED));
  }

  #keepPicked(model: Model): void {
    this.#keep(PICKED, [model, ...without([model], this.#stored(PICKED))].slice(0, MAX_PICKED));
  }

  #keep(key: string, models: readonly Model[]): void {
    if (JSON.stringify(models) === JSON.stringify(this.#storage.get(key))) return;
    void this.#storage.update(key, models); // Losing it costs a click, not an answer.
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

function without(excluded: readonly Model[], models: readonly Model[]): readonly Model[] {
  const ids = new Set(excluded.map(({ id }) => id));
  return models.filter(({ id }) => !ids.has(id));
}
