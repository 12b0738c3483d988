import * as vscode from 'vscode';
import { truncateWithEllipsis } from '../../core/base/text.ts';
import { defaultModelEntry, languageModelVendor } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { ToolFileProblem, ToolRegistry } from '../conversation.ts';
import { escapeMarkdown } from '../markdown.ts';
import type { Model } from '../modelCatalog.ts';
import { restrictedLine } from '../restrictedMode.ts';

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
    : vscode.l10n.t('Not sent: {0}. {1} doesn’t support images (“vision” in rolecall.models).', names, label);
}

/** The start of a description is enough to tell tools apart. */
const MAX_DESCRIPTION = 200;

/** One sentence for all files with errors in them, whose tools are left out wholly or in part. */
function leftOutLine(problems: readonly ToolFileProblem[]): string | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return undefined;
  const files = [...byFile(errors).keys()].join(', ');
  return vscode.l10n.t('Some tools are unavailable because of errors in {0}. See the Problems view.', files);
}

/** The problems of each file, by its path in the workspace. */
function byFile(problems: readonly ToolFileProblem[]): ReadonlyMap<string, readonly ToolFileProblem[]> {
  const files = new Map<string, ToolFileProblem[]>();
  for (const problem of problems) {
    const file = vscode.workspace.asRelativePath(problem.file);
    files.set(file, [...(files.get(file) ?? []), problem]);
  }
  return files;
}

/**
 * The answer to `/tools`: the tools and their permissions, with the problems of their files. Names and descriptions
 * come from the workspace and are no markup.
 */
export async function toolsOverview({
  tools,
  reach,
  problems = [],
  remarks = [],
}: ToolRegistry): Promise<vscode.MarkdownString> {
  const text = new vscode.MarkdownString();
  const restricted = restrictedLine();
  if (restricted !== undefined) return text.appendMarkdown(escapeMarkdown(restricted));
  if (tools.length === 0 && problems.length === 0) {
    return text.appendMarkdown(vscode.l10n.t('This workspace defines no tools.'));
  }
  for (const { name, definition, userDescription } of tools) {
    const description = userDescription ?? definition.function.description ?? '';
    const short = truncateWithEllipsis(description, MAX_DESCRIPTION);
    const most = await reach?.(name);
    text
      .appendMarkdown(`- \`${name}\`: `)
      .appendMarkdown(escapeMarkdown(short.replace(/\s+/g, ' ')))
      .appendMarkdown(most === undefined ? '' : `\\\n  *${escapeMarkdown(most)}*`)
      .appendMarkdown('\n');
  }
  for (const remark of remarks) text.appendMarkdown('\n').appendMarkdown(escapeMarkdown(remark)).appendMarkdown('\n');
  for (const [file, found] of byFile(problems)) {
    const heading = vscode.l10n.t('Problems in {0}:', escapeMarkdown(file));
    text.appendMarkdown('\n').appendMarkdown(heading).appendMarkdown('\n\n');
    for (const { line, severity, message } of found) {
      const shown = escapeMarkdown(message);
      const item =
        severity === 'error'
          ? vscode.l10n.t('Line {0}: {1}', line + 1, shown)
          : vscode.l10n.t('Line {0} (warning): {1}', line + 1, shown);
      text.appendMarkdown(`- ${item}\n`);
    }
  }
  return text;
}
