import type { TextRange } from '../base/errors.ts';

/**
 * `{{name}}`: exact, case-sensitive, without blanks around the name. There is no escaping and there are no conditions;
 * a name without a value stays as text. Filled in one pass, so that a value that looks like a placeholder is not
 * filled.
 */
const PLACEHOLDER = /\{\{([^{}\r\n]+)\}\}/g;

/** A variable, the contents of a file, or text that only looks like a placeholder. */
export type PlaceholderKind = 'variable' | 'file' | 'text';

export interface Placeholder extends TextRange {
  /** As written between the braces. */
  readonly name: string;
  readonly kind: PlaceholderKind;
}

/** A text in which placeholders are filled, as YAML reads it. */
export interface TemplateText extends TextRange {
  readonly value: string;
  /** Their places in the file, where folding and escapes move them. */
  readonly placeholders: readonly Placeholder[];
}

const FILE = 'file:';
const VARIABLE = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;

export function placeholderKind(name: string): PlaceholderKind {
  if (name.startsWith(FILE) && name.length > FILE.length) return 'file';
  return VARIABLE.test(name) ? 'variable' : 'text';
}

/** The path of `{{file:relative/path}}`. */
export function filePath(name: string): string {
  return name.slice(FILE.length);
}

/** The placeholders of a part of a file that begins at `start`. */
export function findPlaceholders(text: string, start: number): Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].map(({ 0: whole, 1: name = '', index }) => ({
    name,
    kind: placeholderKind(name),
    start: start + index,
    end: start + index + whole.length,
  }));
}

/** The names in a text that is filled, without repetition. */
export function placeholderNames(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(({ 1: name = '' }) => name))];
}

/** @param lookUp the value of a name, `undefined` if it stays as text. */
export function fillPlaceholders(text: string, lookUp: (name: string) => string | undefined): string {
  return text.replace(PLACEHOLDER, (whole: string, name: string) => lookUp(name) ?? whole);
}

/** Like {@link fillPlaceholders}, for every text within a JSON value. */
export function fillJsonTexts(value: unknown, lookUp: (name: string) => string | undefined): unknown {
  if (typeof value === 'string') return fillPlaceholders(value, lookUp);
  if (Array.isArray(value)) return value.map((item) => fillJsonTexts(item, lookUp));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillJsonTexts(member, lookUp)]));
}
