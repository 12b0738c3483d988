import * as vscode from 'vscode';
import { commands, extensionId } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';

/** Answers the message of a signed-out user with the ways to sign in. */
export function offerSignIn(
  clouds: Clouds,
  cloud: Cloud | undefined,
  stream: vscode.ChatResponseStream,
): vscode.ChatResult {
  const state = cloud?.tokenManager.state;
  if (clouds.problem) stream.markdown(escapeMarkdown(clouds.problem.message));
  else if (state?.kind === 'ended' || state?.kind === 'storeUnavailable')
    stream.markdown(escapeMarkdown(state.error.message));
  else if (cloud)
    stream.markdown(vscode.l10n.t('Sign in to {0}, then ask again.', escapeMarkdown(cloud.connection.label)));
  else {
    stream.markdown(
      vscode.l10n.t('No cloud configured yet. Try the sandbox, a small cloud on this machine, or configure your own.'),
    );
  }
  if (cloud) stream.button({ title: vscode.l10n.t('Sign In'), command: commands.signIn });
  if (cloud?.connection.id !== 'sandbox') {
    stream.button({ title: vscode.l10n.t('Try the Sandbox'), command: commands.trySandbox });
  }
  if (!cloud) {
    stream.button({
      title: vscode.l10n.t('Configure Your Cloud'),
      command: 'workbench.action.openSettings',
      arguments: [`@ext:${extensionId}`],
    });
  }
  return {};
}
