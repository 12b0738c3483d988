import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Waits until `look` gives something, at most half a minute, for a busy machine. `what` says what did not come. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const late = Date.now() + 30_000; Date.now() < late; await pause(20)) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
  }
  assert.fail(`did not happen: ${what}`);
}
