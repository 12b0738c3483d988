import type { Clouds } from '../clouds.ts';

/** Connection and account on the stage: whom answers and proposals of a moment belong to. */
export function ownerOf({ active }: Pick<Clouds, 'active'>): string {
  return JSON.stringify([active?.key, active?.inferenceAccount]);
}
