import * as vscode from 'vscode';
import { contextKeys } from '../ids.ts';
import type { AccessData } from './accessData.ts';
import { type AccessTarget, targetUri } from './accessTarget.ts';
import { setContextKey } from './contextKeys.ts';

export type ChangeMark = 'added' | 'changed';

/** The changes in an organization since a snapshot, until the user has acknowledged them. Belongs to one session. */
export class ChangeMarks implements vscode.Disposable {
  readonly #marks = new Map<string, ChangeMark>();
  /** The organization of all marks. */
  #organization: string | undefined;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;

  constructor(data: AccessData) {
    this.#subscription = data.onDidChange((change) => {
      const isRemoved = change.kind === 'removed' && change.organization === this.#organization;
      if (change.kind === 'session' || isRemoved) this.acknowledge();
    });
  }

  /** Sets the marks, which are of one organization, and removes all others. */
  show(marks: readonly (readonly [AccessTarget, ChangeMark])[]): void {
    this.#marks.clear();
    this.#organization = marks[0]?.[0].organization;
    for (const [target, mark] of marks) this.#marks.set(targetUri(target).toString(), mark);
    this.#tell();
  }

  of(uri: vscode.Uri): ChangeMark | undefined {
    return this.#marks.get(uri.toString());
  }

  /** Removes the marks that the user has seen. */
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
