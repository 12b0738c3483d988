import * as vscode from 'vscode';
import { oneAtATime } from '../../core/base/oneAtATime.ts';
import { type ConsentLine, visible } from '../../core/tools/consentText.ts';

const KEY = 'rolecall.allowedTools';
const MAX_REMEMBERED = 200;

/** What the user is asked to allow. */
export interface ToolQuestion {
  readonly name: string;
  /** Name of the folder whose file defines the tool. */
  readonly folder: string;
  readonly lines: readonly ConsentLine[];
  /** Names exactly this definition with its scripts; see core's `definitionHash`. */
  readonly hash: string;
  /** What may run code that the hash does not cover: "always" is not offered, and counts for nothing. */
  readonly unwatched?: string | undefined;
}

/** The user's yes, per definition. "Always" is kept in the workspace's own storage, never in a file of the workspace. */
export class ToolConsent {
  readonly #state: vscode.Memento;
  readonly #inTurn = oneAtATime();

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  /** Asks unless this very definition is always allowed. Questions wait for each other: one dialog at a time. */
  ask(question: ToolQuestion, signal: AbortSignal): Promise<boolean> {
    return this.#inTurn(async () => !signal.aborted && (this.#allowed(question) || this.#show(question, signal)));
  }

  async forget(): Promise<void> {
    const count = this.#remembered().length;
    await this.#state.update(KEY, undefined);
    void vscode.window.showInformationMessage(
      count === 0
        ? vscode.l10n.t('No tool of this workspace was always allowed.')
        : vscode.l10n.t('Every tool of this workspace asks again before it runs.'),
    ); // Says all.
  }

  #allowed({ hash, unwatched }: ToolQuestion): boolean {
    return unwatched === undefined && this.#remembered().includes(hash);
  }

  async #show(question: ToolQuestion, signal: AbortSignal): Promise<boolean> {
    const once = vscode.l10n.t('Allow Once');
    const always = vscode.l10n.t('Always Allow in This Workspace');
    const chosen = await vscode.window.showWarningMessage(
      vscode.l10n.t('Run the tool {0} of {1}?', visible(question.name), visible(question.folder)),
      { modal: true, detail: [...question.lines.map(line), ...reason(question)].join('\n') },
      ...(question.unwatched === undefined ? [once, always] : [once]),
    );
    if (signal.aborted) return false; // The dialog outlives Stop; its answer does not.
    if (chosen === always && question.unwatched === undefined) {
      await this.#state.update(KEY, [...this.#remembered(), question.hash].slice(-MAX_REMEMBERED));
    }
    return chosen === once || chosen === always;
  }

  #remembered(): readonly string[] {
    const kept = this.#state.get<unknown>(KEY);
    return Array.isArray(kept) ? kept.filter((hash) => typeof hash === 'string') : [];
  }
}

/** What "always" means, or why there is none. */
function reason({ unwatched }: ToolQuestion): string[] {
  if (unwatched === undefined) {
    return ['', vscode.l10n.t('“Always” holds until the definition changes, whatever arguments a model gives.')];
  }
  const sentence = vscode.l10n.t(
    'You are asked each time, because {0} may run code from files that Rolecall does not watch.',
    visible(unwatched),
  );
  return ['', sentence];
}

function line({ kind, text }: ConsentLine): string {
  switch (kind) {
    case 'executable':
      return vscode.l10n.t('Program: {0}', text);
    case 'executableTarget':
      return vscode.l10n.t('which is: {0}', text);
    case 'argument':
      return vscode.l10n.t('Argument: {0}', text);
    case 'folder':
      return vscode.l10n.t('Folder: {0}', text);
    case 'variable':
      return vscode.l10n.t('Environment: {0}', text);
    case 'stdin':
      return vscode.l10n.t('Standard input: {0}', text);
    case 'command':
      return vscode.l10n.t('Command of the editor: {0}', text);
    case 'tool':
      return vscode.l10n.t('Tool of the editor: {0}', text);
    case 'toolDescription':
      return vscode.l10n.t('which says of itself: {0}', text);
    case 'input':
      return vscode.l10n.t('Input: {0}', text);
    case 'request':
      return vscode.l10n.t('Request: {0}', text);
    case 'header':
      return vscode.l10n.t('Header: {0}', text);
    case 'body':
      return vscode.l10n.t('Body: {0}', text);
    case 'timeout':
      return vscode.l10n.t('Time limit: {0}', text);
  }
}
