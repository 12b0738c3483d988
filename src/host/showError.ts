import * as vscode from 'vscode';
import { asRolecallError, isCancelled, type RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { commands } from '../ids.ts';

/** The one next step that helps with an error of this kind. */
export interface NextStep {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

/** @returns `undefined` where only waiting or another request helps. */
export function nextStep({ kind, facts }: Pick<RolecallError, 'kind' | 'facts'>): NextStep | undefined {
  switch (kind) {
    case 'signedOut':
    case 'sessionEnded':
      return { title: vscode.l10n.t('Sign In'), command: commands.signIn };
    case 'configuration':
      // The token endpoint refused the client: a secret cannot be entered in the settings.
      if (facts.code !== undefined)
        return { title: vscode.l10n.t('Set Client Secret…'), command: commands.setClientSecret };
      return {
        title: vscode.l10n.t('Open Settings'),
        command: 'workbench.action.openSettings',
        arguments: ['@ext:rolecall.rolecall'],
      };
    case 'unexpected':
    case 'protocol':
    case 'storage':
      return { title: vscode.l10n.t('Show Log'), command: commands.showLog };
    default:
      return undefined;
  }
}

/** Shows an error once, in plain words with one next step; a cancellation is silent. */
export async function showError(error: unknown, log: Log): Promise<void> {
  if (isCancelled(error)) return;
  const known = asRolecallError(error);
  log.error(describe(known));
  const step = nextStep(known);
  const chosen = await vscode.window.showErrorMessage(known.message, ...(step ? [step.title] : []));
  if (step && chosen) await vscode.commands.executeCommand(step.command, ...(step.arguments ?? []));
}

/** An error as a log line: kind, message and, for what should not happen, where. */
export function describe(error: unknown): string {
  const known = asRolecallError(error);
  const cause = known.cause instanceof Error ? ` ← ${known.cause.name}: ${known.cause.message}` : '';
  const stack = known.kind === 'unexpected' && known.cause instanceof Error ? `\n${known.cause.stack ?? ''}` : '';
  return `[${known.kind}] ${known.message}${cause}${stack}`;
}
