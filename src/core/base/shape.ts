import { isJsonObject } from './json.ts';

/**
 * Checks of outside data that every window reads when it starts: settings and what the editor stores. There, loading a
 * schema library would cost more than everything else. Everywhere else zod does it.
 */
export type Guard<T> = (value: unknown) => value is T;

/** The guard of each member. */
export type Shape<T> = { readonly [Name in keyof T]-?: (value: unknown) => boolean };

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function arrayOf<T>(isItem: Guard<T>): Guard<readonly T[]> {
  return (value) => isArray(value) && value.every(isItem);
}

export function oneOf<T>(...choices: readonly T[]): Guard<T> {
  return (value): value is T => choices.includes(value as T);
}

export function optional<T>(guard: Guard<T>): Guard<T | undefined> {
  return (value) => value === undefined || guard(value);
}

/** True for an object whose members are as `shape` says; it may have others. */
export function matchesShape<T>(value: unknown, shape: Shape<T>): value is T {
  const members = Object.entries(shape) as [string, (value: unknown) => boolean][];
  return isJsonObject(value) && members.every(([name, isRight]) => isRight(value[name]));
}
