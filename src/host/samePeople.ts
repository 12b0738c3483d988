import * as vscode from 'vscode';

/** What the two words for people mean, wherever both stand: servers list the same people in both ways, without a link. */
export function samePeopleText(): string {
  return vscode.l10n.t(
    'Subjects are people as their identity provider knows them, user IDs are people as the cloud knows them: both may be the same people.',
  );
}
