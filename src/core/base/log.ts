/** Where core writes what it does. The host gives a `LogOutputChannel` behind {@link redactingLog}. */
export interface Log {
  trace(message: string): void;
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
