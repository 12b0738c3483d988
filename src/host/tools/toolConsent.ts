import * as vscode from 'vscode';
import { createSerialQueue } from '../../core/base/abort.ts';
import { type ConsentLine, escapeInvisible, hashOf, type ShownPermissions } from '../../core/tools/consent.ts';
import type { Containment } from '../../core/tools/containment.ts';
import { showInformationMessage, showWarningMessage } from '../dialogs.ts';
import type { PreparedCall } from './toolKinds.ts';

/** The permissions of a call: the limits that the system enforces, if any. */
export type CallPermissions =
  | ({ readonly kind: 'contained' } & ShownPermissions)
  /** `reason` and `remedy` if the system cannot contain a program that the definition wants contained. */
  | { readonly kind: 'uncontained'; readonly reason?: string; readonly remedy?: string | undefined }
  /** A command or a tool of the editor. */
  | { readonly kind: 'editor' }
  | { readonly kind: 'request'; readonly host: string };

/** The most that a call can do, in words: the first line of the consent dialog. */
export function permissionsLine(permissions: CallPermissions): string {
  switch (permissions.kind) {
    case 'contained': {
      const { reads, writes, program, network } = permissions;
      return [
        reads.length === 0
          ? vscode.l10n.t('Reads the system’s files, but nothing in this workspace.')
          : readsLine(reads),
        ...(program === undefined ? [] : [vscode.l10n.t('Reads its program from {0}.', program)]),
        writes.length === 0 ? vscode.l10n.t('Writes only temporary files.') : writesLine(writes),
        network ? vscode.l10n.t('Uses the network, including services on this machine.') : vscode.l10n.t('No network.'),
      ].join(' ');
    }
    case 'uncontained':
      return vscode.l10n.t('Not contained: it can read, change and send anything you can.');
    case 'editor':
      return vscode.l10n.t('Part of the editor: it can do anything the editor can.');
    case 'request':
      return vscode.l10n.t('Sends a request to {0}.', permissions.host);
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

const KEY = 'rolecall.allowedTools';
const MAX_REMEMBERED = 200;

/** A request for the user's consent. */
export interface ConsentRequest extends Pick<PreparedCall, 'permissions' | 'lines' | 'always'> {
  readonly name: string;
  /** Name of the folder whose file defines the tool. */
  readonly folder: string;
  /** Identifies exactly this definition and its meaning on this machine; see core's `definitionHash`. */
  readonly hash: string;
  /**
   * The confidential data in the conversation that this call could send: the user is then asked even if it is always
   * allowed.
   */
  readonly carries?: readonly string[];
}

/**
 * The user's consent, per definition. "Always" is stored in the workspace's own storage, never in a file of the
 * workspace.
 */
export class ToolConsent {
  readonly #state: vscode.Memento;
  readonly #inTurn = createSerialQueue();

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  /** Asks unless exactly this is always allowed. Requests wait for each other: one dialog at a time. */
  ask(request: ConsentRequest, signal: AbortSignal): Promise<boolean> {
    return this.#inTurn(async () => !signal.aborted && (this.#allowed(request) || this.#show(request, signal)));
  }

  async forget(): Promise<void> {
    const count = this.#remembered().length;
    await this.#state.update(KEY, undefined);
    void showInformationMessage(
      count === 0
        ? vscode.l10n.t('No tool permissions to reset.')
        : vscode.l10n.t('Tool permissions were reset. You will be asked before each tool runs.'),
    ); // No buttons, so nothing to wait for.
  }

  #allowed(request: ConsentRequest): boolean {
    if (request.carries && request.carries.length > 0) return false;
    const key = keyOf(request);
    return key !== undefined && this.#remembered().includes(key);
  }

  async #show(request: ConsentRequest, signal: AbortSignal): Promise<boolean> {
    const once = vscode.l10n.t('Allow Once');
    const always =
      request.always === 'definition'
        ? vscode.l10n.t('Always Allow in This Workspace')
        : vscode.l10n.t('Always Allow with These Arguments');
    const title = vscode.l10n.t(
      'Run tool {0} from workspace {1}?',
      escapeInvisible(request.name),
      escapeInvisible(request.folder),
    );
    const key = keyOf(request);
    const chosen = await askAbout(title, linesOf(request), key === undefined ? [once] : [once, always]);
    if (signal.aborted) return false; // The dialog stays open after Stop, but its answer no longer counts.
    if (chosen === always && key !== undefined) {
      await this.#state.update(KEY, [...this.#remembered(), key].slice(-MAX_REMEMBERED));
    }
    return chosen === once || (chosen === always && key !== undefined);
  }

  #remembered(): readonly string[] {
    const stored = this.#state.get<unknown>(KEY);
    return Array.isArray(stored) ? stored.filter((hash) => typeof hash === 'string') : [];
  }
}

/** The key of an "Always Allow"; undefined where there is none. */
function keyOf({ hash, lines, always }: ConsentRequest): string | undefined {
  if (always === 'never') return undefined;
  return always === 'definition' ? hash : hashOf({ hash, lines });
}

/**
 * The most lines of a dialog that fit on a small screen, and the length below which even a line of wide characters does
 * not wrap: VS Code's dialog is 450 pixels wide, and shows no scroll bar for the rest.
 */
const MAX_LINES = 24;
const LINE_LENGTH = 30;

/** The length at which lines of the document are broken: fits a narrow editor, so that nothing needs horizontal scrolling. */
const PIECE_LENGTH = 72;
/** The start of a continued line. No text can look like it, because four spaces in a text are escaped. */
const INDENT = '    ';

/**
 * A dialog with everything. If it does not fit, it is shown in a document beside the question, so that nothing is
 * hidden.
 */
async function askAbout(
  title: string,
  lines: readonly string[],
  buttons: readonly string[],
): Promise<string | undefined> {
  const length = lines.reduce((sum, each) => sum + Math.max(1, Math.ceil(each.length / LINE_LENGTH)), 0);
  if (length <= MAX_LINES) {
    return showWarningMessage(title, { modal: true, detail: lines.join('\n') }, ...buttons);
  }
  const request = await openRequest([title, '', ...lines].map(broken).join('\n'));
  try {
    // Not modal: the document has to be read to its end.
    return await showWarningMessage(
      vscode.l10n.t('{0} Read the whole request in the document that opened.', title),
      ...buttons,
      vscode.l10n.t('Cancel'), // Only modal dialogs have one by themselves.
    );
  } finally {
    await request.close();
  }
}

function broken(line: string): string {
  return line.match(new RegExp(`.{1,${PIECE_LENGTH}}`, 'gu'))?.join(`\n${INDENT}`) ?? '';
}

/** A read-only document: there is nothing to save, and it closes with the question. */
async function openRequest(text: string): Promise<{ close(): Promise<void> }> {
  const scheme = 'rolecall-tool-request';
  const uri = vscode.Uri.from({ scheme, path: `/${vscode.l10n.t('Tool Request')}`, query: crypto.randomUUID() });
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: (requested) => (requested.toString() === uri.toString() ? text : undefined),
  });
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });
  return {
    close: async () => {
      provider.dispose();
      const shown = vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
      if (shown.length > 0) await vscode.window.tabGroups.close(shown, true);
    },
  };
}

/** The permissions come first, above anything a model has written. */
function linesOf({ permissions, lines, always, carries = [] }: ConsentRequest): string[] {
  return [
    permissionsLine(permissions),
    ...(isUncontained(permissions) ? [notContainedLine(permissions)] : []),
    ...(carries.length > 0 ? [carriesLine(always, carries.join(vscode.l10n.t(', and ')))] : []),
    '',
    ...lines.map(line),
    '',
    scope(permissions, always),
  ];
}

function isUncontained(
  permissions: CallPermissions,
): permissions is CallPermissions & { reason: string; remedy: string | undefined } {
  return permissions.kind === 'uncontained' && permissions.reason !== undefined;
}

/** If "always" is not offered, the last line says that each call is asked about. */
function carriesLine(always: ConsentRequest['always'], what: string): string {
  return always === 'never'
    ? vscode.l10n.t('The tool can send data, and this conversation may contain {0}.', what)
    : vscode.l10n.t(
        'The tool can send data. You are asked each time in this conversation, because it may contain {0}.',
        what,
      );
}

/** The scope of "always", or that there is none. */
function scope(permissions: CallPermissions, always: ConsentRequest['always']): string {
  if (always === 'never') return vscode.l10n.t('You will be asked each time.');
  if (always === 'arguments') {
    return vscode.l10n.t(
      '"Always Allow" covers only these arguments, until the tool’s definition or what it can reach changes.',
    );
  }
  return permissions.kind === 'request'
    ? vscode.l10n.t(
        '"Always Allow" covers requests to {0} with any arguments until the tool’s definition changes.',
        permissions.host,
      )
    : vscode.l10n.t('"Always Allow" covers any arguments until the tool’s definition or what it can reach changes.');
}

function line({ kind, text }: ConsentLine): string {
  switch (kind) {
    case 'executable':
      return vscode.l10n.t('Program: {0}', text);
    case 'executableTarget':
      return vscode.l10n.t('Resolves to: {0}', text);
    case 'argument':
      return vscode.l10n.t('Argument: {0}', text);
    case 'folder':
      return vscode.l10n.t('Folder: {0}', text);
    case 'variable':
      return vscode.l10n.t('Environment: {0}', text);
    case 'stdin':
      return vscode.l10n.t('Standard input: {0}', text);
    case 'command':
      return vscode.l10n.t('Editor command: {0}', text);
    case 'tool':
      return vscode.l10n.t('Editor tool: {0}', text);
    case 'toolDescription':
      return vscode.l10n.t('Described as: {0}', text);
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
