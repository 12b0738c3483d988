/** A tool call as a model wrote it, read once: `parsed` is what runs; it is not parsed again. */
export interface ToolCall {
  /** Unique within the conversation: results are matched to calls by it. */
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; `{}` where an empty text means that there are no arguments. */
  readonly arguments: string;
  /** The arguments of a call that may run. */
  readonly parsed?: Readonly<Record<string, unknown>>;
  /** Why this call must not run: a plain sentence for the user. Absent exactly when `parsed` is set. */
  readonly problem?: string;
}
