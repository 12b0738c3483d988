import * as z from 'zod/mini';

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that `text` is the JSON of, or `undefined` when it is not the JSON of an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** The value that `text` is the JSON of, or `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `text` as JSON of this shape, or `undefined`. */
export function parseJsonAs<T extends z.ZodMiniType>(schema: T, text: string): z.infer<T> | undefined {
  const value = parseJson(text);
  if (value === undefined) return undefined;
  const parsed = z.safeParse(schema, value);
  return parsed.success ? parsed.data : undefined;
}
