import * as vscode from 'vscode';
import { truncateWithEllipsis } from '../../core/base/text.ts';
import type { ToolFileProblem, ToolRegistry } from '../conversation.ts';
import { escapeMarkdown } from '../markdown.ts';
import { restrictedLine } from '../restrictedMode.ts';

/** The start of a description is enough to tell tools apart. */
const MAX_DESCRIPTION = 200;

/** The problems of each file, by its path in the workspace. */
export function problemsByFile(problems: readonly ToolFileProblem[]): ReadonlyMap<string, readonly ToolFileProblem[]> {
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
  for (const [file, fileProblems] of problemsByFile(problems)) {
    const heading = vscode.l10n.t('Problems in {0}:', escapeMarkdown(file));
    text.appendMarkdown('\n').appendMarkdown(heading).appendMarkdown('\n\n');
    for (const { line, severity, message } of fileProblems) {
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
