import type { SandboxModel } from '../types.ts';

/** How a model writes: the guide follows a script and listens to the n-gram model; raw is the n-gram model alone. */
export type Voice = 'guide' | 'raw';

export interface ServedModel extends SandboxModel {
  readonly voice: Voice;
  /** What applies where a request leaves temperature and top_p out (a model's own generation defaults). */
  readonly defaults: { readonly temperature: number; readonly topP: number };
}

const guideDefaults = { temperature: 0.7, topP: 0.8 };

/** The models that answer, in the order of `GET /v1/models`. */
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
 * Ids that answer with one fixed error each, for trying out how a client shows it. They are not listed: a list of
 * models should hold only models.
 */
export const magicModels = {
  'sandbox/no-credit': 'noCredit',
  'sandbox/rate-limited': 'rateLimited',
  'sandbox/broken': 'internalError',
  'sandbox/overloaded': 'overloaded',
} as const;
