import { isObject, type JsonObject } from './fields.ts';
import type { FunctionTool } from './request.ts';
import { sampleNumber, sampleString } from './samples.ts';

/**
 * Arguments for a call, read off the words of the user and held to the tool's schema.
 *
 * - A JSON object in the text is taken as it is, right or wrong, when its members are parameters of the tool.
 * - `name=value` and `name: value` set a parameter, required or not; values may be quoted.
 * - Other required parameters take, in order: strings the quoted or backticked texts, then a path or the words after
 *   "on", "for", "of", …; numbers the numbers of the text; an enum the member that is mentioned.
 * - Otherwise `const`, `default`, the first of `enum`, or a sample that fits type, bounds, format and pattern.
 */
export function fillArguments(tool: FunctionTool, text: string): JsonObject {
  const properties = isObject(tool.parameters.properties) ? tool.parameters.properties : {};
  const given = givenObject(text, properties);
  if (given) return given;
  const clues = readClues(text, tool.name);
  return fillObject(tool.parameters, { clues, root: tool.parameters, depth: 0 });
}

interface Clues {
  readonly text: string;
  readonly assigned: ReadonlyMap<string, string>;
  /** Taken from the front as parameters use them up. */
  readonly strings: string[];
  readonly numbers: number[];
}

interface Filling {
  readonly clues: Clues;
  /** Where `$ref` points into. */
  readonly root: JsonObject;
  readonly depth: number;
}

const deepest = 8;

function givenObject(text: string, properties: JsonObject): JsonObject | undefined {
  const json = /\{[\s\S]*\}/.exec(text)?.[0];
  if (!json) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    const names = isObject(value) ? Object.keys(value) : [];
    if (isObject(value) && names.length > 0 && names.every((name) => Object.hasOwn(properties, name))) return value;
  } catch {
    // Braces that are no JSON are words like others.
  }
  return undefined;
}

function readClues(text: string, toolName: string): Clues {
  const assigned = new Map<string, string>();
  const assignment = /([\p{L}_][\p{L}\p{N}_]*)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s,;]+))/gu;
  const rest = text.replace(assignment, (_whole, name: string, ...values: (string | undefined)[]) => {
    const value = values.slice(0, 4).find((candidate) => candidate !== undefined) ?? '';
    assigned.set(name.toLowerCase(), value);
    return ' ';
  });
  const quoted = [...rest.matchAll(/"([^"]+)"|`([^`]+)`|(?<!\p{L})'([^']+)'(?!\p{L})/gu)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .filter((value) => value !== toolName);
  const strings = quoted.length > 0 ? quoted : looseStrings(rest);
  const numbers = (
    rest.replace(/"[^"]*"|`[^`]*`/g, ' ').match(/(?<![\p{L}\p{N}_.])-?\d+(?:\.\d+)?(?![\p{L}\p{N}_])/gu) ?? []
  ).map(Number);
  return { text, assigned, strings, numbers };
}

function looseStrings(text: string): string[] {
  const path = /(?<!\S)[\w.-]*[\w-](?:\/[\w.-]+|\.\w{1,8})+(?![\w/])/.exec(text)?.[0];
  if (path) return [path];
  const object =
    /\b(?:on|for|of|with|in|about|to|from)\s+(?:the\s+(?:text|file|word|words|folder)\s+)?(\S[^\n]*?)[.?!]*\s*(?:\n|$)/i.exec(
      text,
    )?.[1];
  return object ? [object] : [];
}

function fillObject(schema: JsonObject, filling: Filling): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const filled: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const assigned = filling.depth === 0 ? filling.clues.assigned.get(name.toLowerCase()) : undefined;
    if (assigned !== undefined) filled[name] = convert(resolve(property, filling.root), assigned, name, filling);
    else if (required.has(name)) filled[name] = fillValue(property, name, filling);
  }
  for (const name of required) if (typeof name === 'string' && !(name in filled)) filled[name] = sampleString(name, {});
  return filled;
}

/** A value the user wrote, in the parameter's type; what cannot be converted is replaced by a value that can. */
function convert(schema: JsonObject, text: string, name: string, filling: Filling): unknown {
  switch (typeOf(schema)) {
    case 'string':
      return fits(schema, text) ? text : fillValue(schema, name, filling);
    case 'number':
    case 'integer': {
      const number = Number(text);
      return text.trim() === '' || !Number.isFinite(number)
        ? fillValue(schema, name, filling)
        : sampleNumber(schema, typeOf(schema), number);
    }
    case 'boolean':
      return /^(?:true|yes|on|1)$/i.test(text);
    default:
      return fillValue(schema, name, filling);
  }
}

function fillValue(property: JsonObject, name: string, filling: Filling): unknown {
  const schema = resolve(property, filling.root);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return mentioned(schema.enum, filling.clues.text) ?? schema.default ?? schema.enum[0];
  const type = typeOf(schema);
  const clue = takeClue(type, schema, filling.clues);
  if (clue !== undefined) return clue;
  if ('default' in schema) return schema.default;
  if (type === 'number' || type === 'integer') return sampleNumber(schema, type, 1);
  if (type === 'boolean') return !/\bfalse\b/i.test(filling.clues.text);
  if (type === 'null') return null;
  if (type === 'array') return fillArray(schema, name, filling);
  if (type === 'object')
    return filling.depth < deepest ? fillObject(schema, { ...filling, depth: filling.depth + 1 }) : {};
  return sampleString(name, schema);
}

function mentioned(members: readonly unknown[], text: string): unknown {
  return members.find(
    (member) => typeof member === 'string' && member !== '' && text.toLowerCase().includes(member.toLowerCase()),
  );
}

function fits(schema: JsonObject, text: string): boolean {
  if ('const' in schema) return schema.const === text;
  if (Array.isArray(schema.enum)) return schema.enum.includes(text);
  return sampleString('', schema, text) === text;
}

function takeClue(type: string, schema: JsonObject, clues: Clues): unknown {
  if (type === 'string') {
    const index = clues.strings.findIndex((value) => fits(schema, value));
    return index < 0 ? undefined : clues.strings.splice(index, 1)[0];
  }
  if (type !== 'number' && type !== 'integer') return undefined;
  const inBounds = (value: number): boolean => sampleNumber(schema, type, value) === value;
  const index = clues.numbers.findIndex(inBounds);
  return index < 0 ? undefined : clues.numbers.splice(index, 1)[0];
}

function fillArray(schema: JsonObject, name: string, filling: Filling): unknown[] {
  const items = isObject(schema.items) ? schema.items : { type: 'string' };
  const least = typeof schema.minItems === 'number' ? schema.minItems : 1;
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : Number.POSITIVE_INFINITY;
  if (filling.depth >= deepest) return [];
  return Array.from({ length: Math.min(Math.max(least, 1), most) }, () =>
    fillValue(items, name, { ...filling, depth: filling.depth + 1 }),
  );
}

function typeOf(schema: JsonObject): string {
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((candidate) => candidate !== 'null') ?? types[0];
  if (typeof type === 'string') return type;
  return isObject(schema.properties) ? 'object' : 'string';
}

/** Follows `$ref` inside the tool's own schema and takes the first of `anyOf`, `oneOf` and `allOf`. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema;
  for (let hops = 0; hops < deepest; hops++) {
    const { $ref: reference, anyOf, oneOf, allOf } = current;
    const pointed = typeof reference === 'string' ? atPointer(root, reference) : undefined;
    const next = pointed ?? [anyOf, oneOf, allOf].find(Array.isArray)?.find(isObject);
    if (!isObject(next)) return current;
    current = next;
  }
  return current;
}

function atPointer(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    if (!isObject(value)) return undefined;
    value = value[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}
