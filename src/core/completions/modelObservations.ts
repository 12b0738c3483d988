import type { OptionalField } from './request.ts';

/** What is known about one model of one service. */
interface Observation {
  /** Real tokens per estimated one. */
  ratio: number;
  isCalibrated: boolean;
  /** The context length that the service named when it refused a request, in tokens. */
  limit: number | undefined;
  readonly refused: Set<OptionalField>;
}

/** The largest plausible ratio: a larger one comes from prompts that the service adds or caches. */
const FURTHEST = 4;
/** The most models that are remembered; the least recently used is dropped first. */
const MAX_MODELS = 200;

/**
 * What the answers of a service have shown about its models: the real number of tokens for an estimate, and which of
 * Rolecall's own fields a model refuses. Lives as long as the window; one object serves every connection, since it is
 * keyed by address.
 */
export class ModelObservations {
  readonly #models = new Map<string, Observation>();

  /** The real tokens for an estimate, according to the usage so far; equal to the estimate before any. */
  correctEstimate(service: string, model: string, estimated: number): number {
    return Math.ceil(estimated * (this.#models.get(key(service, model))?.ratio ?? 1));
  }

  /** True when the usage of an answer of this model is known. */
  isCalibrated(service: string, model: string): boolean {
    return this.#models.get(key(service, model))?.isCalibrated ?? false;
  }

  /** Uses `prompt_tokens` of an answer; half of each new value counts, so that one odd answer cannot mislead. */
  calibrate(service: string, model: string, estimated: number, promptTokens: number): void {
    if (estimated <= 0 || promptTokens <= 0) return;
    const learned = this.#of(service, model);
    const ratio = Math.min(FURTHEST, Math.max(1 / FURTHEST, promptTokens / estimated));
    learned.ratio = learned.isCalibrated ? (learned.ratio + ratio) / 2 : ratio;
    learned.isCalibrated = true;
  }

  /** The context length the service itself named, if it ever did. */
  contextLimit(service: string, model: string): number | undefined {
    return this.#models.get(key(service, model))?.limit;
  }

  setContextLimit(service: string, model: string, limit: number): void {
    this.#of(service, model).limit = limit;
  }

  /** The fields of Rolecall's own that this model refused. */
  refusedFields(service: string, model: string): readonly OptionalField[] {
    return [...(this.#models.get(key(service, model))?.refused ?? [])];
  }

  addRefusedFields(service: string, model: string, fields: readonly OptionalField[]): void {
    const { refused } = this.#of(service, model);
    for (const field of fields) refused.add(field);
  }

  #of(service: string, model: string): Observation {
    const name = key(service, model);
    const learned = this.#models.get(name) ?? {
      ratio: 1,
      isCalibrated: false,
      limit: undefined,
      refused: new Set<OptionalField>(),
    };
    this.#models.delete(name); // Setting it again makes it the most recently used.
    this.#models.set(name, learned);
    for (const oldest of this.#models.keys()) {
      if (this.#models.size <= MAX_MODELS) break;
      this.#models.delete(oldest);
    }
    return learned;
  }
}

function key(service: string, model: string): string {
  return `${service}\n${model}`;
}
