import * as vscode from 'vscode';
import { asRolecallError, isCancelled, type Remedy, type RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { commands, settings } from '../ids.ts';
import { showErrorMessage, showInformationMessage } from './dialogs.ts';

/** The one next step for an error of this kind. */
export interface NextStep {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
  /** Another command that helps as well. */
  readonly other?: { readonly title: string; readonly command: string };
  /** A setting of the user's that can be corrected with one click; never a workspace's. No command does this. */
  readonly correct?: { readonly title: string; readonly setting: string; readonly value: string };
}

/** @returns `undefined` if only waiting or another request helps. */
export function nextStep({ kind, remedy }: Pick<RolecallError, 'kind' | 'remedy'>): NextStep | undefined {
  if (remedy) return stepOf(remedy);
  switch (kind) {
    case 'signedOut':
    case 'sessionEnded':
      return { title: vscode.l10n.t('Sign In'), command: commands.signIn };
    case 'configuration':
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

function stepOf(remedy: Remedy): NextStep {
  switch (remedy.kind) {
    case 'signInAgain':
      return { title: vscode.l10n.t('Try Again'), command: commands.signIn };
    case 'otherSignIn':
      return { title: vscode.l10n.t('Other Ways to Sign In…'), command: commands.signInWith };
    case 'setClientSecret':
      return { title: vscode.l10n.t('Set Client Secret…'), command: commands.setClientSecret };
    case 'setInferenceToken':
      return { title: vscode.l10n.t('Set Inference Token…'), command: commands.setInferenceToken };
    case 'reloadWindow':
      return { title: vscode.l10n.t('Reload Window'), command: 'workbench.action.reloadWindow' };
    case 'diagnose':
      return { title: vscode.l10n.t('Diagnose'), command: commands.diagnoseSignIn };
    case 'chooseCloud':
      return {
        ...settingsStep(''),
        title: vscode.l10n.t('Configure Your Cloud'),
        other: { title: vscode.l10n.t('Try the Sandbox'), command: commands.trySandbox },
      };
    case 'startSandbox':
      return { title: vscode.l10n.t('Try the Sandbox'), command: commands.trySandbox };
    case 'changeSetting':
      if (remedy.value !== undefined && remedy.value !== '') {
        return {
          ...settingsStep(remedy.setting),
          correct: { title: vscode.l10n.t('Use {0}', remedy.value), setting: remedy.setting, value: remedy.value },
        };
      }
      return settingsStep(remedy.setting);
  }
}

function settingsStep(search: string): NextStep {
  return {
    title: vscode.l10n.t('Open Settings'),
    command: 'workbench.action.openSettings',
    arguments: [`@ext:rolecall.rolecall ${search}`.trim()],
  };
}

/** Shows an error once, in plain words with one next step; a cancellation is silent. Never rejects. */
export async function showError(error: unknown, log: Log): Promise<void> {
  if (isCancelled(error)) return;
  const rolecallError = asRolecallError(error);
  log.error(describeError(rolecallError));
  const step = nextStep(rolecallError);
  const correct = step?.correct;
  const titles = [correct?.title, step?.title, step?.other?.title].filter((title) => title !== undefined);
  // A missing configuration is not an error.
  const show = rolecallError.remedy?.kind === 'chooseCloud' ? showInformationMessage : showErrorMessage;
  const chosen = await show(rolecallError.message, ...titles);
  try {
    if (correct && chosen === correct.title) {
      const configuration = vscode.workspace.getConfiguration(settings.section);
      await configuration.update(correct.setting, correct.value, vscode.ConfigurationTarget.Global);
    } else if (step?.other && chosen === step.other.title) await vscode.commands.executeCommand(step.other.command);
    else if (step && chosen) await vscode.commands.executeCommand(step.command, ...(step.arguments ?? []));
  } catch (failure) {
    log.error(describeError(failure)); // A settings file that cannot be written, for example: VS Code says so itself.
  }
}

/** An error as a log line: kind, message and, for unexpected ones, the stack. */
export function describeError(error: unknown): string {
  const rolecallError = asRolecallError(error);
  const cause =
    rolecallError.cause instanceof Error ? ` ← ${rolecallError.cause.name}: ${rolecallError.cause.message}` : '';
  const stack =
    rolecallError.kind === 'unexpected' && rolecallError.cause instanceof Error
      ? `\n${rolecallError.cause.stack ?? ''}`
      : '';
  return `[${rolecallError.kind}] ${rolecallError.message}${cause}${stack}`;
}
