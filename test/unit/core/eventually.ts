import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `check` is true. The time limit of the test is the only one: waiting longer keeps no program alive. */
export async function eventually(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await sleep(5, undefined, { ref: false });
}
