import * as vscode from 'vscode';
import type { Usage } from '../core/completions/completion.ts';

interface Counts {
  readonly prompt: number;
  readonly completion: number;
}

/** The tokens that this window has used, by model, as the service counted them. */
export class TokenUsage implements vscode.Disposable {
  readonly #counts = new Map<string, Counts>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;

  add(model: string, { promptTokens = 0, completionTokens = 0 }: Usage): void {
    if (promptTokens + completionTokens === 0) return;
    const before = this.#counts.get(model) ?? { prompt: 0, completion: 0 };
    this.#counts.set(model, { prompt: before.prompt + promptTokens, completion: before.completion + completionTokens });
    this.#changed.fire();
  }

  /** One line for each model, the most used first; empty before the first answer. */
  get lines(): readonly string[] {
    return [...this.#counts]
      .sort(([, one], [, other]) => other.prompt + other.completion - one.prompt - one.completion)
      .map(([model, { prompt, completion }]) => vscode.l10n.t('{0}: {1}', model, tokensText(prompt, completion)));
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Input and output tokens as text. */
export function tokensText(prompt: number, completion: number): string {
  return vscode.l10n.t('{0} input, {1} output tokens', prompt.toLocaleString(), completion.toLocaleString());
}
