import * as vscode from 'vscode';
import { contextKeys } from '../ids.ts';
import type { AccessData } from './accessData.ts';
import { type AccessTarget, targetUri } from './accessTarget.ts';
import { setContextKey } from './contextKeys.ts';

export type ChangeMark = 'added' | 'changed';

/** What has changed since a snapshot, until the user has acknowledged it. Belongs to one session. */
export class ChangeMarks implements vscode.Disposable {
  readonly #marks = new Map<string, ChangeMark>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;

  constructor(data: AccessData) {
    this.#subscription = data.onDidChange(({ kind }) => {
      if (kind === 'session') this.acknowledge();
    });
  }

  /** Marks these and no others. */
  show(marks: readonly (readonly [AccessTarget, ChangeMark])[]): void {
    this.#marks.clear();
    for (const [target, mark] of marks) this.#marks.set(targetUri(target).toString(), mark);
    this.#tell();
  }

  of(uri: vscode.Uri): ChangeMark | undefined {
    return this.#marks.get(uri.toString());
  }

  /** They have been seen. */
  acknowledge(): void {
    if (this.#marks.size === 0) return;
    this.#marks.clear();
    this.#tell();
  }

  #tell(): void {
    setContextKey(contextKeys.hasChanges, this.#marks.size > 0);
    this.#changed.fire();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
