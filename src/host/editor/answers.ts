import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { Clouds } from '../clouds.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';
import { Answer, type AnswerHead } from './answer.ts';
import { AnswerDocuments } from './answerDocuments.ts';
import { AnswerPanels } from './answerPanels.ts';
import { canRender } from './markdown.ts';

export interface AnswersDeps {
  readonly clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
}

/**
 * Answers beside the editor: rendered in a page of ours; as Markdown text where VS Code's Markdown extension is missing or
 * switched off. VS Code's own preview would not do: it fetches every https picture that a text names, again with each change
 * of the text, and what is shown here is a model's.
 */
export class Answers implements vscode.Disposable {
  readonly #panels: AnswerPanels;
  readonly #documents: AnswerDocuments;

  constructor({ clouds, extensionUri, log }: AnswersDeps) {
    this.#panels = new AnswerPanels({ clouds, extensionUri, log });
    this.#documents = new AnswerDocuments(clouds);
  }

  /** Opens an empty answer beside the active editor, which keeps the focus. */
  async open(title: string, head?: AnswerHead): Promise<Answer> {
    if (await canRender()) return new Answer(this.#panels.open(title, head));
    const answer = new Answer(await this.#documents.open(title));
    if (head) {
      answer.append(`# ${escapeMarkdown(head.heading)}`);
      answer.write({ kind: 'line', text: head.about });
    }
    return answer;
  }

  /** Puts the Markdown of the answer that is looked at into the clipboard. */
  async copy(): Promise<void> {
    const markdown = this.#panels.activeText;
    if (markdown !== undefined) await vscode.env.clipboard.writeText(markdown);
  }

  dispose(): void {
    this.#panels.dispose();
    this.#documents.dispose();
  }
}
