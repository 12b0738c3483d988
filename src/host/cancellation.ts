import type * as vscode from 'vscode';
import type { Clouds } from './clouds.ts';

/** A signal that aborts when VS Code's token is cancelled. */
export function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  else token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}

/** Identifies the account whose answers may be on the screen. */
export function ownerOf({ active }: Pick<Clouds, 'active'>): string {
  return JSON.stringify([active?.key, active?.inferenceAccount]);
}

/** A signal for requests of one account; to be disposed of when they are over. */
export interface AccountSignal {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** Aborts with `signal`, and as soon as another account becomes active, or none: after a sign-out nothing goes on. */
export function accountSignal(clouds: Pick<Clouds, 'active' | 'onDidChange'>, signal: AbortSignal): AccountSignal {
  const owner = ownerOf(clouds);
  const stop = new AbortController();
  const subscription = clouds.onDidChange(() => {
    // Where the service has ended the session, the request itself fails with the reason.
    const isEnded = clouds.active?.tokenManager.state.kind === 'ended';
    if (ownerOf(clouds) !== owner && !isEnded) stop.abort();
  });
  return { signal: AbortSignal.any([signal, stop.signal]), dispose: () => subscription.dispose() };
}
