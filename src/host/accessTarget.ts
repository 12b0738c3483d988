import * as vscode from 'vscode';
import { filterProblemsOf } from '../core/access/filter.ts';
import { RolecallError } from '../core/base/errors.ts';
import { isJsonObject } from '../core/base/json.ts';
import { isString } from '../core/base/shape.ts';
import { formatList } from '../core/base/text.ts';
import { commands } from '../ids.ts';

/**
 * The target of a command: an organization of a connection, or an entry of it by its key in the access model. Rows,
 * cells and links have it as their member `target`, so that commands need not know where they were called from.
 */
export type AccessTarget = {
  /** The key of the connection. */
  readonly connection: string;
  readonly organization: string;
} & (
  | { readonly kind: 'organization' }
  /** With a key of the access model. */
  | { readonly kind: 'group' | 'role' | 'principal'; readonly key: string }
);

/** The target of whatever a command was called on; `undefined` if it was called on nothing, as from the palette. */
export function targetOf(argument: unknown): AccessTarget | undefined {
  return isJsonObject(argument) ? readTarget(argument.target) : undefined;
}

function readTarget(value: unknown): AccessTarget | undefined {
  if (!isJsonObject(value)) return undefined;
  const { connection, organization, kind, key } = value;
  if (!isString(connection) || !isString(organization)) return undefined;
  if (kind === 'organization') return { kind, connection, organization };
  const isEntry = kind === 'group' || kind === 'role' || kind === 'principal';
  return isEntry && isString(key) ? { kind, connection, organization, key } : undefined;
}

const SCHEME = 'rolecall-access';

/** A URI for decorations; no document can be read from it. */
export function targetUri(target: AccessTarget): vscode.Uri {
  const parts = [target.organization, target.kind, 'key' in target ? target.key : ''];
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${parts.map(encodeURIComponent).join('/')}`,
    query: target.connection,
  });
}

/** The target whose URI {@link targetUri} made. */
export function targetOfUri({ scheme, path, query }: vscode.Uri): AccessTarget | undefined {
  if (scheme !== SCHEME) return undefined;
  const [, organization, kind, key] = path.split('/').map(decodeURIComponent);
  return readTarget({ connection: query, organization, kind, key });
}

/** The effect of a link to an entry. */
export function linkTitleOf({ kind }: { readonly kind: string }): string {
  return kind === 'principal' ? vscode.l10n.t('Show effective access') : vscode.l10n.t('Show in the tree');
}

/** Follows the link: the tree has people only below their groups, so a person's access is shown instead. */
export async function followLink(target: AccessTarget, reveal: (target: AccessTarget) => Promise<void>): Promise<void> {
  if (target.kind !== 'principal') return reveal(target);
  await vscode.commands.executeCommand(commands.showEffectiveAccess, { target });
}

/** What is wrong with a filter, in a sentence; empty where nothing is. */
export function filterProblem(filter: string): string {
  const [problem] = filterProblemsOf(filter);
  if (problem === undefined) return '';
  const { typed } = problem;
  if (problem.kind === 'state') {
    const states = formatList(problem.values.map((state) => `"is:${state}"`));
    return vscode.l10n.t(
      '"is:{0}" is not a known state, so it is searched for as text. Known states: {1}.',
      typed,
      states,
    );
  }
  const { suggestion } = problem;
  return suggestion === undefined
    ? vscode.l10n.t('"{0}:" is not a filter key, so it is searched for as text.', typed)
    : vscode.l10n.t(
        '"{0}:" is not a filter key, so it is searched for as text. Did you mean "{1}:"?',
        typed,
        suggestion,
      );
}

/** The error for a target, or another entry, that has been removed since it was shown. */
export function noLongerLoaded(): RolecallError {
  return new RolecallError('notFound', vscode.l10n.t('This is no longer in the loaded data. Refresh and try again.'));
}
