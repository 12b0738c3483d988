import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { Log } from '../../core/base/log.ts';
import type { ChatFact } from '../../core/diagnosis/facts.ts';
import { languageModelVendor } from '../../ids.ts';
import { chatUnavailable } from '../chatView.ts';
import { showInformationMessage } from '../dialogs.ts';
import { describeError } from '../showError.ts';

/** VS Code's setting for the models that write titles and summaries where a model of an extension is picked. */
export const UTILITY_MODELS = 'chat.byokUtilityModelDefault';

/** In global state while Use My Cloud's Models in VS Code's Chat is in effect: what the setting was before, if it was set. */
const NATIVE_CHAT = 'rolecall.nativeChat';

/** The facts about this editor's chat, for a diagnosis. */
export async function chatFact(state: vscode.Memento): Promise<ChatFact> {
  const missing = await chatUnavailable();
  const utilityModels = vscode.workspace.getConfiguration().get<unknown>(UTILITY_MODELS);
  return {
    ...(missing && { missing: missing.reason }),
    isUsedWithoutParticipant: state.get(NATIVE_CHAT) !== undefined,
    ...(typeof utilityModels === 'string' && { utilityModels }),
  };
}

/**
 * A note about VS Code's own chat for the moment when a model is picked: another vendor's model may see the messages as
 * well.
 */
export function utilityModelNote(): string | undefined {
  if (vscode.workspace.getConfiguration().get(UTILITY_MODELS) !== 'copilot') return undefined;
  return vscode.l10n.t(
    'Without @rolecall, and while you are signed in to GitHub, VS Code may let Copilot’s models write titles and summaries of your messages. The setting {0} changes that.',
    UTILITY_MODELS,
  );
}

/** VS Code's own commands, which are not documented. See docs/vscode.md for what each does. */
const ADD_PROVIDER = 'lm.addLanguageModelsProviderGroup';
const MANAGE_MODELS = 'workbench.action.chat.manage';
const OPEN_PROVIDERS = 'workbench.action.openLanguageModelsJson';

/**
 * Use My Cloud's Models in VS Code's Chat: what lets messages without `@rolecall` reach the cloud's models without a GitHub
 * sign-in, after a yes. The second time it is undone.
 */
export async function useInNativeChat(state: vscode.Memento, log: Log): Promise<void> {
  if (state.get(NATIVE_CHAT) === undefined) await turnOn(state, log);
  else await turnOff(state);
}

async function turnOn(state: vscode.Memento, log: Log): Promise<void> {
  const commands = await vscode.commands.getCommands(true);
  if (![ADD_PROVIDER, MANAGE_MODELS].every((command) => commands.includes(command))) {
    throw new RolecallError(
      'unsupported',
      vscode.l10n.t('This editor can’t use your cloud’s models in its own chat. Begin each message with @rolecall.'),
    );
  }
  const proceed = vscode.l10n.t('Use My Cloud’s Models');
  const hasSetting = utilityModels()?.defaultValue !== undefined;
  const detail = [
    vscode.l10n.t(
      '• "Rolecall" is added to your model providers (chatLanguageModels.json). The chat then doesn’t ask you to sign in to GitHub.',
    ),
    vscode.l10n.t(
      '• The Language Models page opens. This turns on VS Code’s built-in GitHub Copilot extension, which runs the chat.',
    ),
    ...(hasSetting
      ? [
          vscode.l10n.t(
            '• {0} is set to "mainAgent", so that your cloud’s models also write titles and summaries.',
            UTILITY_MODELS,
          ),
        ]
      : []),
    '',
    vscode.l10n.t('Run this command again to undo it. @rolecall works either way.'),
  ].join('\n');
  const message = vscode.l10n.t('Use your cloud’s models in VS Code’s chat, without @rolecall?');
  if ((await showInformationMessage(message, { modal: true, detail }, proceed)) !== proceed) return;
  const before = utilityModels()?.globalValue;
  await state.update(NATIVE_CHAT, before === undefined ? {} : { before });
  try {
    await vscode.commands.executeCommand(ADD_PROVIDER, { name: 'Rolecall', vendor: languageModelVendor });
  } catch (error) {
    log.info(`The editor did not add a provider of models, or has it already: ${describeError(error)}`);
  }
  if (hasSetting) await writeUtilityModels('mainAgent');
  await vscode.commands.executeCommand(MANAGE_MODELS);
}

async function turnOff(state: vscode.Memento): Promise<void> {
  const undo = vscode.l10n.t('Undo');
  const message = vscode.l10n.t('Stop using your cloud’s models in VS Code’s chat?');
  const detail = vscode.l10n.t(
    'Your setting {0} is restored, and the list of model providers opens: delete "Rolecall" there and save. VS Code’s built-in Copilot extension stays on. @rolecall keeps working.',
    UTILITY_MODELS,
  );
  if ((await showInformationMessage(message, { modal: true, detail }, undo)) !== undo) return;
  const changed = state.get<unknown>(NATIVE_CHAT);
  // What the user has changed since is theirs.
  if (utilityModels()?.globalValue === 'mainAgent') {
    await writeUtilityModels(isJsonObject(changed) ? changed.before : undefined);
  }
  await state.update(NATIVE_CHAT, undefined);
  await vscode.commands.executeCommand(OPEN_PROVIDERS);
}

function utilityModels() {
  return vscode.workspace.getConfiguration().inspect<unknown>(UTILITY_MODELS);
}

async function writeUtilityModels(value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration().update(UTILITY_MODELS, value, vscode.ConfigurationTarget.Global);
}
