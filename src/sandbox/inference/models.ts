import type { SandboxModel } from '../types.ts';

/** How a model writes: `guide` combines a script with the n-gram model, `raw` uses the n-gram model alone. */
export type Voice = 'guide' | 'raw';

export interface ServedModel extends SandboxModel {
  readonly voice: Voice;
  /** The values for requests without `temperature` or `top_p`. */
  readonly defaults: { readonly temperature: number; readonly topP: number };
}

const guideDefaults = { temperature: 0.7, topP: 0.8 };

/** The models, in the order of `GET /v1/models`. */
export const servedModels: readonly ServedModel[] = [
  {
    id: 'sandbox/guide',
    label: 'Sandbox Guide',
    contextLength: 131_072,
    maxOutput: 4096,
    vision: false,
    reasoning: true,
    tools: true,
    voice: 'guide',
    defaults: guideDefaults,
  },
  {
    id: 'sandbox/vision',
    label: 'Sandbox Vision',
    contextLength: 131_072,
    maxOutput: 4096,
    vision: true,
    reasoning: false,
    tools: true,
    voice: 'guide',
    defaults: guideDefaults,
  },
  {
    id: 'sandbox/ngram',
    label: 'Sandbox N-gram',
    contextLength: 2048,
    maxOutput: 1024,
    vision: false,
    reasoning: false,
    tools: false,
    voice: 'raw',
    defaults: { temperature: 0.9, topP: 0.95 },
  },
  {
    id: 'sandbox/no-tools',
    label: 'Sandbox Guide without tools',
    contextLength: 8192,
    maxOutput: 2048,
    vision: false,
    reasoning: false,
    tools: false,
    voice: 'guide',
    defaults: guideDefaults,
  },
];

export const models: readonly SandboxModel[] = servedModels;

/**
 * Ids that are always answered with the same error, to try out how a client shows it. `GET /v1/models` does not list
 * them because they are not models.
 */
export const magicModels = {
  'sandbox/no-credit': 'noCredit',
  'sandbox/rate-limited': 'rateLimited',
  'sandbox/broken': 'internalError',
  'sandbox/overloaded': 'overloaded',
} as const;
