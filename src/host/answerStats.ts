import * as vscode from 'vscode';
import type { ChosenToken, CompletionEvent, Logprobs } from '../core/completions/completion.ts';
import type { AgentLoopEvent } from '../core/tools/agentLoopTypes.ts';
import { tokensText } from './tokenUsage.ts';

/** What is shown when an answer is complete: its cost, its further choices, its reasoning. One for each answer. */
export class AnswerStats {
  readonly #now: () => number;
  readonly #startedAt: number;
  /** How many questions the user is being asked, since when, and how long that took before. */
  #questions = 0;
  #askedAt = 0;
  #waited = 0;
  readonly #others = new Map<number, string>();
  #prompt = 0;
  #completion = 0;
  #reasoning = '';
  readonly #logprobs: ChosenToken[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Waits for the user's answer to a dialog, whose time does not count as the model's. */
  readonly whileAsking = async <T>(question: Promise<T>): Promise<T> => {
    if (this.#questions === 0) this.#askedAt = this.#now();
    this.#questions += 1;
    try {
      return await question;
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0) this.#waited += this.#now() - this.#askedAt;
    }
  };

  accept(event: AgentLoopEvent<CompletionEvent>): void {
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

  /** Tokens, where the service reported them, and time excluding dialogs. */
  summary(model: string): string {
    const time = vscode.l10n.t('{0} s', ((this.#now() - this.#startedAt - this.#waited) / 1000).toFixed(1));
    const tokens = this.#prompt + this.#completion > 0 ? [tokensText(this.#prompt, this.#completion)] : [];
    return [model, ...tokens, time].join(' · ');
  }
}
