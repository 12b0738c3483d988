import * as vscode from 'vscode';
import type { Toolbox } from '../conversation.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';

const TOOL_FILE = /\/\.vscode\/rolecall\.tools\.json$/;
/** The start of a description is enough to tell tools apart. */
const MAX_DESCRIPTION = 200;

/** A tool file with errors, whose tools are left out wholly or in part. */
export interface BrokenToolFile {
  readonly uri: vscode.Uri;
  readonly errors: readonly vscode.Diagnostic[];
}

/** The tool files with errors in them, as they stand in Problems. */
export function brokenToolFiles(): BrokenToolFile[] {
  return vscode.languages
    .getDiagnostics()
    .filter(([uri]) => TOOL_FILE.test(uri.path))
    .map(([uri, found]) => ({
      uri,
      errors: found.filter(
        ({ source, severity }) => source === 'Rolecall' && severity === vscode.DiagnosticSeverity.Error,
      ),
    }))
    .filter(({ errors }) => errors.length > 0);
}

/** One sentence for all of them. */
export function brokenLine(broken: readonly BrokenToolFile[]): string {
  const files = broken.map(({ uri }) => vscode.workspace.asRelativePath(uri)).join(', ');
  return vscode.l10n.t('Some tools are left out: {0} has mistakes in it. Problems shows them.', files);
}

/** `/tools`: what is defined, with its problems. Names and descriptions come from the workspace and are no markup. */
export function toolsOverview({ tools }: Toolbox, broken: readonly BrokenToolFile[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  if (!vscode.workspace.isTrusted) {
    return text.appendMarkdown(
      vscode.l10n.t('Tools of this workspace are neither read nor offered before you trust it.'),
    );
  }
  if (tools.length === 0 && broken.length === 0) {
    return text.appendMarkdown(vscode.l10n.t('This workspace defines no tools.'));
  }
  for (const { definition } of tools) {
    const { name, description = '' } = definition.function;
    const short = description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION)}…` : description;
    text
      .appendMarkdown(`- \`${name}\`: `)
      .appendMarkdown(escapeMarkdown(short.replace(/\s+/g, ' ')))
      .appendMarkdown('\n');
  }
  for (const { uri, errors } of broken) {
    text
      .appendMarkdown('\n')
      .appendMarkdown(vscode.l10n.t('{0} has mistakes:', escapeMarkdown(vscode.workspace.asRelativePath(uri))));
    text.appendMarkdown('\n\n');
    for (const { range, message } of errors) {
      text.appendMarkdown(`- ${range.start.line + 1}: ${escapeMarkdown(message)}\n`);
    }
  }
  return text;
}
