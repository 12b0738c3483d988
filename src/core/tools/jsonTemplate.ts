import { givenValue, parseTemplate, templateParameters, valueText } from './argv.ts';
import { error, type Finding } from './finding.ts';

/**
 * JSON values with placeholders, for what is not run by argument lists: arguments of a command, the input of a tool, the
 * body of a request. A string that is nothing but `${name}` stands for the value itself, with its type; in any other
 * string `${name}` is text. Names of members are never templates. `$${` stands for the two characters `${`.
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
  if (parsed.parts.length === 1 && first?.kind === 'parameter') return givenValue(args, first.name);
  return parsed.parts.map((part) => (part.kind === 'text' ? part.text : valueText(args, part.name))).join('');
}

/** The names of the parameters a JSON template mentions. */
export function jsonParameters(template: unknown): string[] {
  if (typeof template === 'string') return templateParameters(template);
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(jsonParameters);
}

/** What is wrong with a JSON template that stands at `path`. */
export function jsonFindings(
  template: unknown,
  path: readonly (string | number)[],
  isDeclared: (name: string) => boolean,
): Finding[] {
  if (typeof template === 'string') {
    const parsed = parseTemplate(template);
    if (parsed.kind === 'invalid') return [error(path, `This text ${parsed.message}.`)];
    return templateParameters(template)
      .filter((name) => !isDeclared(name))
      .map((name) => error(path, undeclared(name)));
  }
  if (Array.isArray(template)) {
    return template.flatMap((element, index) => jsonFindings(element, [...path, index], isDeclared));
  }
  if (typeof template !== 'object' || template === null) return [];
  return Object.entries(template).flatMap(([name, member]) => jsonFindings(member, [...path, name], isDeclared));
}

export function undeclared(name: string): string {
  return `"\${${name}}" is not among the declared parameters; write "$\${" for the characters "\${".`;
}
