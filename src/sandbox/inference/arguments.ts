import { type FunctionTool, isObject, type JsonObject } from './request.ts';

/**
 * Finds arguments for a tool call in the text of the user that are valid for the schema of the tool.
 *
 * - A JSON object in the text is used as it is, valid or not, if its properties are all parameters of the tool.
 * - `name=value` and `name: value` set any parameter, required or not. The value may be quoted.
 * - Other required parameters use up parts of the text, in order. Strings use texts in quotes or backticks or, if there
 *   are none, a path or the words after "on", "for", "of" and so on. Numbers use the numbers in the text, and enums use
 *   the member that the text mentions.
 * - Otherwise, the value is `const`, `default`, the first member of `enum`, or a sample that matches the type, bounds,
 *   format and pattern.
 */
export function fillArguments(tool: FunctionTool, text: string): JsonObject {
  const properties = isObject(tool.parameters.properties) ? tool.parameters.properties : {};
  const json = findJsonObject(text, properties);
  if (json) return json;
  const clues = readClues(text, tool.name);
  return fillObject(tool.parameters, { clues, root: tool.parameters, depth: 0 });
}

interface Clues {
  readonly text: string;
  readonly assigned: ReadonlyMap<string, string>;
  /** A parameter that uses one of these, or one of the numbers, removes it. */
  readonly strings: string[];
  readonly numbers: number[];
}

interface Filling {
  readonly clues: Clues;
  /** The schema that `$ref` refers to. */
  readonly root: JsonObject;
  readonly depth: number;
}

const maxDepth = 8;

function findJsonObject(text: string, properties: JsonObject): JsonObject | undefined {
  const json = /\{[\s\S]*\}/.exec(text)?.[0];
  if (!json) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    const names = isObject(value) ? Object.keys(value) : [];
    if (isObject(value) && names.length > 0 && names.every((name) => Object.hasOwn(properties, name))) return value;
  } catch {
    // Braces that do not enclose JSON are ordinary text.
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
  const strings = quoted.length > 0 ? quoted : findUnquotedStrings(rest);
  const numbers = (
    rest.replace(/"[^"]*"|`[^`]*`/g, ' ').match(/(?<![\p{L}\p{N}_.])-?\d+(?:\.\d+)?(?![\p{L}\p{N}_])/gu) ?? []
  ).map(Number);
  return { text, assigned, strings, numbers };
}

function findUnquotedStrings(text: string): string[] {
  const path = /(?<!\S)[\w.-]*[\w-](?:\/[\w.-]+|\.\w{1,8})+(?![\w/])/.exec(text)?.[0];
  if (path) return [path];
  const words =
    /\b(?:on|for|of|with|in|about|to|from)\s+(?:the\s+(?:text|file|word|words|folder)\s+)?(\S[^\n]*?)[.?!]*\s*(?:\n|$)/i.exec(
      text,
    )?.[1];
  return words ? [words] : [];
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

/** Converts a value to the type of its parameter. A value that cannot be converted is replaced with a valid one. */
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
  if (Array.isArray(schema.enum))
    return findMentioned(schema.enum, filling.clues.text) ?? schema.default ?? schema.enum[0];
  const type = typeOf(schema);
  const clue = takeClue(type, schema, filling.clues);
  if (clue !== undefined) return clue;
  if ('default' in schema) return schema.default;
  if (type === 'number' || type === 'integer') return sampleNumber(schema, type, 1);
  if (type === 'boolean') return !/\bfalse\b/i.test(filling.clues.text);
  if (type === 'null') return null;
  if (type === 'array') return fillArray(schema, name, filling);
  if (type === 'object')
    return filling.depth < maxDepth ? fillObject(schema, { ...filling, depth: filling.depth + 1 }) : {};
  return sampleString(name, schema);
}

function findMentioned(members: readonly unknown[], text: string): unknown {
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
  if (filling.depth >= maxDepth) return [];
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

/** Follows `$ref` within the schema of the tool, and takes the first schema of `anyOf`, `oneOf` or `allOf`. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema;
  for (let hop = 0; hop < maxDepth; hop++) {
    const { $ref: reference, anyOf, oneOf, allOf } = current;
    const target = typeof reference === 'string' ? atPointer(root, reference) : undefined;
    const next = target ?? [anyOf, oneOf, allOf].find(Array.isArray)?.find(isObject);
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

const byFormat: Readonly<Record<string, string>> = {
  date: '2025-01-31',
  time: '12:00:00Z',
  'date-time': '2025-01-31T12:00:00Z',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

const byName: readonly (readonly [RegExp, string])[] = [
  [/url|uri|link/i, 'https://example.com/'],
  [/folder|directory|dir$/i, '.'],
  [/path|file/i, 'README.md'],
  [/mail/i, 'someone@example.com'],
  [/date|day/i, '2025-01-31'],
  [/glob|pattern/i, '*'],
  [/language|locale/i, 'en'],
];

const samples = [
  'sample',
  'a',
  'A',
  '1',
  '42',
  'README.md',
  '.',
  'a-b',
  'a_b',
  'en',
  'en-GB',
  '#000000',
  '1.0.0',
  'v1.0.0',
  '/',
];

/**
 * A string for a parameter that the text has no value for: by its format, by its name, or the first sample that matches
 * length and pattern.
 *
 * @param preferred takes precedence over all samples if it matches.
 */
export function sampleString(name: string, schema: JsonObject, preferred?: string): string {
  const sampleForName = byName.find(([pattern]) => pattern.test(name))?.[1];
  const sampleForFormat = typeof schema.format === 'string' ? byFormat[schema.format] : undefined;
  const candidates = [
    ...(preferred === undefined ? [] : [preferred]),
    ...(sampleForFormat ? [sampleForFormat] : []),
    ...(sampleForName ? [sampleForName] : []),
    ...samples,
  ];
  const fits = matcher(schema, sampleForFormat !== undefined);
  const found = candidates.find(fits) ?? candidates.map((candidate) => resize(candidate, schema)).find(fits);
  return found ?? resize(sampleForFormat ?? sampleForName ?? 'sample', schema);
}

function matcher(schema: JsonObject, hasFormat: boolean): (value: string) => boolean {
  const { least, most } = lengths(schema);
  const pattern = compile(schema.pattern);
  return (value) => {
    const length = [...value].length;
    const matchesFormat = !hasFormat || isFormat(String(schema.format), value);
    return matchesFormat && length >= least && length <= most && (pattern?.test(value) ?? true);
  };
}

/** Roughly checks common formats. In other formats, only the sample above is known to be valid. */
function isFormat(format: string, value: string): boolean {
  if (format === 'uri' || format === 'url') return URL.canParse(value);
  if (format === 'email') return /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value);
  if (format === 'date') return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/.test(value);
  return value === byFormat[format];
}

function lengths(schema: JsonObject): { least: number; most: number } {
  return {
    least: typeof schema.minLength === 'number' ? schema.minLength : 0,
    most: typeof schema.maxLength === 'number' ? schema.maxLength : Number.POSITIVE_INFINITY,
  };
}

function resize(value: string, schema: JsonObject): string {
  const { least, most } = lengths(schema);
  return [...value.padEnd(Math.min(least, 10_000), value || 'a')].slice(0, most).join('');
}

function compile(pattern: unknown): RegExp | undefined {
  if (typeof pattern !== 'string') return undefined;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

/** The number closest to `value` that matches the bounds and `multipleOf`. @param type `number` or `integer`. */
export function sampleNumber(schema: JsonObject, type: string, value: number): number {
  const bound = (name: string): number | undefined => {
    const number = schema[name];
    return typeof number === 'number' ? number : undefined;
  };
  const step = bound('multipleOf') ?? (type === 'integer' ? 1 : undefined);
  const least = bound('minimum') ?? Number.NEGATIVE_INFINITY;
  const most = bound('maximum') ?? Number.POSITIVE_INFINITY;
  const above = bound('exclusiveMinimum') ?? Number.NEGATIVE_INFINITY;
  const below = bound('exclusiveMaximum') ?? Number.POSITIVE_INFINITY;
  if (step === undefined) {
    const clamped = Math.min(Math.max(value, least), most);
    if (clamped > above && clamped < below) return clamped;
    const [from, to] = [Math.max(least, above), Math.min(most, below)];
    if (Number.isFinite(from) && Number.isFinite(to)) return (from + to) / 2;
    return Number.isFinite(from) ? from + 1 : to - 1;
  }
  let steps = Math.round(value / step);
  steps = Math.max(steps, Math.ceil(least / step), Math.floor(above / step) + 1);
  steps = Math.min(steps, Math.floor(most / step), Math.ceil(below / step) - 1);
  return steps * step;
}
