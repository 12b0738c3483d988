import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { probability, type TokenLogprob } from '../../core/completions/completion.ts';
import { TokenMarks, type TokenPlace } from '../../core/prompts/tokenProbabilities.ts';
import { promptCommands } from '../../ids.ts';
import type { Handlers } from '../commands.ts';
import { escapeMarkdown } from '../markdown.ts';
import type { AnswerChoice } from './modelAnswer.ts';
import type { PromptResult, PromptResults } from './promptResults.ts';
import { RESULT_SCHEME } from './resultDocuments.ts';
import type { AnswerPlace } from './resultText.ts';

/** For each bound in `MARKED_BELOW`. */
const styles = [
  { color: 'charts.blue', line: 'dotted' },
  { color: 'charts.yellow', line: 'dashed' },
  { color: 'charts.red', line: 'wavy' },
] as const;
/** A place to jump to. */
const UNCERTAIN = 0.5;
const SHOWN_ALTERNATIVES = 10;

/**
 * The marks of an answer in the editors that show it. VS Code replaces all ranges of a decoration type at once, so each
 * block of marks has types of its own: whole blocks are set once and then move with the text.
 */
export class ColoredAnswer implements vscode.Disposable {
  readonly #marks: TokenMarks;
  /** By block and level. */
  readonly #types: (vscode.TextEditorDecorationType | undefined)[][] = [];
  /** The number of marks of a type in an editor. */
  #painted = new WeakMap<vscode.TextEditor, Map<vscode.TextEditorDecorationType, number>>();
  /** Where the answer begins in the document. */
  #line = 0;

  constructor(places: readonly TokenPlace[]) {
    this.#marks = new TokenMarks(places);
  }

  isOf(places: readonly TokenPlace[]): boolean {
    return places === this.#marks.places;
  }

  /** Text that was replaced has lost its marks. */
  follow(changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    const start = new vscode.Position(this.#line, 0);
    const { line, column } = this.#marks.end;
    const end = new vscode.Position(this.#line + line, column);
    for (const { range, text } of changes) {
      if (range.start.isBefore(end) && range.end.isAfter(start)) this.#painted = new WeakMap();
      else if (range.end.isBeforeOrEqual(start)) {
        this.#line += text.split('\n').length - 1 - (range.end.line - range.start.line);
      }
    }
  }

  /** Draws the marks that the editors do not show yet. */
  paint({ choice: { text }, line, length }: AnswerPlace, editors: readonly vscode.TextEditor[]): void {
    this.#line = line;
    this.#marks.update(text, length);
    for (const editor of editors) {
      const painted = this.#painted.get(editor) ?? new Map<vscode.TextEditorDecorationType, number>();
      this.#painted.set(editor, painted);
      for (const [index, block] of this.#marks.blocks.entries()) {
        for (const [level, marks] of block.entries()) {
          if (marks.length === 0) continue;
          const type = this.#typeOf(index, level);
          if (painted.get(type) === marks.length) continue;
          painted.set(type, marks.length);
          editor.setDecorations(
            type,
            marks.map(
              ({ start, end }) => new vscode.Range(line + start.line, start.column, line + end.line, end.column),
            ),
          );
        }
      }
    }
  }

  #typeOf(index: number, level: number): vscode.TextEditorDecorationType {
    const types = this.#types[index] ?? [];
    this.#types[index] = types;
    const existing = types[level];
    if (existing) return existing;
    const { color, line } = styles[level] ?? styles[0];
    const type = vscode.window.createTextEditorDecorationType({
      color: new vscode.ThemeColor(color),
      textDecoration: `underline ${line}`,
      // Text that arrives after a token is another token.
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
    types[level] = type;
    return type;
  }

  dispose(): void {
    for (const type of this.#types.flat()) type?.dispose();
  }
}

/** Colors and underlines the tokens of answers that were asked for with `logprobs`, by how likely they were. */
export class TokenColors implements vscode.HoverProvider, vscode.Disposable {
  readonly #results: PromptResults;
  /** By documents. */
  readonly #colored = new Map<string, Map<AnswerChoice, ColoredAnswer>>();
  readonly #disposables: vscode.Disposable;

  constructor(results: PromptResults) {
    this.#results = results;
    this.#disposables = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        for (const colored of this.#colored.get(document.uri.toString())?.values() ?? [])
          colored.follow(contentChanges);
        this.#paint(document);
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#keepOnly(uri, [])),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const { document } of editors) this.#paint(document);
      }),
      vscode.languages.registerHoverProvider({ scheme: RESULT_SCHEME }, this),
    );
  }

  get commands() {
    return {
      [promptCommands.nextUncertainPromptToken]: async () => this.#jump(1),
      [promptCommands.previousUncertainPromptToken]: async () => this.#jump(-1),
    } satisfies Partial<Handlers>;
  }

  #paint(document: vscode.TextDocument): void {
    const { uri } = document;
    if (uri.scheme !== RESULT_SCHEME) return;
    const result = this.#results.of(uri);
    // The editor shows the text a moment later: it is marked when it has arrived.
    if (!result || document.getText() !== result.text) return;
    this.#keepOnly(
      uri,
      result.answers.map(({ choice }) => choice),
    );
    const editors = vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
    for (const place of result.answers) this.#coloredAnswer(uri, place.choice).paint(place, editors);
  }

  #coloredAnswer(uri: vscode.Uri, choice: AnswerChoice): ColoredAnswer {
    const key = uri.toString();
    const colored = this.#colored.get(key) ?? new Map<AnswerChoice, ColoredAnswer>();
    this.#colored.set(key, colored);
    const existing = colored.get(choice);
    if (existing?.isOf(choice.places)) return existing;
    existing?.dispose();
    const answer = new ColoredAnswer(choice.places);
    colored.set(choice, answer);
    return answer;
  }

  /** Of a document, drops the marks of all other answers. */
  #keepOnly(uri: vscode.Uri, choices: readonly AnswerChoice[]): void {
    const colored = this.#colored.get(uri.toString());
    for (const [choice, answer] of colored ?? []) {
      if (choices.includes(choice)) continue;
      answer.dispose();
      colored?.delete(choice);
    }
    if (colored?.size === 0) this.#colored.delete(uri.toString());
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const result = this.#results.of(document.uri);
    const offset = document.offsetAt(position);
    for (const { choice, line } of result?.answers ?? []) {
      const start = document.offsetAt(new vscode.Position(line, 0));
      const place = choice.places.find((each) => start + each.start <= offset && offset < start + each.end);
      if (!place) continue;
      const range = new vscode.Range(document.positionAt(start + place.start), document.positionAt(start + place.end));
      return new vscode.Hover(
        place.tokens.map(({ topLogprobs, ...token }) => hoverText(token, topLogprobs)),
        range,
      );
    }
    return undefined;
  }

  /** Goes to the next place where the model hesitated; after the last one, to the first. */
  #jump(step: 1 | -1): void {
    const editor = vscode.window.activeTextEditor;
    const result = this.#results.of(editor?.document.uri);
    const places = editor && result ? uncertainRanges(editor.document, result) : [];
    if (!editor || places.length === 0) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('No token of this answer has a probability below {0}%.', UNCERTAIN * 100),
      );
    }
    const { active } = editor.selection;
    const following = places.findIndex(({ start }) => start.isAfter(active));
    const before = places.findLastIndex(({ start }) => start.isBefore(active));
    const index = step > 0 ? Math.max(0, following) : before < 0 ? places.length - 1 : before;
    const target = places[index];
    if (!target) return;
    editor.selection = new vscode.Selection(target.end, target.start); // Show Hover is about what follows the cursor.
    editor.revealRange(target, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const colored of this.#colored.values()) for (const answer of colored.values()) answer.dispose();
    this.#colored.clear();
  }
}

function uncertainRanges(document: vscode.TextDocument, { answers }: PromptResult): vscode.Range[] {
  return answers.flatMap(({ choice, line }) => {
    const start = document.offsetAt(new vscode.Position(line, 0));
    return choice.places
      .filter((place) => place.probability < UNCERTAIN && choice.text.slice(place.start, place.end).trim() !== '')
      .map(
        (place) => new vscode.Range(document.positionAt(start + place.start), document.positionAt(start + place.end)),
      );
  });
}

/** The chosen token first, then the alternatives. */
function hoverText(chosen: TokenLogprob, top: readonly TokenLogprob[]): vscode.MarkdownString {
  const others = top.filter(({ token }) => token !== chosen.token).slice(0, SHOWN_ALTERNATIVES);
  // The editor sets columns close together: numbers on the right would touch the bytes on the left.
  const row = (token: TokenLogprob, strong: string) =>
    `| ${strong}${escapeMarkdown(JSON.stringify(token.token))}${strong} | ${percent(token)} | ${token.logprob.toFixed(3)} | &emsp;${bytesOf(token)} |`;
  const lines = [
    `| ${vscode.l10n.t('Token')} | ${vscode.l10n.t('Probability')} | ${vscode.l10n.t('Log probability')} | &emsp;${vscode.l10n.t('Bytes')} |`,
    '| --- | ---: | ---: | --- |',
    row(chosen, '**'),
    ...others.map((token) => row(token, '')),
  ];
  return new vscode.MarkdownString(lines.join('\n'));
}

function percent(token: TokenLogprob): string {
  const share = probability(token) * 100;
  return `${share >= 1 ? share.toFixed(1) : share.toPrecision(2)}%`;
}

function bytesOf({ bytes }: TokenLogprob): string {
  return (bytes ?? []).map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
