import * as vscode from 'vscode';
import { createSerialQueue } from '../core/base/abort.ts';
import type { Log } from '../core/base/log.ts';
import { describeError } from './showError.ts';

/** Folders whose files other extensions and package managers write. */
export const EXCLUDED_GLOB = '**/{node_modules,bower_components,.git}/**';
/** The most files that are read. */
const MAX_FILES = 200;

export function isFileNotFound(error: unknown): boolean {
  return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
}

/** @throws the error for a file that cannot be read: it must not be taken for missing, and overwritten. */
export async function fileExists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (isFileNotFound(error)) return false;
    throw error;
  }
}

export interface FileKind<T> {
  readonly pattern: string;
  /** The name of its collection of diagnostics. */
  readonly name: string;
  /** The result of checking a saved text. */
  readonly read: (uri: vscode.Uri, text: string) => T;
  readonly diagnosticsOf: (file: T) => vscode.Diagnostic[];
  /** The data by which files are judged has changed. */
  readonly recheckOn: (recheck: () => void) => vscode.Disposable;
}

/**
 * The files of the workspace that match a pattern: read again when one of them changes, with the problems of each in
 * Problems. They are searched for when there may be others, not with every reading by which they are judged: it is a
 * search of the whole workspace. If the editor watches nothing (`files.watcherExclude`), a command that checks finds
 * new files.
 */
export class WatchedFiles<T> implements vscode.Disposable {
  readonly #kind: FileKind<T>;
  readonly #log: Log;
  readonly #diagnostics: vscode.DiagnosticCollection;
  readonly #checked = new vscode.EventEmitter<void>();
  /** All files have been read again. */
  readonly onDidCheck = this.#checked.event;
  readonly #inTurn = createSerialQueue();
  readonly #disposables: vscode.Disposable[];
  /** The result of the last search. */
  #uris: Promise<readonly vscode.Uri[]> | undefined;
  /** The check that is waiting. */
  #next: Promise<void> | undefined;
  #all: readonly T[] = [];
  #isDisposed = false;

  constructor(kind: FileKind<T>, log: Log) {
    this.#kind = kind;
    this.#log = log;
    this.#diagnostics = vscode.languages.createDiagnosticCollection(kind.name);
    const watcher = vscode.workspace.createFileSystemWatcher(kind.pattern);
    const search = () => void this.check(); // Never rejects.
    const recheck = () => void this.#recheck(); // Never rejects.
    this.#disposables = [
      this.#diagnostics,
      this.#checked,
      watcher,
      watcher.onDidCreate(search),
      watcher.onDidChange(recheck),
      watcher.onDidDelete(search),
      vscode.workspace.onDidChangeWorkspaceFolders(search),
      // Of the files in a folder that comes or moves, the watcher says nothing.
      vscode.workspace.onDidCreateFiles(search),
      vscode.workspace.onDidRenameFiles(search),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('files.exclude')) search();
      }),
      kind.recheckOn(recheck),
    ];
  }

  /** The files as they were last read, by path. */
  get all(): readonly T[] {
    return this.#all;
  }

  /** Searches for the files and reads every one again. Never rejects. */
  check(): Promise<void> {
    this.#uris = undefined;
    return this.#recheck();
  }

  /** Reads every file again, once for all calls before that begins. Never rejects. */
  #recheck(): Promise<void> {
    this.#next ??= this.#inTurn(() => {
      this.#next = undefined;
      return this.#check();
    }).catch((error: unknown) => {
      this.#uris = undefined;
      this.#log.error(`${this.#kind.pattern} could not be checked: ${describeError(error)}`);
    });
    return this.#next;
  }

  async #search(): Promise<readonly vscode.Uri[]> {
    const { pattern } = this.#kind;
    const uris = await vscode.workspace.findFiles(pattern, EXCLUDED_GLOB, MAX_FILES);
    if (uris.length === MAX_FILES) this.#log.warn(`Of ${pattern}, only ${MAX_FILES} files are read.`);
    return uris.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  async #check(): Promise<void> {
    const { diagnosticsOf } = this.#kind;
    let files = await this.#readAll();
    if (this.#uris === undefined) files = await this.#readAll(); // A missing file may have moved to another folder.
    if (this.#isDisposed) return;
    this.#all = files.flatMap((file) => ('content' in file ? [file.content] : []));
    this.#diagnostics.clear();
    for (const file of files) {
      this.#diagnostics.set(file.uri, 'content' in file ? diagnosticsOf(file.content) : file.problems);
    }
    this.#checked.fire();
  }

  async #readAll() {
    this.#uris ??= this.#search();
    return await Promise.all((await this.#uris).map((uri) => this.#read(uri)));
  }

  /** A file that cannot be read is a problem of its own, and does not affect the others. */
  async #read(uri: vscode.Uri) {
    try {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      return { uri, content: this.#kind.read(uri, text) };
    } catch (error) {
      this.#log.warn(`${uri.path} was not checked: ${describeError(error)}`);
      if (isFileNotFound(error)) {
        this.#uris = undefined; // It may have gone with its folder, of which the watcher says nothing.
        return { uri, problems: [] };
      }
      const reason = error instanceof Error ? error.message : String(error);
      const message = vscode.l10n.t('This file cannot be read: {0}', reason);
      return { uri, problems: [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 0), message)] };
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}
