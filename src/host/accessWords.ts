import * as vscode from 'vscode';
import { unknownKeysOf } from '../core/access/filterSyntax.ts';

/** What the two words for people mean, wherever both stand: servers list the same people in both ways, without a link. */
export function samePeopleText(): string {
  return vscode.l10n.t(
    'Subjects are people as their identity provider knows them, user IDs are people as the cloud knows them: both may be the same people.',
  );
}

/** What is wrong with a filter, in a sentence; empty where nothing is. */
export function filterProblem(filter: string): string {
  const [unknown] = unknownKeysOf(filter);
  if (unknown === undefined) return '';
  const { typed, meant } = unknown;
  return meant === undefined
    ? vscode.l10n.t('“{0}:” is no filter key; it is searched for as text.', typed)
    : vscode.l10n.t('“{0}:” is no filter key; it is searched for as text. Did you mean “{1}:”?', typed, meant);
}
