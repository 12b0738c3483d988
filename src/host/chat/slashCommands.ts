import * as vscode from 'vscode';
import { chatCommands } from '../../ids.ts';
import { isTruncated } from '../fenced.ts';
import { type Passage, passageOf, problemsIn, quoted } from '../passage.ts';
import { promptWithReferences, type WrittenQuestion } from './references.ts';

/** What the commands about a piece of code ask for. */
function wish(command: string | undefined): string | undefined {
  switch (command) {
    case chatCommands.explain:
      return vscode.l10n.t('Explain this: what it does, how it does it, and what is easily overlooked.');
    case chatCommands.fix:
      return vscode.l10n.t('Find what is wrong here and correct it. Show the corrected code and say what was wrong.');
    case chatCommands.tests:
      return vscode.l10n.t('Write tests for this, in the style and with the framework that its project uses.');
    default:
      return undefined;
  }
}

/** A question as it is sent, and the passage it is about where that was not attached by hand. */
export interface ComposedQuestion extends WrittenQuestion {
  readonly passage?: Passage;
}

/**
 * The question of a request, with what was attached. `/explain`, `/fix` and `/tests` without an attachment are about the
 * selection, or the whole file, of the active editor.
 *
 * @param isSuggested the last answer suggested it: it is about the code that stands in the history already.
 */
export async function questionOf(
  request: Pick<vscode.ChatRequest, 'prompt' | 'command' | 'references'>,
  isSuggested = false,
): Promise<ComposedQuestion> {
  const asked = wish(request.command);
  if (asked === undefined) return promptWithReferences(request);
  const prompt = request.prompt.trim() === '' ? asked : `${asked}\n\n${request.prompt}`;
  const passage = request.references.length === 0 && !isSuggested ? activePassage() : undefined;
  const attached = await promptWithReferences({ prompt, references: request.references });
  const problems = request.command === chatCommands.fix ? problemsOf(request.references, passage) : [];
  const text = [attached.text, ...(passage ? [quoted(passage)] : []), ...problems].join('\n\n');
  const cut = passage && isTruncated(passage.text) ? [passage.title] : attached.cut;
  return { text, cut, ...(passage && { passage }) };
}

/** True for a command about a piece of code where there is none. */
export function lacksCode({ command, references, prompt }: vscode.ChatRequest): boolean {
  return wish(command) !== undefined && references.length === 0 && prompt.trim() === '' && !activePassage();
}

function activePassage(): Passage | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && passageOf(editor);
}

function problemsOf(references: readonly vscode.ChatPromptReference[], passage: Passage | undefined): string[] {
  const places = references.flatMap(({ value }) => (value instanceof vscode.Location ? [value] : []));
  const open = places.flatMap(({ uri, range }) => {
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    return document ? [{ document, range }] : [];
  });
  return [...open, ...(passage ? [passage] : [])].map(problemsIn).filter((text) => text !== '');
}
