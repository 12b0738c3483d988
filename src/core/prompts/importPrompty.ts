import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { isJsonObject, type JsonObject, parseJsonObject } from '../base/json.ts';
import type { CompletionParameters } from '../completions/request.ts';
import { parameterName, parameterNames } from './promptFields.ts';
import { type PromptDraft, writePromptFile } from './writePromptFile.ts';
import { YamlText } from './yamlText.ts';

/** A prompt file made of a `.prompty` file, and sentences about what could not be converted. */
export interface ImportedPrompt {
  readonly text: string;
  readonly notTaken: readonly string[];
}

/** @param readSample reads a file that the `.prompty` names for its sample; `undefined` if there is none. */
export async function importPrompty(
  source: string,
  readSample: (path: string) => Promise<string | undefined>,
): Promise<ImportedPrompt> {
  const importer = new Importer();
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [whole = '', head = ''] = /^---[ \t]*\n([\s\S]*?)(?:\n---[ \t]*(?:\n|$))/.exec(text) ?? [];
  const yaml = new YamlText(head);
  const value = yaml.isSound && yaml.root ? safeJson(yaml) : {};
  if (!yaml.isSound) importer.leave(l10n.t('The properties between the lines --- are not YAML.'));
  const properties = isJsonObject(value) ? value : {};
  const draft = await importer.draft(properties, text.slice(whole.length), readSample);
  return { text: writePromptFile(draft), notTaken: importer.notTaken };
}

function safeJson(yaml: YamlText): unknown {
  try {
    return yaml.root && yaml.json(yaml.root);
  } catch {
    return {};
  }
}

/** The members that are converted, or are about the format itself; the others are reported. */
const readMembers: readonly string[] = [
  'name',
  'description',
  'model',
  'sample',
  'inputs',
  'outputs',
  'displayName',
  'template',
  '$schema',
  'kind',
  'instructions',
];
/**
 * The members of `model` and its properties. Members of `configuration` that are not converted are reported by their
 * own names.
 */
const readModelMembers: readonly string[] = ['id', 'api', 'apiType', 'configuration', 'parameters', 'options'];
const connectionMembers: readonly string[] = ['connection', 'provider'];
const readInputMembers: readonly string[] = ['name', 'kind', 'type', 'default', 'example', 'sample'];
const readOutputMembers: readonly string[] = ['name', 'kind', 'type', 'description'];
const apiNames: ReadonlyMap<string, string> = new Map([
  ['maxOutputTokens', 'max_completion_tokens'],
  ['stopSequences', 'stop'],
]);

class Importer {
  readonly notTaken: string[] = [];

  leave(sentence: string): void {
    if (!this.notTaken.includes(sentence)) this.notTaken.push(sentence);
  }

  async draft(
    properties: JsonObject,
    body: string,
    readSample: (path: string) => Promise<string | undefined>,
  ): Promise<PromptDraft> {
    this.#leaveOthers(properties, readMembers);
    const model = this.#model(properties.model);
    const schema = this.#schema(properties.outputs);
    const cases = await this.#cases(properties, readSample);
    const instructions = typeof properties.instructions === 'string' ? properties.instructions : '';
    const name = textOf(properties.name) ?? textOf(properties.displayName);
    const description = textOf(properties.description);
    return {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...model,
      ...(schema !== undefined && { responseFormat: 'json_schema', jsonSchema: schema }),
      messages: this.#messages(body.trim() === '' ? instructions : body),
      ...(cases && { cases: [cases] }),
    };
  }

  /** Reports the members that are not in `read`. */
  #leaveOthers(members: JsonObject, read: readonly string[], prefix = ''): void {
    for (const key of Object.keys(members)) {
      if (!read.includes(key)) this.leave(l10n.t('"{0}" has no counterpart.', `${prefix}${key}`));
    }
  }

  #model(model: unknown): Pick<PromptDraft, 'model' | 'parameters'> {
    if (typeof model === 'string') return { model };
    if (!isJsonObject(model)) return {};
    const configuration = isJsonObject(model.configuration) ? model.configuration : {};
    const deployment = ['name', 'azure_deployment'].find((key) => textOf(configuration[key]) !== undefined) ?? '';
    const id = textOf(model.id) ?? textOf(configuration[deployment]);
    const api = textOf(model.apiType) ?? textOf(model.api);
    if (api !== undefined && api !== 'chat') this.leave(l10n.t('The API "{0}": prompt files support only chat.', api));
    const connections = [
      ...connectionMembers.filter((key) => model[key] !== undefined),
      ...Object.keys(configuration)
        .filter((key) => key !== deployment || textOf(model.id) !== undefined)
        .map((key) => `configuration.${key}`),
    ];
    for (const key of connections) this.leave(l10n.t('"model.{0}": Rolecall uses its own connection.', key));
    this.#leaveOthers(model, [...readModelMembers, ...connectionMembers], 'model.');
    const parameters = this.#parameters(isJsonObject(model.parameters) ? model.parameters : model.options);
    return { ...(id !== undefined && { model: id }), ...(Object.keys(parameters).length > 0 && { parameters }) };
  }

  #parameters(fields: unknown): CompletionParameters {
    if (!isJsonObject(fields)) return {};
    const parameters: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(fields)) {
      const { field } = parameterName(apiNames.get(key) ?? key);
      if (field === 'tools') this.leave(l10n.t('The tools: list workspace tools under "rolecall: tools".'));
      else if (field === 'response_format' || !parameterNames.includes(field)) {
        this.leave(l10n.t('The parameter "{0}" has no counterpart.', key));
      } else parameters[field] = value;
    }
    return parameters;
  }

  /** The sample, or the defaults and examples of the inputs, as one case. */
  async #cases(
    { sample, inputs }: JsonObject,
    readSample: (path: string) => Promise<string | undefined>,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const values = this.#defaults(inputs);
    const file = typeof sample === 'string' ? (/^\$\{file:(.*)\}$/.exec(sample)?.[1] ?? sample) : undefined;
    const read = file === undefined ? sample : parseJsonObject((await readSample(file)) ?? '');
    if (file !== undefined && !read)
      this.leave(l10n.t('The sample "{0}", which could not be read.', path.basename(file)));
    if (isJsonObject(read)) for (const [name, value] of Object.entries(read)) values[name] = asText(value);
    for (const value of Object.values(values)) this.#leaveReferences(value);
    return Object.keys(values).length > 0 ? values : undefined;
  }

  #defaults(inputs: unknown): Record<string, string> {
    const values: Record<string, string> = {};
    for (const [name, input] of inputsOf(inputs)) {
      const { kind, type, default: preset, example, sample } = isJsonObject(input) ? input : { default: input };
      if (isJsonObject(input)) this.#leaveOthers(input, readInputMembers, `inputs.${name}.`);
      const of = textOf(kind) ?? textOf(type) ?? '';
      if (otherInputs.includes(of)) this.leave(l10n.t('The input "{0}" of kind "{1}".', name, of));
      const value = preset ?? example ?? sample;
      if (value !== undefined && value !== null) values[name] = asText(value);
    }
    return values;
  }

  /** `outputs` as a strict JSON Schema. */
  #schema(outputs: unknown): string | undefined {
    const members = inputsOf(outputs);
    if (members.length === 0) return undefined;
    const properties = members.map(([name, output]) => {
      if (isJsonObject(output)) this.#leaveOthers(output, readOutputMembers, `outputs.${name}.`);
      const { kind, type, description } = isJsonObject(output) ? output : { kind: output };
      const schema = { type: schemaTypes.get(textOf(kind) ?? textOf(type) ?? '') ?? 'string' };
      return [name, { ...schema, ...(typeof description === 'string' && { description }) }] as const;
    });
    const schema = {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: members.map(([name]) => name),
      additionalProperties: false,
    };
    return JSON.stringify({ name: 'answer', strict: true, schema }, undefined, 2);
  }

  /** Splits at lines that name a role; the text before the first one is the system's. */
  #messages(body: string): { role: string; content: string }[] {
    const pieces = body.split(/^[ \t]*#?[ \t]*(system|user|assistant|developer)(\[[^\]\n]*\])?[ \t]*:[ \t]*$/im);
    const messages: { role: string; content: string }[] = [];
    for (let at = -2; at < pieces.length; at += 3) {
      const role = at < 0 ? 'system' : (pieces[at] ?? '').toLowerCase();
      const content = this.#convert(trimBlankLines(pieces[at + 2] ?? ''));
      if (at >= 0 || content !== '') messages.push({ role, content });
    }
    return messages.length > 0 ? messages : [{ role: 'user', content: '' }];
  }

  /** Converts placeholders of Jinja2 or Mustache; their other features stay as text, and are reported. */
  #convert(text: string): string {
    if (/\{%[\s\S]*?%\}/.test(text)) this.leave(l10n.t('Conditions and loops ({% … %}): kept as text.'));
    if (/\{#[\s\S]*?#\}|\{\{[#^/!>]/.test(text))
      this.leave(l10n.t('Sections and comments of the template: kept as text.'));
    if (/!\[[^\]]*\]\([^)]*\)/.test(text))
      this.leave(l10n.t('Images in the text: list them under "rolecall: images".'));
    this.#leaveReferences(text);
    return text.replace(/\{\{-?\s*([^{}\n]*?)\s*-?\}\}/g, (whole: string, expression: string) => {
      if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(expression)) return `{{${expression}}}`;
      if (!/^[#^/!>]/.test(expression)) this.leave(l10n.t('The expression {0}: kept as text.', whole));
      return whole;
    });
  }

  #leaveReferences(text: string): void {
    for (const [reference] of text.matchAll(/\$\{(?:env|file):[^}]*\}/g)) {
      this.leave(l10n.t('The reference {0}: kept as text.', reference));
    }
  }
}

const otherInputs: readonly string[] = ['thread', 'image', 'file', 'audio'];
const schemaTypes: ReadonlyMap<string, string> = new Map([
  ['number', 'number'],
  ['float', 'number'],
  ['integer', 'integer'],
  ['boolean', 'boolean'],
  ['array', 'array'],
  ['list', 'array'],
  ['object', 'object'],
]);

/** `inputs` and `outputs` are a mapping by name, or a list of entries with a name. */
function inputsOf(value: unknown): (readonly [string, unknown])[] {
  if (isJsonObject(value)) return Object.entries(value);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const name = isJsonObject(item) ? textOf(item.name) : undefined;
    return name === undefined ? [] : [[name, item] as const];
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function trimBlankLines(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}
