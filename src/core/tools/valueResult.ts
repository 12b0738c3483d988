import { OutputKeeper } from './output.ts';

/** What the model is told of a value that a command returned: text as it is, anything else as JSON, cut honestly. */
export function valueResult(value: unknown, limit: number): string {
  if (value === undefined || value === null) return 'It ended well and returned nothing.';
  const text = textOf(value);
  if (text === undefined) return 'It ended well and returned a value that cannot be shown as text.';
  return shortened(text, limit);
}

/** The first and the last half of `limit` bytes of UTF-8. */
export function shortened(text: string, limit: number): string {
  const keeper = new OutputKeeper(limit);
  keeper.push(new TextEncoder().encode(text));
  return keeper.finish().text;
}

/** Undefined for functions, symbols, rings and what throws when it is read. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member), 2);
  } catch {
    return undefined;
  }
}
