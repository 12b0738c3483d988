import * as vscode from 'vscode';
import { createSerialQueue } from '../../core/base/abort.ts';
import type { Log } from '../../core/base/log.ts';
import type { Diagnostic, WorkspaceToolDefinition } from '../../core/tools/definition.ts';
import type { readToolFile, ToolFile } from '../../core/tools/toolFile.ts';
import { DIAGNOSTIC_SOURCE, TOOL_FILE } from '../../ids.ts';
import type { ToolFileProblem } from '../conversation.ts';
import { fileExists, isFileNotFound } from '../watchedFiles.ts';

/** The address of a folder's tool file, even if it does not exist. */
export function toolFileOf(folder: vscode.WorkspaceFolder): vscode.Uri {
  return vscode.Uri.joinPath(folder.uri, TOOL_FILE);
}

/** Whether `uri` is the tool file of `folder`. */
export function isToolFile(uri: vscode.Uri, folder: vscode.WorkspaceFolder): boolean {
  return toolFileOf(folder).toString() === uri.toString();
}

/** Whether there is a tool file in this window; also true of a file that cannot be read. */
export async function hasToolFile(): Promise<boolean> {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const exist = await Promise.all(
    folders.map(async (folder) => {
      try {
        return await fileExists(toolFileOf(folder));
      } catch {
        return true;
      }
    }),
  );
  return exist.includes(true);
}

/** A tool of a workspace folder. */
export interface WorkspaceTool {
  readonly definition: WorkspaceToolDefinition;
  readonly folder: vscode.WorkspaceFolder;
}

/** The tool files of the workspace folders: read only in trusted workspaces; their problems are in Problems. */
export class ToolFiles implements vscode.Disposable {
  readonly #log: Log;
  readonly #reserved: ReadonlySet<string>;
  readonly #reader: () => Promise<Reader>;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('rolecall');
  readonly #disposables: vscode.Disposable[];
  /** The problems of each file, by its address, and those that are not shown now. */
  readonly #problems = new Map<string, { readonly problems: readonly ShownProblem[]; hidden: string | undefined }>();
  /** A later reading of the files has precedence. */
  readonly #inTurn = createSerialQueue();
  #isDisposed = false;

  /**
   * @param reserved names of tools that take precedence over those of a workspace; see `readToolFile`.
   * @param reader loads the code that reads a file; if that fails, it is a problem of each file.
   */
  constructor(log: Log, reserved: ReadonlySet<string> = new Set(), reader: () => Promise<Reader> = loadReader) {
    this.#log = log;
    this.#reserved = reserved;
    this.#reader = reader;
    const watcher = vscode.workspace.createFileSystemWatcher(`**/${TOOL_FILE}`);
    const recheck = () => void this.check(); // Its outcome is what Problems shows; it never rejects.
    this.#disposables = [
      this.#diagnostics,
      watcher,
      watcher.onDidCreate(recheck),
      watcher.onDidChange(recheck),
      watcher.onDidDelete(recheck),
      vscode.workspace.onDidGrantWorkspaceTrust(recheck),
      vscode.workspace.onDidChangeWorkspaceFolders(recheck),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        for (const uri of uris) this.#show(uri);
      }),
    ];
  }

  /**
   * The tools of all folders as the files stand now, and everything that is wrong with the files, even where the editor
   * reports it too. Of two tools with one name the first folder's wins.
   */
  async contents(): Promise<{
    readonly tools: readonly WorkspaceTool[];
    readonly problems: readonly ToolFileProblem[];
  }> {
    const files = await this.#read();
    const problems = withRepetitions(files).flatMap(({ uri, file, repeated }) =>
      [...file.problems, ...repeated].map(({ line, severity, message }) => ({ file: uri, line, severity, message })),
    );
    return { tools: this.#firstOfEachName(files), problems };
  }

  #firstOfEachName(files: readonly FolderFile[]): readonly WorkspaceTool[] {
    const tools = new Map<string, WorkspaceTool>();
    for (const { folder, file } of files) {
      for (const definition of file.tools) {
        if (tools.has(definition.name)) {
          this.#log.warn(`Two folders define the tool ${definition.name}; the one of ${folder.name} is left out.`);
        } else {
          tools.set(definition.name, { definition, folder });
        }
      }
    }
    return [...tools.values()];
  }

  /**
   * Every tool of every folder, including those that are not offered to models because an earlier folder has the name.
   */
  async all(): Promise<readonly WorkspaceTool[]> {
    const files = await this.#read();
    return files.flatMap(({ folder, file }) => file.tools.map((definition) => ({ definition, folder })));
  }

  /** Shows the problems of every tool file at their lines. Never rejects. */
  check(): Promise<void> {
    return this.#inTurn(() => this.#check()).catch((error: unknown) => {
      this.#log.error(`The tool files were not checked: ${String(error)}`);
    });
  }

  async #check(): Promise<void> {
    const files = await this.#read();
    if (this.#isDisposed) return;
    this.#problems.clear();
    this.#diagnostics.clear();
    for (const { uri, file, repeated } of withRepetitions(files)) {
      const problems = [...file.problems, ...repeated].map((problem) => {
        return { isSyntax: problem.isSyntax === true, shown: diagnostic(problem, file.text) };
      });
      this.#problems.set(uri.toString(), { problems, hidden: undefined });
      this.#show(uri);
    }
  }

  /** Shows the problems of a file, except for those of its JSON that the editor's own JSON support reports. */
  #show(uri: vscode.Uri): void {
    const entry = this.#problems.get(uri.toString());
    if (!entry) return;
    // If it reports anything, it has read the whole file. The places may differ: a missing comma lies between two lines.
    const hasEditorProblems = vscode.languages
      .getDiagnostics(uri)
      .some(({ source }) => source === 'json' || source === 'jsonc');
    const duplicates = entry.problems.filter(({ isSyntax }) => isSyntax && hasEditorProblems);
    const hidden = duplicates.map(({ shown }) => entry.problems.findIndex((each) => each.shown === shown)).join(' ');
    if (hidden === entry.hidden) return; // Setting them causes another change event.
    entry.hidden = hidden;
    this.#diagnostics.set(
      uri,
      entry.problems.filter((problem) => !duplicates.includes(problem)).map(({ shown }) => shown),
    );
  }

  async #read() {
    if (!vscode.workspace.isTrusted) return [];
    const folders = vscode.workspace.workspaceFolders ?? [];
    const files = await Promise.all(folders.map((folder) => this.#readFolder(folder)));
    return files.filter((file) => file !== undefined);
  }

  async #readFolder(folder: vscode.WorkspaceFolder): Promise<FolderFile | undefined> {
    const uri = toolFileOf(folder);
    try {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      const read = await this.#reader(); // Most windows have no such file.
      return { folder, uri, file: { ...read(text, { folder: folder.uri.fsPath, reserved: this.#reserved }), text } };
    } catch (error) {
      if (isFileNotFound(error)) return undefined; // Most folders have none.
      return { folder, uri, file: { tools: [], problems: [unreadable(error)], text: '' } };
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

type Reader = typeof readToolFile;

async function loadReader(): Promise<Reader> {
  const { readToolFile } = await import('../../core/tools/toolFile.ts');
  return readToolFile;
}

interface ShownProblem {
  readonly isSyntax: boolean;
  readonly shown: vscode.Diagnostic;
}

/** Adds a problem for each tool whose name an earlier folder uses: models know tools by their names alone. */
function withRepetitions(files: readonly FolderFile[]): (FolderFile & { readonly repeated: readonly Diagnostic[] })[] {
  const folderByName = new Map<string, string>();
  return files.map((each) => {
    const repeated = each.file.tools.flatMap(({ name, place }): Diagnostic[] => {
      const by = folderByName.get(name);
      if (by === undefined) return [];
      const message = vscode.l10n.t(
        'The folder {0} already defines a tool named {1}, so this one is not available.',
        by,
        name,
      );
      return [{ ...place, severity: 'warning', message }];
    });
    for (const { name } of each.file.tools) if (!folderByName.has(name)) folderByName.set(name, each.folder.name);
    return { ...each, repeated };
  });
}

interface FolderFile {
  readonly folder: vscode.WorkspaceFolder;
  readonly uri: vscode.Uri;
  readonly file: ToolFile & { readonly text: string };
}

/** A file that exists but cannot be read is a problem, not the absence of tools. */
function unreadable(error: unknown): Diagnostic {
  const message = vscode.l10n.t(
    'This file cannot be read: {0}',
    error instanceof Error ? error.message : String(error),
  );
  return { offset: 0, length: 0, line: 0, column: 0, severity: 'error', message };
}

function diagnostic(problem: Diagnostic, text: string): vscode.Diagnostic {
  const lines = text.slice(problem.offset, problem.offset + problem.length).split('\n');
  const last = lines.at(-1) ?? '';
  const end =
    lines.length === 1
      ? new vscode.Position(problem.line, problem.column + last.length)
      : new vscode.Position(problem.line + lines.length - 1, last.length);
  const severity = vscode.DiagnosticSeverity[problem.severity === 'error' ? 'Error' : 'Warning'];
  const shown = new vscode.Diagnostic(
    new vscode.Range(new vscode.Position(problem.line, problem.column), end),
    problem.message,
    severity,
  );
  shown.source = DIAGNOSTIC_SOURCE;
  return shown;
}
