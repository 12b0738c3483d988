import type { ToolCall } from '../../core/base/toolCall.ts';
import type { ChosenToken, CompletionEvent, Usage } from '../../core/completions/completion.ts';
import type { RunEvent } from '../../core/prompts/runCases.ts';
import type { AttemptResult, Evaluation } from '../../core/prompts/runResults.ts';
import { locateTokens, TokenLocator, type TokenPlace } from '../../core/prompts/tokenProbabilities.ts';

/** One of the `n` answers of a model, as far as it has arrived. */
export class AnswerChoice {
  readonly index: number;
  text = '';
  reasoning = '';
  readonly calls: ToolCall[] = [];
  /** The results of tools that the user has run, by the index of the call. */
  readonly toolResults = new Map<number, string>();
  finishReason: string | undefined;
  stopReason: unknown;
  readonly evaluations: Evaluation[] = [];
  readonly logprobs: ChosenToken[] = [];
  readonly #locator = new TokenLocator();
  #places: readonly TokenPlace[] | undefined;

  constructor(index: number) {
    this.index = index;
  }

  accept(event: CompletionEvent): void {
    switch (event.kind) {
      case 'text':
        this.text += event.text;
        break;
      case 'reasoning':
        this.reasoning += event.text;
        break;
      case 'logprobs':
        for (const token of event.logprobs) this.logprobs.push(token);
        this.#locator.add(event.logprobs);
        break;
      case 'toolCall':
        this.calls.push(event.call);
        break;
      case 'finish':
        this.finishReason = event.reason;
        this.stopReason = event.stopReason;
        break;
    }
  }

  /** The places of its tokens in its text. The list only grows while the answer arrives. */
  get places(): readonly TokenPlace[] {
    return this.#places ?? this.#locator.places;
  }

  get perplexity(): number | undefined {
    return this.#locator.perplexity;
  }

  /** Checks the places against the whole text: a color at the wrong place would be wrong. */
  end(): void {
    const checked = locateTokens(this.text, this.logprobs);
    // The same places stay the same list, so that nothing is drawn again.
    if (checked.length !== this.#locator.places.length) this.#places = checked;
  }
}

/** The answers of one model to a prompt, while they arrive. */
export class ModelAnswer {
  readonly model: string;
  readonly label: string;
  readonly #choices = new Map<number, AnswerChoice>();
  /** The body of the request as it was sent. */
  body: string | undefined;
  usage: Usage | undefined;
  readonly notices: string[] = [];
  /** Set when the run is over, unless it was stopped before. */
  result: AttemptResult | undefined;
  isOver = false;
  /** The sections that the user has expanded. */
  readonly unfolded = new Set<string>();

  constructor(model: string, label: string) {
    this.model = model;
    this.label = label;
  }

  /** By their number. */
  get choices(): readonly AnswerChoice[] {
    return [...this.#choices.values()].sort((one, other) => one.index - other.index);
  }

  accept(event: RunEvent): void {
    switch (event.kind) {
      case 'sent':
        this.body = event.body;
        break;
      case 'event':
        if (event.event.kind === 'usage') this.usage = event.event.usage;
        else if (event.event.kind === 'notice') this.notices.push(event.event.message);
        else if ('choice' in event.event) this.choice(event.event.choice).accept(event.event);
        break;
      case 'evaluated':
        this.choice(event.choice).evaluations.push(event.evaluation);
        break;
      case 'attempted':
        this.result = event.result;
        this.end();
        break;
    }
  }

  end(): void {
    this.isOver = true;
    for (const choice of this.#choices.values()) choice.end();
  }

  choice(index: number): AnswerChoice {
    const existing = this.#choices.get(index);
    if (existing) return existing;
    const choice = new AnswerChoice(index);
    this.#choices.set(index, choice);
    return choice;
  }
}
