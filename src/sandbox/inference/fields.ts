import { invalidRequest } from './errors.ts';

/** A JSON object as it came in. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How a value is called in an error message: its JSON type. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Readers of one optional field each: undefined when it is absent or null, which clients of the `openai` package send
 * alike; a Refusal (400, `param` names the field) when its type or value is wrong.
 */
export function readNumber(body: JsonObject, name: string, bounds: Bounds): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw wrongType(name, 'a number', value);
  return withinBounds(name, value, bounds);
}

export function readInteger(body: JsonObject, name: string, bounds: Bounds): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(name, 'an integer', value);
  return withinBounds(name, value, bounds);
}

export function readBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw wrongType(name, 'a boolean', value);
}

export function readString(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw wrongType(name, 'a string', value);
}

/** A number's bounds; `above` excludes its own value. */
export interface Bounds {
  readonly least?: number;
  readonly above?: number;
  readonly most?: number;
}

function withinBounds(name: string, value: number, { least, above, most }: Bounds): number {
  const wanted: string[] = [];
  if (least !== undefined) wanted.push(`at least ${least}`);
  if (above !== undefined) wanted.push(`greater than ${above}`);
  if (most !== undefined) wanted.push(`at most ${most}`);
  const inside = (least ?? value) <= value && value <= (most ?? value) && (above === undefined || value > above);
  if (!inside) throw invalidRequest(name, `\`${name}\` must be ${wanted.join(' and ')}, got ${value}.`);
  return value;
}

export function wrongType(path: string, wanted: string, value: unknown): Error {
  const got = typeof value === 'number' ? String(value) : jsonType(value);
  return invalidRequest(
    path,
    value === undefined ? `\`${path}\` is required.` : `\`${path}\` must be ${wanted}, got ${got}.`,
  );
}
