import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { RolecallError } from '../base/errors.ts';
import { withinDeadline } from './deadline.ts';
import type { ParametersSchema } from './definition.ts';
import { switchFaults } from './schemaSwitches.ts';

/** What is wrong with a parameters schema itself. `path` leads to the member, from the root of the schema. */
export interface SchemaFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** Says in plain English what is wrong with the arguments of one call; an empty list when nothing is. */
export type ArgumentsCheck = (args: unknown) => readonly string[];

export type CompiledParameters =
  | { readonly kind: 'ok'; readonly check: ArgumentsCheck; readonly unknownKeywords: readonly string[] }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] };

/** Enough for any honest schema on a busy machine, short enough that the editor's other work is not held up. */
const compileDeadlineMs = 1000;
const checkDeadlineMs = 400;
const shownErrors = 8;

/** `format` is a remark for the model, as in JSON Schema 2020-12; it is not asserted. */
const common: Options = { strict: false, validateFormats: false, allErrors: true, logger: false };

let metaSchema: Ajv | undefined;

/**
 * Compiles the `parameters` of a tool for checking what a model sent. JSON Schema draft-07 plus `$defs`; no reference is
 * ever fetched. At the root, members that are not declared are refused unless the schema says `additionalProperties`.
 * Compiling and checking are bounded in time (see `deadline.ts`), so a slow `pattern` cannot stop the editor, and what
 * would switch checking off is a fault (see `schemaSwitches.ts`).
 */
export function compileParameters(schema: ParametersSchema): CompiledParameters {
  try {
    const meta = metaSchema ?? draft07();
    // Forgotten while it works: one that was interrupted half-way is not used again.
    metaSchema = undefined;
    const result = withinDeadline(compileDeadlineMs, (): CompiledParameters => {
      const switches = switchFaults(schema);
      const faults = switches.length > 0 ? switches : metaFaults(meta, schema);
      if (faults.length > 0) return { kind: 'invalid', faults };
      const unknownKeywords: string[] = [];
      const validate = compile(schema, unknownKeywords);
      return { kind: 'ok', check: (args) => check(validate, args), unknownKeywords };
    });
    metaSchema = meta;
    return result;
  } catch (error) {
    return { kind: 'invalid', faults: [{ path: wrongPattern(schema, []) ?? [], message: schemaMessage(error) }] };
  }
}

function draft07(): Ajv {
  const ajv = new Ajv(common);
  // Compiles the meta-schema, outside of any deadline; synchronous, as that schema is no `$async` one.
  void ajv.validateSchema({});
  return ajv;
}

function metaFaults(meta: Ajv, schema: ParametersSchema): SchemaFault[] {
  if (meta.validateSchema(schema) === true) return [];
  const faults = new Map<string, SchemaFault>();
  for (const error of meta.errors ?? []) {
    // One wrong `type` fails several branches of the meta-schema; the first says enough for its place.
    if (faults.has(error.instancePath)) continue;
    const message = `${error.message ?? 'is not valid JSON Schema'}${allowed(error)}`;
    faults.set(error.instancePath, { path: pointer(error.instancePath), message });
  }
  return [...faults.values()];
}

/** A fresh instance for each schema: an `$id` of one tool is never visible to another. */
function compile(schema: ParametersSchema, unknownKeywords: string[]): ValidateFunction {
  const found = (message: unknown): void => {
    const keyword = /^strict mode: unknown keyword: "(.*)"$/.exec(String(message))?.[1];
    if (keyword !== undefined && !keyword.startsWith('x-')) unknownKeywords.push(keyword);
  };
  const ajv = new Ajv({
    ...common,
    meta: false,
    validateSchema: false,
    // `toString` is no argument only because every object inherits it.
    ownProperties: true,
    strictSchema: 'log',
    logger: { log() {}, warn: found, error() {} },
  });
  return ajv.compile('additionalProperties' in schema ? schema : { ...schema, additionalProperties: false });
}

function check(validate: ValidateFunction, args: unknown): readonly string[] {
  try {
    // Nothing but `true` is a yes: the validator of an `$async` schema answers with a promise.
    if (withinDeadline(checkDeadlineMs, (): unknown => validate(args)) === true) return [];
  } catch (error) {
    if (error instanceof RolecallError && error.kind === 'timeout') {
      return ['The arguments take too long to check against the schema of the tool. Send shorter ones.'];
    }
    return [`The arguments cannot be checked: ${error instanceof Error ? error.message : String(error)}.`];
  }
  const sentences = [...new Set((validate.errors ?? []).map(sentence))];
  if (sentences.length === 0) return ['The arguments cannot be checked.'];
  const more = sentences.length - shownErrors;
  return more > 0 ? [...sentences.slice(0, shownErrors), `And ${more} more.`] : sentences;
}

function sentence(error: ErrorObject): string {
  const where = place(error.instancePath);
  if (error.keyword === 'required') return `${join(where, String(error.params.missingProperty))} is missing.`;
  if (error.keyword === 'additionalProperties') {
    return `${join(where, String(error.params.additionalProperty))} is not a parameter of this tool.`;
  }
  return `${where === '' ? 'The object of arguments' : where} ${error.message ?? 'is not valid'}${allowed(error)}.`;
}

function allowed(error: ErrorObject): string {
  if (error.keyword === 'enum') return `: ${(error.params.allowedValues as unknown[]).map(short).join(', ')}`;
  if (error.keyword === 'const') return `: ${short(error.params.allowedValue)}`;
  return '';
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** `/list/0/name` as `list[0].name`. */
function place(instancePath: string): string {
  return pointer(instancePath).reduce(join, '');
}

function join(where: string, member: string): string {
  if (/^\d+$/.test(member)) return `${where}[${member}]`;
  return where === '' ? member : `${where}.${member}`;
}

/** RFC 6901. */
function pointer(instancePath: string): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Where a `pattern` stands that does not compile. Only to show the place: a parameter may have this name as well. */
function wrongPattern(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value === 'string') return path.at(-1) === 'pattern' && !isRegex(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = wrongPattern(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

function schemaMessage(error: unknown): string {
  if (error instanceof RolecallError) return 'takes too long to compile';
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError) return 'is nested too deeply, or refers to itself without end';
  if (error instanceof SyntaxError) return `holds a pattern that is no regular expression (${message})`;
  if (/can't resolve reference/.test(message)) {
    return `${message}; only references within this schema are followed, nothing is fetched`;
  }
  return message;
}
