import * as z from 'zod/mini';

/** Each of a union of messages without its version, as the code on either side has it. */
export type Unversioned<T> = T extends unknown ? Omit<T, 'version'> : never;

/** @returns `undefined` for anything but such a message, or for one of another version. */
export function readMessage<S extends z.ZodMiniType>(schema: S, data: unknown): z.output<S> | undefined {
  const result = z.safeParse(schema, data);
  return result.success ? result.data : undefined;
}
