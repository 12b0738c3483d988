import type { Problem } from './definition.ts';

/** A remark about a member, before its place in the text is known. */
export interface Finding {
  readonly path: readonly (string | number)[];
  readonly severity: Problem['severity'];
  readonly message: string;
  /** See `Problem.bySchema`; false when left out. */
  readonly bySchema?: boolean;
}

export function error(path: readonly (string | number)[], message: string): Finding {
  return { path, severity: 'error', message };
}
