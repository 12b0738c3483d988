import * as vscode from 'vscode';
import type { AnswerPart } from '../answerText.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';

/** VS Code's folded "thinking" part is a proposal: where it is missing, the call throws, and a button shows the reasoning. */
interface ThinkingStream {
  thinkingProgress(delta: { text: string }): void;
}

/** Writes parts of an answer into a chat response, each kind so that it can be told apart. */
export class AnswerWriter {
  readonly #stream: vscode.ChatResponseStream;
  #open: 'nothing' | 'text' | 'thinking' = 'nothing';
  #canThink = true;

  constructor(stream: vscode.ChatResponseStream) {
    this.#stream = stream;
  }

  write(part: AnswerPart): void {
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
    this.#open = 'text';
  }

  #reasoning(text: string): void {
    if (this.#canThink && this.#think(text)) return;
    if (this.#open !== 'thinking') this.#stream.progress(vscode.l10n.t('Thinking…'));
    this.#open = 'thinking';
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

  #footer(text: string): void {
    this.#stream.markdown(ours(`\n\n*${escapeMarkdown(text)}*`));
    this.#open = 'nothing';
  }

  #line(text: string): void {
    this.#stream.markdown(ours(`\n\n$(info) ${escapeMarkdown(text)}\n\n`));
    this.#open = 'nothing';
  }
}

/**
 * Icons are allowed in what Rolecall says and never in a model's words. VS Code keeps that, so that a history can tell them
 * apart, and renders only neighbours of equal rights as one text: ours is not part of a code block that a model left open.
 */
function ours(markdown: string): vscode.MarkdownString {
  return new vscode.MarkdownString(markdown, true);
}

/** True for a part of an answer that is Rolecall's own. */
export function isOurs({ supportThemeIcons }: vscode.MarkdownString): boolean {
  return supportThemeIcons === true;
}
