/** A JSON Schema of type `object`, unchanged from the file: sent to the model like this. */
export interface ParametersSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: readonly string[];
  /** Any further keyword of JSON Schema, for example `additionalProperties` or `$defs`. */
  readonly [keyword: string]: unknown;
}

/** Starts a program directly, without a shell. Defaults are filled in. */
export interface ProcessRun {
  readonly kind: 'process';
  /** The program and the templates of its arguments; at least one element, the first has no placeholder. */
  readonly command: readonly [string, ...string[]];
  /** Relative to the workspace folder; `.` unless the file sets it. */
  readonly cwd: string;
  /** Added to the small environment every tool gets (see `toolEnvironment`). */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** The most bytes of standard output that are kept, and of standard error. */
  readonly outputLimit: number;
  /** `json`: the arguments are written to standard input as one JSON object; `none`: standard input is closed. */
  readonly stdin: 'json' | 'none';
  /** What the program may reach while it runs contained. */
  readonly access: DeclaredPermissions;
  /** False for a program that cannot run contained: it runs like one of the user's own, and asks each time. */
  readonly contained: boolean;
}

/**
 * What a contained program reaches beside the system's programs and libraries. Paths are relative to the workspace
 * folder and lead into it; `.git` and `.vscode` are never writable.
 */
export interface DeclaredPermissions {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: boolean;
}

/** Runs an editor command. Templates are filled by `fillJson`. */
export interface CommandRun extends RunLimits {
  readonly kind: 'command';
  /** Id of the command: fixed text, none of Rolecall's own. */
  readonly command: string;
  /** JSON values with placeholders, one for each argument of the command. */
  readonly arguments: readonly unknown[];
}

/** Calls a tool that is available in the editor (`vscode.lm.tools`), including those of MCP servers. */
export interface ForwardRun extends RunLimits {
  readonly kind: 'tool';
  readonly tool: string;
  /** A JSON object with placeholders; without it, the arguments are passed unchanged. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
}

export const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Sends one HTTP request to a host the user allowed. */
export interface HttpRun extends RunLimits {
  readonly kind: 'http';
  readonly method: (typeof httpMethods)[number];
  /** See `parseUrlTemplate`: parameters are allowed in the path and the query only. */
  readonly url: string;
  /** Fixed text; no credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value with placeholders, sent as `application/json`; no body when left out. */
  readonly body?: unknown;
}

/** How a tool is run. `kind` is the discriminator. */
export type ToolRun = ProcessRun | CommandRun | ForwardRun | HttpRun;

export interface RunLimits {
  readonly timeoutSeconds: number;
  /** The most bytes of the result that are kept. */
  readonly outputLimit: number;
}

/** A tool whose `run` is of one kind. */
export type ToolOf<R extends ToolRun> = WorkspaceToolDefinition & { readonly run: R };

/** One tool of `.vscode/rolecall.tools.json`, checked and with defaults filled in. */
export interface WorkspaceToolDefinition {
  /** Matches `^[a-zA-Z0-9_-]{1,64}$`; unique in its file. */
  readonly name: string;
  readonly description: string;
  readonly parameters: ParametersSchema;
  readonly run: ToolRun;
  /** Absolute path of the workspace folder whose file defines the tool. */
  readonly folder: string;
  /** Where the definition is in the file. Not part of what the user agrees to. */
  readonly place: TextSpan;
}

/** A range of a text. `offset` and `length` count UTF-16 code units; `line` and `column` count from zero. */
export interface TextSpan {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

/** A problem in a tool file. An error keeps its tool from being offered; a warning does not. */
export interface Diagnostic extends TextSpan {
  readonly severity: 'error' | 'warning';
  /** A plain sentence, in the user's language. */
  readonly message: string;
  /** About JSON itself: an editor that knows JSON reports the same while the file is open. */
  readonly isSyntax?: boolean;
}

/** A problem of a member, before its place in the text is known. */
export interface MemberDiagnostic {
  readonly path: readonly (string | number)[];
  readonly severity: Diagnostic['severity'];
  readonly message: string;
}

export function errorAt(path: readonly (string | number)[], message: string): MemberDiagnostic {
  return { path, severity: 'error', message };
}

export const defaultTimeoutSeconds = 60;
export const maxTimeoutSeconds = 3600;
export const defaultOutputLimit = 32 * 1024;
export const minOutputLimit = 256;
export const maxOutputLimit = 1024 * 1024;
/** The version of the file format that this code writes and reads. */
export const toolFileVersion = 1;
/**
 * The most UTF-16 code units of a tool file and of one schema in it, and elements of a `command`: a limit on the time
 * to read them.
 */
export const maxToolFileLength = 1024 * 1024;
export const maxSchemaLength = 64 * 1024;
export const maxCommandLength = 256;
