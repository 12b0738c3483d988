import type { JsonObject } from './fields.ts';

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

const others = [
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
 * A string for a parameter that nothing in the request gives: by its format, its name, or the first sample that fits
 * length and pattern. With `wanted` that string comes back when it fits.
 */
export function sampleString(name: string, schema: JsonObject, wanted?: string): string {
  const named = byName.find(([pattern]) => pattern.test(name))?.[1];
  const formatted = typeof schema.format === 'string' ? byFormat[schema.format] : undefined;
  const candidates = [
    ...(wanted === undefined ? [] : [wanted]),
    ...(formatted ? [formatted] : []),
    ...(named ? [named] : []),
    ...others,
  ];
  const fits = fitter(schema, formatted !== undefined);
  const found = candidates.find(fits) ?? candidates.map((candidate) => resize(candidate, schema)).find(fits);
  return found ?? resize(formatted ?? named ?? 'sample', schema);
}

function fitter(schema: JsonObject, hasFormat: boolean): (value: string) => boolean {
  const { least, most } = lengths(schema);
  const pattern = compile(schema.pattern);
  return (value) => {
    const length = [...value].length;
    const formatted = !hasFormat || hasForm(String(schema.format), value);
    return formatted && length >= least && length <= most && (pattern?.test(value) ?? true);
  };
}

/** The common formats are checked roughly; of the others only our own sample is known to be right. */
function hasForm(format: string, value: string): boolean {
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

/** The number nearest to `value` that keeps the bounds and the step of the schema; `type` is `number` or `integer`. */
export function sampleNumber(schema: JsonObject, type: string, value: number): number {
  const bound = (name: string): number | undefined => {
    const given = schema[name];
    return typeof given === 'number' ? given : undefined;
  };
  const step = bound('multipleOf') ?? (type === 'integer' ? 1 : undefined);
  const least = bound('minimum') ?? Number.NEGATIVE_INFINITY;
  const most = bound('maximum') ?? Number.POSITIVE_INFINITY;
  const above = bound('exclusiveMinimum') ?? Number.NEGATIVE_INFINITY;
  const below = bound('exclusiveMaximum') ?? Number.POSITIVE_INFINITY;
  if (step === undefined) {
    const inside = Math.min(Math.max(value, least), most);
    if (inside > above && inside < below) return inside;
    const [from, to] = [Math.max(least, above), Math.min(most, below)];
    if (Number.isFinite(from) && Number.isFinite(to)) return (from + to) / 2;
    return Number.isFinite(from) ? from + 1 : to - 1;
  }
  let steps = Math.round(value / step);
  steps = Math.max(steps, Math.ceil(least / step), Math.floor(above / step) + 1);
  steps = Math.min(steps, Math.floor(most / step), Math.ceil(below / step) - 1);
  return steps * step;
}
