/** A JSON Schema of the kind `object`, as it stands in the file: sent to the model unchanged. */
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
  /** The program and the templates of its arguments; at least one element, the first holds no placeholder. */
  readonly command: readonly [string, ...string[]];
  /** Relative to the workspace folder; `.` when the file does not say. */
  readonly cwd: string;
  /** Added to the small environment every tool gets (see `environment.ts`). */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Bytes kept of standard output, and as many of standard error. */
  readonly outputLimit: number;
  /** `json`: the arguments are written to standard input as one JSON object; `none`: standard input is closed. */
  readonly stdin: 'json' | 'none';
}

/** How a tool is run. Kinds are told apart by `kind`; this version knows one. */
export type ToolRun = ProcessRun;

/** One tool of `.vscode/rolecall.tools.json`, checked and with defaults filled in. */
export interface ToolDefinition {
  /** Matches `^[a-zA-Z0-9_-]{1,64}$`; unique in its file. */
  readonly name: string;
  readonly description: string;
  readonly parameters: ParametersSchema;
  readonly run: ToolRun;
  /** Absolute path of the workspace folder whose file defines the tool. */
  readonly folder: string;
  /** Where the definition stands in the file. Not part of what the user consents to. */
  readonly place: Place;
}

/** A stretch of text. `offset` and `length` count UTF-16 code units; `line` and `column` count from zero. */
export interface Place {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a tool file. An `error` keeps its tool from being offered; a `warning` does not. */
export interface Problem extends Place {
  readonly severity: 'error' | 'warning';
  /** A plain English sentence. */
  readonly message: string;
}

export const defaultTimeoutSeconds = 60;
export const maxTimeoutSeconds = 3600;
export const defaultOutputLimit = 32 * 1024;
export const minOutputLimit = 256;
export const maxOutputLimit = 1024 * 1024;
/** The version of the file format this code writes and reads. */
export const toolFileVersion = 1;
