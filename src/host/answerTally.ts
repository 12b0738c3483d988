import * as vscode from 'vscode';
import type { ChosenToken, CompletionEvent, Logprobs } from '../core/completions/completion.ts';
import type { LoopEvent } from '../core/tools/loopTypes.ts';
import { tokensText } from './usageLedger.ts';

/** What is told when an answer is over: its cost, its further choices, its reasoning. One for each answer. */
export class AnswerTally {
  readonly #startedAt = performance.now();
  readonly #others = new Map<number, string>();
  #prompt = 0;
  #completion = 0;
  #reasoning = '';
  readonly #logprobs: ChosenToken[] = [];

  accept(event: LoopEvent<CompletionEvent>): void {
    if (event.type !== 'model') return;
    const said = event.event;
    if (said.kind === 'usage') {
      this.#prompt += said.usage.promptTokens ?? 0;
      this.#completion += said.usage.completionTokens ?? 0;
    } else if (said.kind === 'logprobs' && said.choice === 0) {
      for (const token of said.logprobs) this.#logprobs.push(token);
    } else if (said.kind === 'reasoning' && said.choice === 0) this.#reasoning += said.text;
    else if (said.kind === 'text' && said.choice > 0) {
      this.#others.set(said.choice, (this.#others.get(said.choice) ?? '') + said.text);
    }
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  /** The answers besides the first, in order, where `n` asked for several. */
  get others(): readonly string[] {
    return [...this.#others].sort(([one], [other]) => one - other).map(([, text]) => text);
  }

  /** The tokens of the first answer, where `logprobs` asked for their probabilities. */
  get logprobs(): Logprobs {
    return this.#logprobs;
  }

  /** Tokens, where the service told them, and time. */
  summary(model: string): string {
    const time = vscode.l10n.t('{0} s', ((performance.now() - this.#startedAt) / 1000).toFixed(1));
    const tokens = this.#prompt + this.#completion > 0 ? [tokensText(this.#prompt, this.#completion)] : [];
    return [model, ...tokens, time].join(' · ');
  }
}
