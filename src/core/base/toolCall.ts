/** A tool call as a model wrote it, read once: whoever runs it relies on `parsed`, and nobody parses it again. */
export interface ToolCall {
  /** Unique within the conversation: results are matched to calls by it. */
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; `{}` where writing nothing means that there are no arguments. */
  readonly arguments: string;
  /** The arguments of a call that may run. */
  readonly parsed?: Readonly<Record<string, unknown>>;
  /** Why this call must not run: a plain sentence that may also be told to the model. Absent exactly when `parsed` is set. */
  readonly problem?: string;
}
