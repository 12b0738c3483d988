import type { ChatMessage, CompletionParameters } from '../core/completions/request.ts';

/** What `@rolecall` was asked last in this window, as it was sent; for what makes a file of it. */
export interface LastExchange {
  current?: {
    /** See `ownerOf`: another account never sees it. */
    readonly owner: string;
    readonly model: string;
    readonly parameters: CompletionParameters;
    readonly messages: readonly ChatMessage[];
  };
}
