import * as l10n from '@vscode/l10n';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { RolecallError } from '../base/errors.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import { withinDeadline } from '../base/withinDeadline.ts';
import { maxSchemaLength, type ParametersSchema } from './definition.ts';
import { workspacePathFormat } from './permissions.ts';

/** A mistake in a parameters schema itself. `path` leads to the member, from the root of the schema. */
export interface SchemaError {
  readonly path: readonly string[];
  readonly message: string;
}

/** The mistakes in the arguments of one call, as English sentences for the model; empty when there are none. */
export type ArgumentsCheck = (args: unknown) => readonly string[];

export type CompiledParameters =
  | { readonly kind: 'ok'; readonly check: ArgumentsCheck; readonly unknownKeywords: readonly string[] }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaError[] };

/** Enough for any honest schema on a busy machine, and short enough not to delay the editor's other work. */
const compileDeadlineMs = 1000;
const checkDeadlineMs = 400;
const shownErrors = 8;

/** `format` is a hint for the model, as in JSON Schema 2020-12, and is not checked; except our own, see `compile`. */
const common: Options = { strict: false, validateFormats: false, allErrors: true, logger: false };

/** Relative, without `..`, and not an option to a program. Links are followed when the tool is called. */
const workspacePath = /^(?![-/\\~]|[A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^\0]+$/s;

let metaSchema: Ajv | undefined;

/**
 * Compiles the `parameters` of a tool for checking what a model sent. JSON Schema draft-07 plus `$defs`; no reference
 * is ever fetched. At the root, members that are not declared are refused unless the schema says
 * `additionalProperties`. Compiling and checking are bounded in time (see `withinDeadline`), so a slow `pattern` cannot
 * stop the editor, and a keyword that would switch checking off is an error (see `uncheckableKeywords`).
 */
export function compileParameters(schema: ParametersSchema): CompiledParameters {
  try {
    const meta = metaSchema ?? draft07();
    // Removed while it works: one that was interrupted half-way is not used again.
    metaSchema = undefined;
    const result = withinDeadline(compileDeadlineMs, (): CompiledParameters => {
      const switches = uncheckableKeywords(schema);
      const faults = switches.length > 0 ? switches : metaFaults(meta, schema);
      if (faults.length > 0) return { kind: 'invalid', faults };
      const unknownKeywords: string[] = [];
      const validate = compile(schema, unknownKeywords);
      return { kind: 'ok', check: (args) => check(validate, args), unknownKeywords };
    });
    metaSchema = meta;
    return result;
  } catch (error) {
    const path = wrongPattern(schema, []) ?? [];
    return { kind: 'invalid', faults: [{ path, message: schemaMessage(error, subjectOf(path)) }] };
  }
}

function draft07(): Ajv {
  const ajv = new Ajv(common);
  // Compiles the meta-schema, outside of any deadline; synchronous, as that schema is no `$async` one.
  void ajv.validateSchema({});
  return ajv;
}

function metaFaults(meta: Ajv, schema: ParametersSchema): SchemaError[] {
  if (meta.validateSchema(schema) === true) return [];
  const faults = new Map<string, SchemaError>();
  for (const error of meta.errors ?? []) {
    // One wrong `type` fails several branches of the meta-schema; one message for each place is enough.
    if (faults.has(error.instancePath)) continue;
    const path = pointer(error.instancePath);
    const message =
      error.message === undefined
        ? l10n.t('{0} is not valid JSON Schema.', subjectOf(path))
        : l10n.t('{0} is not valid JSON Schema: {1}.', subjectOf(path), `${error.message}${allowed(error)}`);
    faults.set(error.instancePath, { path, message });
  }
  return [...faults.values()];
}

/** A fresh instance for each schema: an `$id` of one tool is never visible to another. */
function compile(schema: ParametersSchema, unknownKeywords: string[]): ValidateFunction {
  const collectKeyword = (message: unknown): void => {
    const keyword = /^strict mode: unknown keyword: "(.*)"$/.exec(String(message))?.[1];
    if (keyword !== undefined && !keyword.startsWith('x-')) unknownKeywords.push(keyword);
  };
  const ajv = new Ajv({
    ...common,
    meta: false,
    validateSchema: false,
    // Without this, `toString` would count as an argument, because every object inherits it.
    ownProperties: true,
    strictSchema: 'log',
    logger: { log() {}, warn: collectKeyword, error() {} },
  });
  ajv.removeKeyword('format');
  ajv.addKeyword({
    keyword: 'format',
    type: 'string',
    validate: (format: unknown, value: string) => format !== workspacePathFormat || workspacePath.test(value),
  });
  return ajv.compile('additionalProperties' in schema ? schema : { ...schema, additionalProperties: false });
}

function check(validate: ValidateFunction, args: unknown): readonly string[] {
  try {
    // Only `true` means valid: the validator of an `$async` schema answers with a promise.
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
  const path = place(error.instancePath);
  if (error.keyword === 'required') return `${join(path, String(error.params.missingProperty))} is missing.`;
  if (error.keyword === 'additionalProperties') {
    return `${join(path, String(error.params.additionalProperty))} is not a parameter of this tool.`;
  }
  if (error.keyword === 'format') {
    return `${path} must be a path inside the workspace folder: relative to it, without "..", not beginning with "-".`;
  }
  return `${path === '' ? 'The object of arguments' : path} ${error.message ?? 'is not valid'}${allowed(error)}.`;
}

function allowed(error: ErrorObject): string {
  if (error.keyword === 'enum') return `: ${(error.params.allowedValues as unknown[]).map(short).join(', ')}`;
  if (error.keyword === 'const') return `: ${short(error.params.allowedValue)}`;
  return '';
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return truncateWithEllipsis(text, 80);
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

/** The path of a `pattern` that does not compile. Only to show the place: a parameter may also have this name. */
function wrongPattern(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value === 'string') return path.at(-1) === 'pattern' && !isRegex(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const problem = wrongPattern(member, [...path, name]);
    if (problem !== undefined) return problem;
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

/** The member at `path`, quoted, as the subject of a sentence. */
function subjectOf(path: readonly string[]): string {
  return path.length === 0 ? '"parameters"' : `"${path.join('.')}"`;
}

function schemaMessage(error: unknown, subject: string): string {
  if (error instanceof RolecallError) return l10n.t('{0} takes too long to compile.', subject);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError) {
    return l10n.t('{0} is nested too deeply, or refers to itself endlessly.', subject);
  }
  if (error instanceof SyntaxError) {
    return l10n.t('{0} is not a valid regular expression: {1}.', subject, message);
  }
  if (/can't resolve reference/.test(message)) {
    return l10n.t(
      '{0}: {1}. Only references within this schema are supported; nothing is downloaded.',
      subject,
      message,
    );
  }
  return l10n.t('{0} is not valid JSON Schema: {1}.', subject, message);
}

/**
 * The keywords of a schema that would keep ajv from checking:
 *
 * - `$async` makes the validator return a promise, which is neither valid nor invalid.
 * - `$schema` chooses what the schema itself is checked against, down to a part of the meta-schema that allows anything.
 * - `$data` and remote references need no entry: the first is off, so that its object is no valid value of a keyword,
 *   and nothing is ever fetched. How long a schema or a pattern takes is bounded where it is used.
 */
function uncheckableKeywords(schema: ParametersSchema): SchemaError[] {
  const faults = asyncFaults(schema, []);
  const { $schema } = schema;
  if ($schema !== undefined && !(typeof $schema === 'string' && draft07Address.test($schema))) {
    faults.push({
      path: ['$schema'],
      message: l10n.t('This "$schema" is not supported. Use JSON Schema draft-07, or remove it.'),
    });
  }
  if (JSON.stringify(schema).length > maxSchemaLength) {
    faults.push({ path: [], message: l10n.t('"parameters" is longer than {0} characters.', maxSchemaLength) });
  }
  return faults;
}

const draft07Address = /^http:\/\/json-schema\.org\/(?:draft-07\/)?schema#?$/;

/** Keywords whose value is data. */
const holdsData: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose value has names of the author's own as its members. */
const holdsNames: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'patternProperties',
  'properties',
]);

function asyncFaults(schema: unknown, path: readonly string[]): SchemaError[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]): SchemaError[] => {
    const here = [...path, keyword];
    if (keyword === '$async')
      return [
        {
          path: here,
          message: l10n.t('"$async" is not supported, because it would turn off checking of the arguments.'),
        },
      ];
    if (holdsData.has(keyword)) return [];
    if (!holdsNames.has(keyword)) return asyncFaults(value, here);
    return Object.entries(Object(value)).flatMap(([name, member]) => asyncFaults(member, [...here, name]));
  });
}
