import * as vscode from 'vscode';
import type { AnswerPart } from '../answerText.ts';
import { closingFence, escapeMarkdown } from '../markdown.ts';

/** VS Code's folded "thinking" part is a proposal: where it is missing, the call throws, and a button shows the reasoning. */
interface ThinkingStream {
  thinkingProgress(delta: { text: string }): void;
}

/** Writes the parts of an answer into a chat response so that they can be distinguished. */
export class AnswerWriter {
  readonly #stream: vscode.ChatResponseStream;
  /** The model's text since Rolecall's own last line: VS Code renders it as one text. */
  #words = '';
  /** When the reasoning began, if it is not shown. */
  #thinkingSince: number | undefined;
  #canThink = true;
  readonly #now: () => number;

  constructor(stream: vscode.ChatResponseStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  write(part: AnswerPart): void {
    if (part.kind !== 'reasoning') this.#endThinking();
    switch (part.kind) {
      case 'text':
        this.#text(part.text);
        return;
      case 'reasoning':
        this.#reasoning(part.text);
        return;
      case 'line':
        this.#line(part.text);
        return;
      case 'footer':
        this.#footer(part.text);
        return;
      case 'progress':
        this.#stream.progress(part.text);
    }
  }

  /** The model's words are Markdown without trust: no command links, no theme icons. */
  #text(text: string): void {
    this.#stream.markdown(text);
    this.#words += text;
  }

  #reasoning(text: string): void {
    if (this.#canThink && this.#think(text)) return;
    if (this.#thinkingSince === undefined) this.#stream.progress(vscode.l10n.t('Thinking…'));
    this.#thinkingSince ??= this.#now();
  }

  /** VS Code folds a progress into the answer's steps and drops its text, so the folded step needs a line. */
  #endThinking(): void {
    if (this.#thinkingSince === undefined) return;
    const seconds = ((this.#now() - this.#thinkingSince) / 1000).toFixed(1);
    this.#thinkingSince = undefined;
    this.#line(vscode.l10n.t('Thought for {0} s.', seconds));
  }

  #think(text: string): boolean {
    try {
      (this.#stream as unknown as ThinkingStream).thinkingProgress({ text });
      return true;
    } catch {
      this.#canThink = false;
      return false;
    }
  }

  /**
   * Written into the same text as the answer: if tools were called, VS Code folds everything before the last text as a
   * step.
   */
  #footer(text: string): void {
    this.#text(`${closingFence(this.#words)}\n\n*${escapeMarkdown(text)}*\n\n`);
  }

  #line(text: string): void {
    this.#stream.markdown(ours(`\n\n$(info) ${escapeMarkdown(text)}\n\n`));
    this.#words = '';
  }
}

/**
 * Icons are allowed in Rolecall's own lines and never in a model's text. VS Code stores that, so that a history can
 * distinguish them, and renders only neighbors of equal rights as one text.
 */
function ours(markdown: string): vscode.MarkdownString {
  return new vscode.MarkdownString(markdown, true);
}

/** True for a line of Rolecall's own in the middle of an answer. */
export function isOwnLine({ supportThemeIcons }: vscode.MarkdownString): boolean {
  return supportThemeIcons === true;
}
