import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import { errorAt, type MemberDiagnostic } from './definition.ts';

/**
 * Templates of arguments. `${name}` means the value of a parameter, `$${` the two characters `${`. Each template
 * becomes exactly one argument of the program, whatever the value: no shell reads it, nothing is split or expanded.
 */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string };

/** The parts of a template, or a sentence about its mistake. */
export type ParsedTemplate =
  | { readonly kind: 'ok'; readonly parts: readonly TemplatePart[] }
  | { readonly kind: 'invalid'; readonly message: string };

export function parseTemplate(template: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let text = '';
  let at = 0;
  while (at < template.length) {
    if (template.startsWith('$${', at)) {
      text += '${';
      at += 3;
    } else if (template.startsWith('${', at)) {
      const end = template.indexOf('}', at);
      if (end === -1) return { kind: 'invalid', message: l10n.t('{0} has no closing "}". {1}', '"${"', literalHint()) };
      if (end === at + 2) return { kind: 'invalid', message: l10n.t('{0} contains no parameter name.', `"\${}"`) };
      if (text !== '') parts.push({ kind: 'text', text });
      text = '';
      parts.push({ kind: 'parameter', name: template.slice(at + 2, end) });
      at = end + 1;
    } else {
      text += template[at];
      at += 1;
    }
  }
  if (text !== '') parts.push({ kind: 'text', text });
  return { kind: 'ok', parts };
}

/** The names of the parameters in a template. */
export function templateParameters(template: string): string[] {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'invalid') return [];
  return parsed.parts.flatMap((part) => (part.kind === 'parameter' ? [part.name] : []));
}

/**
 * Fills the templates that follow the program's name.
 *
 * - Text, numbers and booleans are used unchanged; arrays and objects become JSON text, one argument, never several.
 * - A missing (or null) parameter drops an argument that is nothing but `${name}`, and is empty text elsewhere.
 * - An argument that begins with a placeholder and would begin with `-` (on Windows also `/`) is refused unless there
 * is an argument `--` before it: the model chooses values, never options.
 * - A NUL byte would end the argument early and half a surrogate pair would arrive as another character: both are
 * refused.
 *
 * @throws {RolecallError} kind `tool`; the message is for the model and the user, in English.
 */
export function fillArgv(
  templates: readonly string[],
  args: Readonly<Record<string, unknown>>,
  platform: NodeJS.Platform,
): string[] {
  const filled: string[] = [];
  let optionsEnded = false;
  for (const template of templates) {
    const parts = partsOf(template);
    const [first] = parts;
    if (parts.length === 1 && first?.kind === 'parameter' && argumentValue(args, first.name) === undefined) continue;
    const argument = parts.map((part) => (part.kind === 'text' ? part.text : valueText(args, part.name))).join('');
    if (first?.kind === 'parameter' && !optionsEnded && looksLikeOption(argument, platform)) {
      throw new RolecallError(
        'tool',
        `The value of "${first.name}" may not begin with "${argument[0]}": the program would read it as an option.`,
      );
    }
    if (template === '--') optionsEnded = true;
    filled.push(argument);
  }
  return filled;
}

function partsOf(template: string): readonly TemplatePart[] {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'ok') return parsed.parts;
  throw new RolecallError('tool', `The argument template "${template}" is invalid. ${parsed.message}`);
}

/** The value of a parameter; a missing one and null are undefined. */
function argumentValue(args: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(args, name) ? (args[name] ?? undefined) : undefined;
}

/**
 * The value of a parameter as text; empty when it is missing.
 *
 * @throws {RolecallError} kind `tool` when it contains a NUL byte or half a surrogate pair.
 */
function valueText(args: Readonly<Record<string, unknown>>, name: string): string {
  const value = argumentValue(args, name);
  if (value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (text.includes('\0')) throw new RolecallError('tool', `The value of "${name}" holds a NUL character.`);
  if (/\p{Surrogate}/u.test(text)) {
    throw new RolecallError('tool', `The value of "${name}" holds half of a surrogate pair, which is not valid text.`);
  }
  return text;
}

function looksLikeOption(argument: string, platform: NodeJS.Platform): boolean {
  return argument.startsWith('-') || (platform === 'win32' && argument.startsWith('/'));
}

/*
 * JSON values with placeholders, where there are no argument lists: arguments of a command, the input of a tool, the
 * body of a request. A string that is nothing but `${name}` becomes the value itself, with its type; in any other
 * string `${name}` is text. Names of members are never templates. `$${` means the two characters `${`.
 */

/**
 * Fills a template. A missing (or null) parameter leaves out the member whose whole value it is, is `null` as an element
 * of an array, and is empty text elsewhere.
 *
 * @returns undefined when the template is nothing but a missing parameter.
 * @throws {RolecallError} kind `tool` when a value cannot be text.
 */
export function fillJson(template: unknown, args: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') return fillText(template, args);
  if (Array.isArray(template)) return template.map((element) => fillJson(element, args) ?? null);
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).flatMap(([name, member]) => {
      const value = fillJson(member, args);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function fillText(template: string, args: Readonly<Record<string, unknown>>): unknown {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'invalid') return template;
  const [first] = parsed.parts;
  if (parsed.parts.length === 1 && first?.kind === 'parameter') return argumentValue(args, first.name);
  return parsed.parts.map((part) => (part.kind === 'text' ? part.text : valueText(args, part.name))).join('');
}

/** The names of the parameters in a JSON template. */
export function jsonParameters(template: unknown): string[] {
  if (typeof template === 'string') return templateParameters(template);
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(jsonParameters);
}

/** Problems of the JSON template at `path`. */
export function jsonDiagnostics(
  template: unknown,
  path: readonly (string | number)[],
  isDeclared: (name: string) => boolean,
): MemberDiagnostic[] {
  if (typeof template === 'string') {
    const parsed = parseTemplate(template);
    if (parsed.kind === 'invalid') return [errorAt(path, parsed.message)];
    return templateParameters(template)
      .filter((name) => !isDeclared(name))
      .map((name) => errorAt(path, undeclaredMessage(name)));
  }
  if (Array.isArray(template)) {
    return template.flatMap((element, index) => jsonDiagnostics(element, [...path, index], isDeclared));
  }
  if (typeof template !== 'object' || template === null) return [];
  return Object.entries(template).flatMap(([name, member]) => jsonDiagnostics(member, [...path, name], isDeclared));
}

export function undeclaredMessage(name: string): string {
  return l10n.t('{0} is not a declared parameter. {1}', `"\${${name}}"`, literalHint());
}

function literalHint(): string {
  return l10n.t('To write the characters {0} themselves, use {1}.', '"${"', '"$${"');
}

/**
 * Templates of addresses. Scheme, host and port are fixed text; `${name}` is allowed in the path and in the query,
 * where the value is percent-encoded so that it stays inside its segment or its side of a `name=value` pair (RFC 3986
 * sections 2.1 and 3). No value can add a segment, climb up with `..`, begin a query or lead to another host.
 */
export interface UrlTemplate {
  readonly kind: 'ok';
  /** Scheme, host and port as `URL.origin` writes them. */
  readonly origin: string;
  readonly segments: readonly (readonly TemplatePart[])[];
  /** The pairs of the query; none when there is no query. */
  readonly pairs: readonly (readonly TemplatePart[])[];
}

export function parseUrlTemplate(
  template: string,
): UrlTemplate | { readonly kind: 'invalid'; readonly message: string } {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'invalid') return parsed;
  const [first, ...rest] = parsed.parts;
  const start = /^(https?:\/\/[^/?#]*)([/?#].*)?$/is.exec(first?.kind === 'text' ? first.text : '');
  const authority = start?.[1];
  if (authority === undefined)
    return invalid(l10n.t('The URL must begin with "https://" (or "http://") and a fixed host.'));
  const after = start?.[2] ?? '';
  if (after === '' && rest.length > 0) {
    return invalid(
      l10n.t(
        'The URL must not contain a parameter before the path, because the destination of the request must be fixed.',
      ),
    );
  }
  const origin = originOf(authority);
  if (origin === undefined) return invalid(l10n.t('The URL must have a host, without a user name or a password.'));
  const parts: TemplatePart[] = [{ kind: 'text', text: after }, ...rest];
  const problem = parts.map(textProblem).find((found) => found !== undefined);
  if (problem !== undefined) return invalid(problem);
  const [path = [], ...query] = splitOnce(parts);
  return {
    kind: 'ok',
    origin,
    segments: splitAll(path, '/').slice(1),
    pairs: query.flatMap((each) => splitAll(each, '&')),
  };
}

/**
 * - A parameter in the path is required and must not be empty; a segment must not become `.` or `..`.
 * - A pair of the query with a missing parameter is left out.
 *
 * @throws {RolecallError} kind `tool`; the message is for the model and the user, in English.
 */
export function fillUrl(template: string, args: Readonly<Record<string, unknown>>): URL {
  const parsed = parseUrlTemplate(template);
  if (parsed.kind === 'invalid') throw new RolecallError('tool', parsed.message);
  const path = parsed.segments.map((segment) => `/${fillSegment(segment, args)}`).join('');
  const pairs = parsed.pairs
    .filter((pair) => pair.every((part) => part.kind === 'text' || argumentValue(args, part.name) !== undefined))
    .map((pair) => pair.map((part) => encoded(part, args)).join(''));
  const url = new URL(`${parsed.origin}${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`);
  if (url.origin === parsed.origin) return url;
  throw new RolecallError('unexpected', 'A filled address leads to another host.');
}

function fillSegment(segment: readonly TemplatePart[], args: Readonly<Record<string, unknown>>): string {
  const names = segment.flatMap((part) => (part.kind === 'parameter' ? [part.name] : []));
  for (const name of names) {
    if (valueText(args, name) !== '') continue;
    throw new RolecallError('tool', `The value of "${name}" is part of the path and must not be empty.`);
  }
  const filled = segment.map((part) => encoded(part, args)).join('');
  // The URL standard takes `%2e` for a dot when it resolves a path.
  if (names.length > 0 && /^(?:\.|%2e){1,2}$/i.test(filled)) {
    throw new RolecallError('tool', `The value of "${names[0]}" must not turn a path segment into "." or "..".`);
  }
  return filled;
}

function encoded(part: TemplatePart, args: Readonly<Record<string, unknown>>): string {
  return part.kind === 'text' ? part.text : encodeURIComponent(valueText(args, part.name));
}

function originOf(authority: string): string | undefined {
  if (/[@${}\\\s\p{C}]/u.test(authority) || !URL.canParse(authority)) return undefined;
  return new URL(authority).origin;
}

/** Refuses values that would change the meaning of the text beside them, or would never be sent. */
function textProblem(part: TemplatePart): string | undefined {
  if (part.kind !== 'text') return undefined;
  if (part.text.includes('#')) {
    return l10n.t('The URL must not contain "#", because nothing after it is sent. Write %23 for the character.');
  }
  if (/[\\\s\p{C}]/u.test(part.text)) {
    return l10n.t('The URL must not contain spaces, backslashes or control characters.');
  }
  // `%2${x}` would let the value end the escape.
  if (/%(?![0-9a-f]{2})/i.test(part.text))
    return l10n.t('"%" must be followed by two hexadecimal digits. Write %25 for the character.');
  return undefined;
}

/** Splits at the first `?`: the path, then the query if there is one. */
function splitOnce(parts: readonly TemplatePart[]): TemplatePart[][] {
  const [path = [], ...more] = splitAll(parts, '?');
  if (more.length === 0) return [path];
  const query = more.flatMap((each, index): TemplatePart[] =>
    index === 0 ? each : [{ kind: 'text', text: '?' }, ...each],
  );
  return [path, query];
}

/** Splits at a character of the template's own text, never of a value. */
function splitAll(parts: readonly TemplatePart[], separator: string): TemplatePart[][] {
  const pieces: TemplatePart[][] = [[]];
  for (const part of parts) {
    if (part.kind === 'parameter') {
      pieces.at(-1)?.push(part);
      continue;
    }
    for (const [index, text] of part.text.split(separator).entries()) {
      if (index > 0) pieces.push([]);
      if (text !== '') pieces.at(-1)?.push({ kind: 'text', text });
    }
  }
  return pieces;
}

function invalid(message: string): { kind: 'invalid'; message: string } {
  return { kind: 'invalid', message };
}
