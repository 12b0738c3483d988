import type { Clouds } from './clouds.ts';

/** Names the account whose answers may be on the screen. */
export function ownerOf({ active }: Pick<Clouds, 'active'>): string {
  return JSON.stringify([active?.key, active?.inferenceAccount]);
}
