import { type Containment, findContainment } from '../../../src/core/tools/containment.ts';

/** A machine that cannot contain programs. */
export const notContaining = {
  kind: 'none',
  reason: 'bubblewrap is not installed.',
  remedy: 'sudo apt install bubblewrap',
} satisfies Containment;

/** How this machine does it; a test that needs it is skipped where it cannot. */
export async function containing(test: Mocha.Context): Promise<() => Promise<Containment>> {
  const found = await findContainment({}, new AbortController().signal);
  if (found.kind === 'none') test.skip();
  return async () => found;
}
