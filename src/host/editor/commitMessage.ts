import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { closingLine } from '../answerText.ts';
import { showInformationMessage } from '../dialogs.ts';
import { fenced, isTruncated, truncationLine } from '../markdown.ts';
import { codeInAnswer } from './rewriteText.ts';
import {
  type EditorDeps,
  noTools,
  resolveAnsweringModel,
  runConversationWithProgress,
} from './runConversationWithProgress.ts';

/** The part of the built-in Git extension's interface that is used (vscode.git, `getAPI(1)`). */
interface GitApi {
  readonly repositories: readonly Repository[];
  getRepository(uri: vscode.Uri): Repository | null;
}
export interface Repository {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
  readonly ui: { readonly selected: boolean };
  /** @param cached true for what is staged. */
  diff(cached: boolean): Promise<string>;
}

/** Generate Commit Message: from the staged changes, else from all changes, into the Source Control box. */
export async function generateCommitMessage(deps: EditorDeps, source: unknown): Promise<void> {
  const repository = await repositoryOf(source);
  const staged = await repository.diff(true);
  const diff = staged.trim() === '' ? await repository.diff(false) : staged;
  if (diff.trim() === '') {
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('There is nothing to commit: no tracked files have changed.'),
    );
  }
  await writeMessage(deps, repository, diff);
}

export async function writeMessage(deps: EditorDeps, repository: Repository, diff: string): Promise<void> {
  const answering = await resolveAnsweringModel(deps);
  const before = repository.inputBox.value;
  const content = [
    vscode.l10n.t(
      'Write a commit message for this change: a subject of at most 72 characters in the imperative, then, only where needed, an empty line and why. Answer with the message alone.',
    ),
    ...(before.trim() === '' ? [] : [fenced(vscode.l10n.t('What the author has written so far'), before, '')]),
    fenced(vscode.l10n.t('The change'), diff, 'diff'),
  ].join('\n\n');
  const end = await runConversationWithProgress(deps, {
    ...answering,
    messages: [{ role: 'user', content }],
    toolRegistry: noTools,
    write: () => {},
  });
  if (end.reason === 'cancelled') return;
  if (end.reason === 'failed') throw end.error;
  const problem = closingLine(end);
  const message = codeInAnswer(end.turn?.text ?? '', '');
  if (problem !== undefined || message === '') {
    throw new RolecallError('protocol', problem ?? vscode.l10n.t('The model returned an empty answer.'));
  }
  if (isTruncated(diff)) void showInformationMessage(truncationLine(vscode.l10n.t('the change')));
  // Text that was typed while the model answered is kept.
  const typed = repository.inputBox.value;
  repository.inputBox.value = typed === before ? message : `${message}\n\n${typed}`;
}

async function repositoryOf(source: unknown): Promise<Repository> {
  const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
  const git = extension && (extension.isActive ? extension.exports : await extension.activate()).getAPI(1);
  const root = (source as { readonly rootUri?: unknown } | undefined)?.rootUri;
  const named = root instanceof vscode.Uri ? git?.getRepository(root) : undefined;
  const repository = named ?? git?.repositories.find(({ ui }) => ui.selected) ?? git?.repositories[0];
  if (repository) return repository;
  throw new RolecallError(
    'invalidRequest',
    vscode.l10n.t('No Git repository was found, or VS Code’s Git extension is turned off.'),
  );
}
