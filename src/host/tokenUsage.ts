import * as vscode from 'vscode';
import { isNumber, isString, matchesShape } from '../core/base/shape.ts';
import type { Usage } from '../core/completions/completion.ts';
import { numberText } from './formats.ts';
import type { Model } from './modelCatalog.ts';

/** The price of a model, for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Three letters (ISO 4217). */
  readonly currency: string;
}

const isAmount = (value: unknown): value is number => isNumber(value) && value >= 0;

export function isPrice(value: unknown): value is Price {
  return matchesShape<Price>(value, {
    input: isAmount,
    output: isAmount,
    currency: (currency) => isString(currency) && /^[A-Z]{3}$/.test(currency),
  });
}

/** A price in a line, for the model picker. */
export function priceText({ input, output, currency }: Price): string {
  const amount = (value: number) => money(value, currency);
  return vscode.l10n.t('{0} input, {1} output per million tokens', amount(input), amount(output));
}

/** The cost of tokens at a price. The service decides what it charges: cached tokens, for example, may be cheaper. */
function costText({ input, output, currency }: Price, prompt: number, completion: number): string {
  return vscode.l10n.t('about {0}', money((prompt * input + completion * output) / 1_000_000, currency));
}

/** Small amounts keep two significant digits. */
function money(value: number, currency: string): string {
  const isSmall = value > 0 && value < 0.1;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(vscode.env.language, { style: 'currency', currency, ...digits }).format(value);
}

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
