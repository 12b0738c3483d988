import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { fenceFor } from '../../core/completions/request.ts';
import { commands } from '../../ids.ts';
import { closingLine } from '../answerText.ts';
import { ownerOf } from '../cancellation.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showInputBox } from '../dialogs.ts';
import { isTruncated } from '../markdown.ts';
import { type Passage, passageMessage } from '../passage.ts';
import { activePassage } from './askAboutSelection.ts';
import { applyProposal, codeInAnswer, hasSeveralBlocks, type Proposal } from './rewriteText.ts';
import {
  assertSameOwner,
  type EditorDeps,
  resolveAnsweringModel,
  runConversationWithProgress,
} from './runConversationWithProgress.ts';

const SCHEME = 'rolecall-rewrite';
const REFRESH_MS = 150;

/**
 * Rewrite Selection…: the model's version as VS Code's own difference, to be applied or discarded. Proposals belong to the
 * account that asked and close when another account becomes active, or none.
 */
export class Rewrites implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #deps: EditorDeps;
  readonly #proposals = new Map<string, Proposal>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable;
  readonly commands = {
    [commands.rewriteSelection]: () => this.#ask(),
    [commands.applyRewrite]: (uri) => this.apply(this.#wanted(uri)),
    [commands.discardRewrite]: (uri) => this.discard(this.#wanted(uri)),
  } satisfies Partial<Handlers>;
  #count = 0;
  #owner: string;

  constructor(deps: EditorDeps) {
    this.#deps = deps;
    this.#owner = ownerOf(deps.clouds);
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => this.#leave(closed)),
      deps.clouds.onDidChange(() => this.#follow()),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const proposal = this.#proposals.get(uri.toString());
    return proposal ? applyProposal(proposal) : '';
  }

  async #ask(): Promise<void> {
    const passage = activePassage();
    if (isTruncated(passage.text)) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('{0} is too long to rewrite at once. Select less text.', passage.title),
      );
    }
    const answering = await resolveAnsweringModel(this.#deps);
    const wish = await showInputBox({
      title: vscode.l10n.t('How should {0} rewrite {1}?', answering.model.label, passage.title),
      placeHolder: vscode.l10n.t('Make it shorter'),
      ignoreFocusOut: true,
      validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Describe the change.') : undefined),
    });
    if (wish === undefined) return;
    const toolRegistry = await this.#deps.openTools();
    assertSameOwner(this.#deps.clouds, answering);
    const proposal = await this.#open(passage);
    const content = [
      vscode.l10n.t('Rewrite this: {0}', wish),
      vscode.l10n.t(
        'Answer with the whole rewritten text in one code block, fenced with {0} as here, and nothing else.',
        fenceFor(passage.text),
      ),
      // The line break at the end is put back by `codeInAnswer`; within the fence it would read as an empty line.
      passageMessage({ ...passage, text: passage.text.replace(/\s+$/, '') }),
    ].join('\n\n');
    let answer = '';
    let timer: NodeJS.Timeout | undefined;
    const show = () => {
      clearTimeout(timer);
      timer = undefined;
      const lineEnd = passage.document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
      proposal.replacement = codeInAnswer(answer, passage.text).replace(/\r?\n/g, lineEnd);
      this.#changed.fire(proposal.uri);
    };
    const end = await runConversationWithProgress(this.#deps, {
      ...answering,
      messages: [{ role: 'user', content }],
      toolRegistry,
      closed: proposal.closed.signal,
      write: (part) => {
        if (part.kind !== 'text') return;
        answer += part.text;
        timer ??= setTimeout(show, REFRESH_MS);
      },
    });
    clearTimeout(timer);
    if (end.reason === 'cancelled') return this.discard(proposal);
    // The last turn is the rewrite, not text before a tool call.
    answer = end.turn?.text ?? '';
    show();
    const problem = end.reason === 'failed' ? undefined : closingLine(end);
    const isWhole = problem === undefined && proposal.replacement !== '' && !hasSeveralBlocks(answer);
    if (end.reason === 'failed' || !isWhole) {
      await this.discard(proposal);
      throw end.reason === 'failed' ? end.error : notWhole(problem, answer);
    }
    proposal.isDone = true;
    await this.#offer(proposal);
  }

  async #open(passage: Passage): Promise<Proposal> {
    this.#count += 1;
    const { document } = passage;
    const name = document.uri.path.split('/').at(-1) ?? '';
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${this.#count}/${name}` });
    const proposal: Proposal = {
      uri,
      passage,
      before: document.getText(),
      replacement: passage.text,
      isDone: false,
      isApplied: false,
      closed: new AbortController(),
    };
    this.#proposals.set(uri.toString(), proposal);
    const title = vscode.l10n.t('{0}: rewrite', passage.title);
    await vscode.commands.executeCommand('vscode.diff', document.uri, uri, title, { preview: false });
    return proposal;
  }

  async #offer(proposal: Proposal): Promise<void> {
    const apply = vscode.l10n.t('Apply');
    const discard = vscode.l10n.t('Discard');
    const chosen = await showInformationMessage(
      vscode.l10n.t('The rewrite of {0} is ready.', proposal.passage.title),
      apply,
      discard,
    );
    // Without a choice the difference stays open, with both in its title bar. The editor cannot take back a notification.
    if (!this.#proposals.has(proposal.uri.toString())) {
      if (chosen !== apply || proposal.isApplied) return;
      throw new RolecallError('invalidRequest', vscode.l10n.t('This rewrite was discarded, so it was not applied.'));
    }
    if (chosen === apply) await this.apply(proposal);
    else if (chosen === discard) await this.discard(proposal);
  }

  /**
   * Applies the rewrite to the document as one undo step. The document is not saved.
   *
   * @throws RolecallError when the document is no longer what was rewritten.
   */
  async apply(proposal: Proposal): Promise<void> {
    const { passage, before, replacement, isDone } = proposal;
    if (!isDone) throw new RolecallError('invalidRequest', vscode.l10n.t('The rewrite is not finished yet.'));
    const document = await vscode.workspace.openTextDocument(passage.document.uri);
    if (document.getText() !== before) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('The file has changed since you requested the rewrite, so it was not applied. Try again.'),
      );
    }
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, passage.range, replacement);
    if (!(await vscode.workspace.applyEdit(edit))) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('The rewrite could not be applied. Check whether the file is read-only.'),
      );
    }
    proposal.isApplied = true;
    await this.discard(proposal);
  }

  /** Closes the difference; the document stays as it is. */
  async discard(proposal: Proposal): Promise<void> {
    this.#proposals.delete(proposal.uri.toString());
    proposal.closed.abort();
    await vscode.window.tabGroups.close(tabsOf(proposal.uri));
  }

  /** @param uri passed by the title bar; from the palette, the active difference is used. */
  #wanted(uri: unknown): Proposal {
    const shown = uri instanceof vscode.Uri ? uri : vscode.window.activeTextEditor?.document.uri;
    const proposal =
      this.#proposals.get(shown?.toString() ?? '') ??
      [...this.#proposals.values()].findLast((each) => each.passage.document.uri.toString() === shown?.toString());
    if (proposal) return proposal;
    throw new RolecallError('invalidRequest', vscode.l10n.t('There is no rewrite here. Use Rewrite Selection… first.'));
  }

  /** Closing the difference discards the rewrite and stops the request. */
  #leave(closed: readonly vscode.Tab[]): void {
    for (const { input } of closed) {
      if (!(input instanceof vscode.TabInputTextDiff)) continue;
      const key = input.modified.toString();
      this.#proposals.get(key)?.closed.abort();
      this.#proposals.delete(key);
    }
  }

  #follow(): void {
    const owner = ownerOf(this.#deps.clouds);
    if (owner === this.#owner) return;
    this.#owner = owner;
    for (const proposal of [...this.#proposals.values()]) void this.discard(proposal);
  }

  dispose(): void {
    for (const { closed } of this.#proposals.values()) closed.abort();
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}

function tabsOf(uri: vscode.Uri): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString());
}

function notWhole(problem: string | undefined, answer: string): RolecallError {
  const why =
    problem ??
    (hasSeveralBlocks(answer)
      ? vscode.l10n.t('The model returned several code blocks instead of one. Try again.')
      : vscode.l10n.t('The model returned no text.'));
  return new RolecallError('protocol', vscode.l10n.t('There is no rewrite to apply. {0}', why));
}
