import type { Segment } from './script.ts';

/** What a model means to answer to one request, before a token is chosen. */
export interface Plan {
  readonly reasoning: readonly Segment[] | undefined;
  /** `free`: the n-gram model alone; undefined: no content at all, only calls. */
  readonly content: readonly Segment[] | 'free' | undefined;
  readonly calls: readonly PlannedCall[];
  /** Token ids that stand before the content in the model's eyes. */
  readonly history: readonly number[];
}

export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
