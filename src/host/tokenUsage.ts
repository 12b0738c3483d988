import * as vscode from 'vscode';
import type { Usage } from '../core/completions/completion.ts';
import type { Model } from './modelCatalog.ts';
import { costText, type Price } from './prices.ts';

interface Counts {
  readonly label: string;
  readonly prompt: number;
  readonly completion: number;
  /** The one that was described last. */
  readonly price: Price | undefined;
}

/** The tokens that this window has used, by model, as the service counted them. */
export class TokenUsage implements vscode.Disposable {
  /** By the model's ID: two may have the same label. */
  readonly #counts = new Map<string, Counts>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;

  add(
    { id, label, price }: Pick<Model, 'id' | 'label' | 'price'>,
    { promptTokens = 0, completionTokens = 0 }: Usage,
  ): void {
    if (promptTokens + completionTokens === 0) return;
    const before = this.#counts.get(id) ?? { prompt: 0, completion: 0 };
    const [prompt, completion] = [before.prompt + promptTokens, before.completion + completionTokens];
    this.#counts.set(id, { label, prompt, completion, price });
    this.#changed.fire();
  }

  /** One line for each model, the most used first; empty before the first answer. */
  get lines(): readonly string[] {
    return [...this.#counts.values()]
      .sort((one, other) => other.prompt + other.completion - one.prompt - one.completion)
      .map(({ label, prompt, completion, price }) => {
        const tokens = vscode.l10n.t('{0}: {1}', label, tokensText(prompt, completion));
        return price ? `${tokens} · ${costText(price, prompt, completion)}` : tokens;
      });
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Input and output tokens as text. */
export function tokensText(prompt: number, completion: number): string {
  return vscode.l10n.t('{0} input, {1} output tokens', numberText(prompt), numberText(completion));
}

/** A number as the user's language writes it. */
export function numberText(value: number): string {
  return value.toLocaleString(vscode.env.language);
}
