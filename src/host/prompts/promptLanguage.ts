import * as vscode from 'vscode';
import { isJsonObject } from '../../core/base/json.ts';
import {
  type LanguageContext,
  type PromptCompletion,
  promptCompletions,
  promptHover,
} from '../../core/prompts/languageService.ts';
import type { PromptProblem } from '../../core/prompts/yamlText.ts';
import { DIAGNOSTIC_SOURCE, promptCommands, settings } from '../../ids.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import { promptOf } from './promptFiles.ts';
import type { PromptModels } from './promptModels.ts';
import { isPromptFile, PROMPT_GLOB } from './promptPattern.ts';

export interface PromptLanguageDeps {
  readonly models: PromptModels;
  readonly openTools: OpenToolRegistry;
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON'>;
  /** The problems of an open file. */
  problemsOf(uri: vscode.Uri): readonly PromptProblem[];
}

const kinds: Readonly<Record<PromptCompletion['kind'], vscode.CompletionItemKind>> = {
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.EnumMember,
  variable: vscode.CompletionItemKind.Variable,
  model: vscode.CompletionItemKind.Constant,
  tool: vscode.CompletionItemKind.Function,
  file: vscode.CompletionItemKind.File,
};

/** Completion, hover and quick fixes of prompt files, by their names: VS Code gives them several languages. */
export function registerPromptLanguage(deps: PromptLanguageDeps): vscode.Disposable {
  const selector: vscode.DocumentSelector = { pattern: PROMPT_GLOB };
  const help = new PromptLanguage(deps);
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(selector, help, '{', ' ', '-', '/', ':'),
    vscode.languages.registerHoverProvider(selector, help),
    vscode.languages.registerCodeActionsProvider(selector, new PromptFixes(deps.problemsOf), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

class PromptLanguage implements vscode.CompletionItemProvider, vscode.HoverProvider {
  readonly #deps: PromptLanguageDeps;
  readonly #describe: LanguageContext['describeParameter'];

  constructor(deps: PromptLanguageDeps) {
    this.#deps = deps;
    this.#describe = parameterTexts(deps.extension.packageJSON);
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.CompletionItem[]> {
    if (!isPromptFile(document.uri)) return [];
    const text = document.getText();
    const context = { ...this.#contextOf(document), ...(await this.#surroundings(document)) };
    return promptCompletions(text, document.offsetAt(position), context).map((completion, index) => {
      const item = new vscode.CompletionItem(completion.label, kinds[completion.kind]);
      const { start, end } = completion.range;
      item.range = new vscode.Range(document.positionAt(start), document.positionAt(end));
      item.insertText = completion.isSnippet ? new vscode.SnippetString(completion.insertText) : completion.insertText;
      item.sortText = String(index).padStart(4, '0');
      if (completion.documentation !== undefined) {
        item.documentation = new vscode.MarkdownString(completion.documentation);
      }
      return item;
    });
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    if (!isPromptFile(document.uri)) return undefined;
    const hover = promptHover(document.getText(), document.offsetAt(position), this.#contextOf(document));
    if (!hover) return undefined;
    const { start, end } = hover.range;
    const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
    return new vscode.Hover(new vscode.MarkdownString(hover.markdown), range);
  }

  #contextOf({ languageId }: vscode.TextDocument): LanguageContext {
    return {
      models: this.#deps.models.available.map(({ id }) => id),
      tools: [],
      describeParameter: this.#describe,
      besideYamlExtension: languageId === 'yaml' && vscode.extensions.getExtension('redhat.vscode-yaml') !== undefined,
    };
  }

  /** The names that a file can use; looked up only for completion. */
  async #surroundings({ uri }: vscode.TextDocument): Promise<Pick<LanguageContext, 'tools' | 'files'>> {
    if (!vscode.workspace.isTrusted) return { tools: [] };
    const { tools } = await this.#deps.openTools();
    return { tools: tools.map(({ name }) => name), files: await filesBeside(uri) };
  }
}

/** What the settings say about the fields of a request: one copy of these texts. */
function parameterTexts(manifest: unknown): (field: string) => string | undefined {
  const contributes = isJsonObject(manifest) ? manifest.contributes : undefined;
  const groups = isJsonObject(contributes) ? contributes.configuration : undefined;
  const name = `${settings.section}.${settings.chatParameters}`;
  const described = (Array.isArray(groups) ? groups : [])
    .map((group: unknown) => isJsonObject(group) && isJsonObject(group.properties) && group.properties[name])
    .find(isJsonObject);
  const properties = isJsonObject(described?.properties) ? described.properties : {};
  return (field) => {
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return isJsonObject(property) && typeof property.markdownDescription === 'string'
      ? property.markdownDescription
      : undefined;
  };
}

/** Names of files beside the prompt, for `{{file:…}}`; a folder of its own is not searched. */
async function filesBeside(uri: vscode.Uri): Promise<string[]> {
  if (uri.scheme === 'untitled') return [];
  try {
    const entries = await vscode.workspace.fs.readDirectory(vscode.Uri.joinPath(uri, '..'));
    return entries.flatMap(([name, type]) =>
      type === vscode.FileType.File && !uri.path.endsWith(`/${name}`) ? [name] : [],
    );
  } catch {
    return []; // A folder that cannot be listed.
  }
}

/** Offers the fixes of a prompt file's problems. */
class PromptFixes implements vscode.CodeActionProvider {
  readonly #problemsOf: (uri: vscode.Uri) => readonly PromptProblem[];

  /** @param problemsOf the problems that are shown. */
  constructor(problemsOf: (uri: vscode.Uri) => readonly PromptProblem[]) {
    this.#problemsOf = problemsOf;
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (!isPromptFile(document.uri)) return [];
    const prompt = promptOf(document);
    const problems = this.#problemsOf(document.uri);
    return diagnostics.flatMap((diagnostic) => {
      if (diagnostic.source !== DIAGNOSTIC_SOURCE) return [];
      const { fix } =
        problems.find(
          (each) =>
            each.code === diagnostic.code &&
            each.message === diagnostic.message &&
            prompt.rangeOf(each).isEqual(diagnostic.range),
        ) ?? {};
      if (!fix) return [];
      const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.replace(document.uri, prompt.rangeOf(fix), fix.text);
      action.diagnostics = [diagnostic];
      action.isPreferred = true;
      return [action];
    });
  }
}

/** Links above a prompt that run it, and above each case. */
export class PromptLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #isRunning: (uri: vscode.Uri) => boolean;

  constructor(isRunning: (uri: vscode.Uri) => boolean) {
    this.#isRunning = isRunning;
  }

  /** Called when a run begins or ends. */
  refresh(): void {
    this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document;
    if (!isPromptFile(uri)) return [];
    const prompt = promptOf(document);
    const { messages, cases } = prompt.file;
    const [first] = messages;
    if (!first) return [];
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (range: vscode.Range, title: string, command: string, ...more: readonly unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [uri, ...more] });
    const run = this.#isRunning(uri)
      ? lens(top, vscode.l10n.t('$(debug-stop) Stop'), promptCommands.stopPrompt)
      : lens(top, vscode.l10n.t('$(play) Run'), promptCommands.runPrompt);
    return [
      run,
      lens(top, vscode.l10n.t('Run with Models…'), promptCommands.runPromptWithModels),
      lens(top, vscode.l10n.t('Compare…'), promptCommands.comparePromptRuns),
      lens(top, vscode.l10n.t('Copy as curl'), promptCommands.copyPromptAsCurl),
      ...cases.flatMap(({ id, range }) => {
        if (!range) return [];
        const { start } = prompt.rangeOf(range);
        return [lens(new vscode.Range(start, start), vscode.l10n.t('$(play) Run'), promptCommands.runPrompt, id)];
      }),
    ];
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
