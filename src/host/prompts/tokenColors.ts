import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { probability, type TokenLogprob } from '../../core/completions/completion.ts';
import type { TokenPlace } from '../../core/prompts/tokenProbabilities.ts';
import { promptCommands } from '../../ids.ts';
import type { Handlers } from '../commands.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';
import type { AnswerChoice } from './modelAnswer.ts';
import type { PromptResult, PromptResults } from './promptResults.ts';
import { RESULT_SCHEME } from './resultDocuments.ts';
import type { AnswerPlace } from './resultText.ts';

/** From the most likely: what is above the first stays as it is. */
const levels: readonly { readonly below: number; readonly color: string; readonly line: string }[] = [
  { below: 0.9, color: 'charts.blue', line: 'dotted' },
  { below: 0.5, color: 'charts.yellow', line: 'dashed' },
  { below: 0.2, color: 'charts.red', line: 'wavy' },
];
/** A place to jump to. */
const UNCERTAIN = 0.5;
const SHOWN_ALTERNATIVES = 10;

/** Where the tokens of an answer are to be colored; those that arrive are added. */
export class ColoredAnswer {
  /** For each level. */
  readonly ranges: readonly vscode.Range[][] = levels.map(() => []);
  readonly #line: number;
  readonly #places: readonly TokenPlace[];
  #count = 0;
  #at = { offset: 0, line: 0, column: 0 };

  constructor({ line, choice }: Pick<AnswerPlace, 'line'> & { readonly choice: Pick<AnswerChoice, 'places'> }) {
    this.#line = line;
    this.#places = choice.places;
  }

  /** False for the places of another text, or of a text that has moved. */
  isOf(line: number, places: readonly TokenPlace[]): boolean {
    return line === this.#line && places === this.#places;
  }

  /** Adds what is new. `text` is the whole answer. */
  update(text: string): void {
    for (; this.#count < this.#places.length; this.#count += 1) {
      const place = this.#places[this.#count];
      if (!place || place.end > text.length) return;
      const level = levels.findLastIndex(({ below }) => place.probability < below);
      if (level < 0) continue;
      const token = text.slice(place.start, place.end);
      const word = token.trim();
      if (word === '') continue; // Lines under blanks would be taken for a word.
      const start = place.start + token.indexOf(word);
      const [from, to] = [this.#positionAt(text, start), this.#positionAt(text, start + word.length)];
      this.ranges[level]?.push(new vscode.Range(from, to));
    }
  }

  #positionAt(text: string, offset: number): vscode.Position {
    let { offset: at, line, column } = this.#at;
    for (; at < offset; at += 1) {
      const code = text.charCodeAt(at);
      const ends = code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10);
      column = ends ? 0 : column + 1;
      if (ends) line += 1;
    }
    this.#at = { offset: at, line, column };
    return new vscode.Position(this.#line + line, column);
  }
}

/** Colors and underlines the tokens of answers that were asked for with `logprobs`, by how likely they were. */
export class TokenColors implements vscode.HoverProvider, vscode.Disposable {
  readonly #results: PromptResults;
  readonly #types = levels.map(({ color, line }) =>
    vscode.window.createTextEditorDecorationType({
      color: new vscode.ThemeColor(color),
      textDecoration: `underline ${line}`,
    }),
  );
  readonly #colored = new WeakMap<AnswerChoice, ColoredAnswer>();
  readonly #disposables: vscode.Disposable;

  constructor(results: PromptResults) {
    this.#results = results;
    this.#disposables = vscode.Disposable.from(
      ...this.#types,
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#paint(document)),
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
    if (document.uri.scheme !== RESULT_SCHEME) return;
    const result = this.#results.of(document.uri);
    // What is shown is a moment behind: it is painted when it has arrived.
    if (!result || document.getText() !== result.text) return;
    const colored = result.answers.map((place) => this.#colorsOf(place));
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document) continue;
      for (const [level, type] of this.#types.entries()) {
        editor.setDecorations(
          type,
          colored.flatMap(({ ranges }) => ranges[level] ?? []),
        );
      }
    }
  }

  #colorsOf(place: AnswerPlace): ColoredAnswer {
    const { choice, line } = place;
    const known = this.#colored.get(choice);
    const colored = known?.isOf(line, choice.places) ? known : new ColoredAnswer(place);
    this.#colored.set(choice, colored);
    colored.update(choice.text);
    return colored;
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

  /** To the next place where the model hesitated, from the end to the beginning again. */
  #jump(step: 1 | -1): void {
    const editor = vscode.window.activeTextEditor;
    const result = this.#results.of(editor?.document.uri);
    const places = editor && result ? uncertainRanges(editor.document, result) : [];
    if (!editor || places.length === 0) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('No token of this answer has a probability below {0} %.', UNCERTAIN * 100),
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

/** The chosen token first, then what the model considered instead. */
function hoverText(chosen: TokenLogprob, top: readonly TokenLogprob[]): vscode.MarkdownString {
  const others = top.filter(({ token }) => token !== chosen.token).slice(0, SHOWN_ALTERNATIVES);
  const row = (token: TokenLogprob, strong: string) =>
    `| ${strong}${escapeMarkdown(JSON.stringify(token.token))}${strong} | ${percent(token)} | ${token.logprob.toFixed(3)} | ${bytesOf(token)} |`;
  const lines = [
    `| ${vscode.l10n.t('Token')} | ${vscode.l10n.t('Probability')} | ${vscode.l10n.t('Logarithm')} | ${vscode.l10n.t('Bytes')} |`,
    '| --- | ---: | ---: | --- |',
    row(chosen, '**'),
    ...others.map((token) => row(token, '')),
  ];
  return new vscode.MarkdownString(lines.join('\n'));
}

function percent(token: TokenLogprob): string {
  const share = probability(token) * 100;
  return `${share >= 1 ? share.toFixed(1) : share.toPrecision(2)} %`;
}

function bytesOf({ bytes }: TokenLogprob): string {
  return (bytes ?? []).map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
