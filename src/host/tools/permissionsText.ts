import * as vscode from 'vscode';
import type { ShownPermissions } from '../../core/tools/consent.ts';
import type { Containment } from '../../core/tools/containment.ts';

/** What a call can reach: the limits that the system enforces, if any. */
export type CallPermissions =
  | ({ readonly kind: 'contained' } & ShownPermissions)
  /** `reason` and `remedy` where the system cannot contain what the definition would have contained. */
  | { readonly kind: 'uncontained'; readonly reason?: string; readonly remedy?: string | undefined }
  /** A command or a tool of the editor. */
  | { readonly kind: 'editor' }
  | { readonly kind: 'request'; readonly host: string };

/** The most that a call can do, in words: the first line of the consent dialog. */
export function permissionsLine(reach: CallPermissions): string {
  switch (reach.kind) {
    case 'contained': {
      const { reads, writes, program, network } = reach;
      return [
        reads.length === 0 ? vscode.l10n.t('Reads the system’s files, nothing in this workspace.') : readsLine(reads),
        ...(program === undefined ? [] : [vscode.l10n.t('Reads its program from {0}.', program)]),
        writes.length === 0 ? vscode.l10n.t('Writes nothing but temporary files.') : writesLine(writes),
        network ? vscode.l10n.t('Uses the network, including services on this machine.') : vscode.l10n.t('No network.'),
      ].join(' ');
    }
    case 'uncontained':
      return vscode.l10n.t('Not contained: it can read, change and send anything you can.');
    case 'editor':
      return vscode.l10n.t('Part of the editor: it can do anything the editor can.');
    case 'request':
      return vscode.l10n.t('Sends a request to {0}.', reach.host);
  }
}

function readsLine(reads: readonly string[]): string {
  if (reads.includes('.')) return vscode.l10n.t('Reads this workspace and the system’s files.');
  return vscode.l10n.t('Reads {0} and the system’s files.', reads.join(', '));
}

function writesLine(writes: readonly string[]): string {
  if (writes.includes('.')) return vscode.l10n.t('Writes this workspace, except .git and .vscode.');
  return vscode.l10n.t('Writes {0}.', writes.join(', '));
}

/** Why programs are not contained on this machine, and what to do about it. */
export function notContainedLine({
  reason,
  remedy,
}: Pick<Extract<Containment, { kind: 'none' }>, 'reason' | 'remedy'>): string {
  return remedy === undefined
    ? vscode.l10n.t('Programs cannot be contained here: {0}', reason)
    : vscode.l10n.t('Programs cannot be contained here: {0} To fix this, run: {1}', reason, remedy);
}
