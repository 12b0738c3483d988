import * as vscode from 'vscode';
import { isNumber, isString, matchesShape } from '../core/base/shape.ts';

/** What a model costs, for a million tokens. */
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

/** What tokens cost at a price. The service decides what it charges: cached tokens, for example, may be cheaper. */
export function costText({ input, output, currency }: Price, prompt: number, completion: number): string {
  return vscode.l10n.t('about {0}', money((prompt * input + completion * output) / 1_000_000, currency));
}

/** Small amounts keep two significant digits. */
function money(value: number, currency: string): string {
  const isSmall = value > 0 && value < 0.1;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(vscode.env.language, { style: 'currency', currency, ...digits }).format(value);
}
