import * as vscode from 'vscode';
import { defaultModelEntry, languageModelVendor } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { ToolFileProblem } from '../conversation.ts';
import type { Model } from '../modelCatalog.ts';
import { problemsByFile } from './toolsOverview.ts';

/** Continues text without following instructions; the sandbox lists it for trying such models. */
const RAW_MODEL = 'sandbox/ngram';

export interface RemarkContext {
  readonly request: Pick<vscode.ChatRequest, 'model'>;
  readonly cloud: Pick<Cloud, 'connection'>;
  readonly model: Model;
  /** Turns of another connection or account precede it, which are not sent. */
  readonly followsAnotherAccount: boolean;
  /** The problems in the files that define tools. */
  readonly problems: readonly ToolFileProblem[];
  /** Names of images that are not sent. */
  readonly unsent: readonly string[];
}

/** Remarks for the user on how this is answered, one sentence each. */
export function remarksOn({ request, cloud, model, followsAnotherAccount, problems, unsent }: RemarkContext): string[] {
  const leftOut = leftOutLine(problems);
  const isOthers = request.model.vendor !== languageModelVendor;
  const isWithdrawn = !isOthers && request.model.id !== defaultModelEntry && request.model.id !== model.id;
  const isRaw = cloud.connection.id === 'sandbox' && model.id === RAW_MODEL;
  return [
    ...(isOthers
      ? [vscode.l10n.t('Answered by {0}, because the selected model is not one of your cloud’s models.', model.label)]
      : []),
    ...(isWithdrawn
      ? [vscode.l10n.t('Answered by {0}, because {1} is no longer available.', model.label, request.model.name)]
      : []),
    ...(isRaw
      ? [vscode.l10n.t('{0} is a raw language model: it continues text and does not answer questions.', model.label)]
      : []),
    ...(followsAnotherAccount ? [vscode.l10n.t('Earlier messages belong to another account and won’t be sent.')] : []),
    ...(unsent.length > 0 ? [unsentLine(model, unsent.join(', '))] : []),
    ...(leftOut === undefined ? [] : [leftOut]),
  ];
}

function unsentLine({ vision, label }: Model, names: string): string {
  return vision
    ? vscode.l10n.t('Not sent because it is too large or cannot be read: {0}.', names)
    : vscode.l10n.t('Not sent: {0}. {1} doesn’t support images ("vision" in rolecall.models).', names, label);
}

/** One sentence for all files with errors in them, whose tools are left out wholly or in part. */
function leftOutLine(problems: readonly ToolFileProblem[]): string | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return undefined;
  const files = [...problemsByFile(errors).keys()].join(', ');
  return vscode.l10n.t('Some tools are unavailable because of errors in {0}. See the Problems view.', files);
}
