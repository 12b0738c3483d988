import type { OptionalField } from './request.ts';

/** What is known about one model of one service. */
interface Observation {
  /** Real tokens for each estimated one. */
  ratio: number;
  isCalibrated: boolean;
  /** Context length the service named when it refused a request, in tokens. */
  limit: number | undefined;
  readonly refused: Set<OptionalField>;
}

/** No tokenizer is further from the estimate than this; a larger ratio comes from prompts that the service adds or caches. */
const FURTHEST = 4;
/** Models remembered; the least recently used is dropped first. */
const MAX_MODELS = 200;

/**
 * What is known from the answers of a service about its models: how many tokens an estimate really is, and which of Rolecall's
 * own fields a model refuses. Kept for the life of a window; one serves every connection, since it is keyed by address.
 */
export class ModelObservations {
  readonly #models = new Map<string, Observation>();

  /** Real tokens for an estimate, from the usage seen so far; 1 for 1 before any was seen. */
  correctEstimate(service: string, model: string, estimated: number): number {
    return Math.ceil(estimated * (this.#models.get(key(service, model))?.ratio ?? 1));
  }

  /** True when an answer of this model has been counted. */
  isCalibrated(service: string, model: string): boolean {
    return this.#models.get(key(service, model))?.isCalibrated ?? false;
  }

  /** Learns from `prompt_tokens` of an answer; half of what is new counts, so that one odd answer cannot mislead. */
  calibrate(service: string, model: string, estimated: number, promptTokens: number): void {
    if (estimated <= 0 || promptTokens <= 0) return;
    const learned = this.#of(service, model);
    const seen = Math.min(FURTHEST, Math.max(1 / FURTHEST, promptTokens / estimated));
    learned.ratio = learned.isCalibrated ? (learned.ratio + seen) / 2 : seen;
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
