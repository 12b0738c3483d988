import * as vscode from 'vscode';
import type { Usage } from '../core/completions/completion.ts';
import type { Model } from './modelCatalog.ts';
import { costText, type Price } from './prices.ts';

interface Counts {
  readonly prompt: number;
  readonly completion: number;
  /** The one that was described last. */
  readonly price: Price | undefined;
}

/** The tokens that this window has used, by model, as the service counted them. */
export class TokenUsage implements vscode.Disposable {
  readonly #counts = new Map<string, Counts>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;

  add({ label, price }: Pick<Model, 'label' | 'price'>, { promptTokens = 0, completionTokens = 0 }: Usage): void {
    if (promptTokens + completionTokens === 0) return;
    const before = this.#counts.get(label) ?? { prompt: 0, completion: 0 };
    const [prompt, completion] = [before.prompt + promptTokens, before.completion + completionTokens];
    this.#counts.set(label, { prompt, completion, price });
    this.#changed.fire();
  }

  /** One line for each model, the most used first; empty before the first answer. */
  get lines(): readonly string[] {
    return [...this.#counts]
      .sort(([, one], [, other]) => other.prompt + other.completion - one.prompt - one.completion)
      .map(([model, { prompt, completion, price }]) => {
        const tokens = vscode.l10n.t('{0}: {1}', model, tokensText(prompt, completion));
        return price ? `${tokens} · ${costText(price, prompt, completion)}` : tokens;
      });
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Input and output tokens as text. */
export function tokensText(prompt: number, completion: number): string {
  return vscode.l10n.t('{0} input, {1} output tokens', prompt.toLocaleString(), completion.toLocaleString());
}
