import type { ConsentLine } from '../../core/tools/consentText.ts';
import type { InvokeResult } from '../../core/tools/loopTypes.ts';

/** One call, ready: what the user is shown, what names it, and the way to run exactly that. */
export interface PreparedTool {
  readonly lines: readonly ConsentLine[];
  /** Names the definition with everything that decides what runs; computed anew each time it is asked for. */
  readonly hash: () => Promise<string>;
  /** A program or command that may run code of more files than the hash covers: it is never allowed for always. */
  readonly unwatched?: string | undefined;
  /** @throws RolecallError */
  readonly run: (signal: AbortSignal) => Promise<InvokeResult>;
}
