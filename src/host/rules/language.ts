import * as vscode from 'vscode';
import { ACCESS_FILE_SHAPE } from '../../core/rules/accessFile.ts';
import { CAMPAIGN_SHAPE } from '../../core/rules/campaign.ts';
import { type Completion, complete, hover } from '../../core/rules/languageService.ts';
import type { AccessData } from '../accessData.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';
import { ACCESS_FILES, rangesIn } from './accessFiles.ts';

const KINDS: Readonly<Record<Completion['kind'], vscode.CompletionItemKind>> = {
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.EnumMember,
  group: vscode.CompletionItemKind.Module,
  role: vscode.CompletionItemKind.Constant,
  person: vscode.CompletionItemKind.User,
  rule: vscode.CompletionItemKind.Reference,
  organization: vscode.CompletionItemKind.Folder,
};

export const CAMPAIGN_FILES = '**/*.review.yaml';

/** Completion from what was really read, and hover. */
export function registerLanguage(data: AccessData): vscode.Disposable {
  const shapes = [
    { pattern: ACCESS_FILES, shape: ACCESS_FILE_SHAPE },
    { pattern: CAMPAIGN_FILES, shape: CAMPAIGN_SHAPE },
  ];
  const modelOf = (text: string) => {
    const [, organization = ''] = /^organization:[ \t]*["']?([^"'\r\n#]*?)["']?[ \t]*(?:#.*)?$/m.exec(text) ?? [];
    return data.last(organization)?.model;
  };
  return vscode.Disposable.from(
    ...shapes.flatMap(({ pattern, shape }) => [
      vscode.languages.registerCompletionItemProvider(
        { pattern },
        {
          provideCompletionItems(document, position) {
            const text = document.getText();
            const organizations = data.all.map(({ model }) => model.organization);
            const found = complete(text, document.offsetAt(position), shape, { model: modelOf(text), organizations });
            if (!found) return undefined;
            const range = rangesIn(text)(found.place);
            return found.items.map(({ label, kind, insert, detail }) => {
              const item = new vscode.CompletionItem(label, KINDS[kind]);
              item.insertText = insert;
              item.filterText = insert;
              item.range = range;
              if (detail !== undefined) item.detail = detail;
              return item;
            });
          },
        },
        ...[' ', '[', ',', '"'],
      ),
      vscode.languages.registerHoverProvider(
        { pattern },
        {
          provideHover(document, position) {
            const text = document.getText();
            const found = hover(text, document.offsetAt(position), shape, modelOf(text));
            if (!found) return undefined;
            const lines = found.lines.map((line) => new vscode.MarkdownString(escapeMarkdown(line)));
            return new vscode.Hover(lines, rangesIn(text)(found.place));
          },
        },
      ),
    ]),
  );
}
