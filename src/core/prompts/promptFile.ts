import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { checkPlaceholders } from './checkPlaceholders.ts';
import { type EvaluatorDefinition, readEvaluators } from './evaluatorDefinitions.ts';
import type { TemplateText } from './placeholders.ts';
import { nameCases, type PromptCase, readCases } from './promptCases.ts';
import { parameterName, promptFields, responseFormats, roles } from './promptFields.ts';
import { type ParameterList, readParameters } from './promptParameters.ts';
import { YamlReader } from './yamlReader.ts';
import { type Member, type PromptProblem, type YamlNode, YamlText } from './yamlText.ts';

/** A text of the file with its range. */
export interface LocatedText extends TextRange {
  readonly value: string;
}

/** One turn of the conversation. */
export interface PromptMessage extends TextRange {
  /** In lower case. */
  readonly role: string;
  readonly name?: string;
  readonly content: readonly MessagePart[];
}

/** A part of a message: it has one text, or the parts of an image message. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: TemplateText }
  | { readonly type: 'image'; readonly url: TemplateText; readonly detail?: string };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly jsonSchema: JsonObject };

/** The content of `rolecall`, which other programs ignore. */
export interface PromptExtensions {
  readonly models: readonly LocatedText[];
  readonly tools: readonly LocatedText[];
  /** Paths, with placeholders. */
  readonly images: readonly TemplateText[];
  /** Paths of data files. */
  readonly cases: readonly LocatedText[];
  /** The number of requests for each case and seed; 1 unless set. */
  readonly repeats: number;
  /** The number of answers to a case that must pass; absent for all. */
  readonly passes?: number;
  readonly seeds: readonly number[];
  readonly judge?: LocatedText;
}

/** A prompt file, as far as it could be read. */
export interface PromptFile {
  readonly name?: string;
  readonly description?: string;
  readonly model?: LocatedText;
  readonly parameters: ParameterList;
  readonly messages: readonly PromptMessage[];
  readonly responseFormat?: ResponseFormat;
  /** The cases in `testData`; `readCaseFile` reads those of data files. */
  readonly cases: readonly PromptCase[];
  /** The evaluators of the file, then those of `rolecall`. */
  readonly evaluators: readonly EvaluatorDefinition[];
  readonly extensions: PromptExtensions;
  /** The variables that messages and evaluators contain, in order. */
  readonly variables: readonly string[];
  /** All problems of the file, in the order of the text. */
  readonly problems: readonly PromptProblem[];
}

/** True if the file cannot run without a change. */
export function hasErrors({ problems }: Pick<PromptFile, 'problems'>): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

/** Reads `*.prompt.yml`. Never throws: anything that cannot be read is left out, and is a problem at its place. */
export function readPromptFile(text: string): PromptFile {
  const yaml = new YamlText(text);
  const reader = new YamlReader(yaml);
  const root = yaml.members(yaml.root);
  const firstLine = { start: 0, end: Math.max(1, text.search(/\r|\n|$/)) };
  if (!root && yaml.isSound) {
    reader.error(firstLine, 'noMapping', l10n.t('A prompt file must be a YAML mapping with at least "messages".'));
  }
  const read = readMembers(reader, new Map((root ?? []).map((member) => [member.key, member])), firstLine);
  // If YAML cannot read a text, every other problem would only follow from that.
  return { ...read, problems: yaml.isSound ? sorted([...yaml.problems, ...reader.problems]) : yaml.problems };
}

function sorted(problems: readonly PromptProblem[]): PromptProblem[] {
  return problems.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

function readMembers(reader: YamlReader, members: Map<string, Member>, whole: TextRange): Omit<PromptFile, 'problems'> {
  reportStrangers(reader, members);
  const texts = { name: reader.text(members.get('name')), description: reader.text(members.get('description')) };
  const messages = readMessages(reader, members, whole);
  const cases = readCases(reader, members.get('testData'));
  const extensionMember = members.get('rolecall');
  const own = extensionMember?.value
    ? reader.fields(extensionMember.value, 'rolecall', extensionMember.range)
    : undefined;
  const evaluators = [
    ...readEvaluators(reader, members.get('evaluators'), false),
    ...readEvaluators(reader, own?.get('evaluators'), true),
  ];
  const extensions = readExtensions(reader, own ?? new Map());
  const parameters = readParameters(reader, members.get('modelParameters'));
  const named = nameCases(cases.map(({ promptCase }) => promptCase));
  const variables = checkPlaceholders(reader, {
    messages,
    evaluators,
    extensions,
    cases: cases.map(({ keys }, index) => ({ promptCase: named[index] as PromptCase, keys })),
  });
  checkPasses(reader, own?.get('passes'), extensions, parameters);
  checkSeeds(reader, extensions, parameters);
  return {
    ...(texts.name !== undefined && { name: texts.name }),
    ...(texts.description !== undefined && { description: texts.description }),
    ...readModel(reader, members.get('model')),
    ...readResponseFormat(reader, members),
    parameters,
    messages,
    cases: named,
    evaluators,
    extensions,
    variables,
  };
}

/** Keys of other formats with the same file extension, whose prompt is not read. */
const otherFormats: readonly string[] = ['system', 'user', 'prompt', 'prompts', 'template', 'variables', 'config'];

function reportStrangers(reader: YamlReader, members: Map<string, Member>): void {
  for (const { key, keyRange, value } of members.values()) {
    if (Object.hasOwn(promptFields.file, key)) continue;
    const isParameter = parameterName(key).isSpecified;
    if (isParameter) {
      const message = l10n.t('"{0}" has no effect here. Put it under "modelParameters".', key);
      reader.report(keyRange, 'warning', 'misplacedParameter', message);
    } else if (otherFormats.includes(key)) {
      const message = l10n.t('"{0}" belongs to another format of prompt files. Rolecall reads "messages".', key);
      reader.report(keyRange, 'warning', 'otherFormat', message);
    } else {
      reader.unknownKey(key, keyRange, 'file');
    }
    if (key !== 'config') continue;
    for (const inner of reader.yaml.members(value) ?? []) {
      if (!parameterName(inner.key).isSpecified) continue;
      const message = l10n.t('"{0}" has no effect here. Put it under "modelParameters".', inner.key);
      reader.report(inner.keyRange, 'warning', 'misplacedParameter', message);
    }
  }
}

function readModel(reader: YamlReader, member: Member | undefined): { model?: LocatedText } {
  if (!member?.value) return {};
  if (reader.yaml.members(member.value)) {
    const message = l10n.t('"model" must be the name of a model. This mapping is not read.');
    reader.report(member.range, 'warning', 'modelMapping', message);
    return {};
  }
  const value = reader.text(member)?.trim();
  return value ? { model: { value, ...member.range } } : {};
}

function readMessages(reader: YamlReader, members: Map<string, Member>, whole: TextRange): PromptMessage[] {
  const member = members.get('messages');
  const messages = reader.items(member).flatMap((node) => readMessage(reader, node));
  if (messages.length === 0 && (reader.yaml.items(member?.value) ?? []).length === 0) {
    reader.error(member?.keyRange ?? whole, 'noMessages', l10n.t('There are no messages to send.'));
  }
  return messages;
}

function readMessage(reader: YamlReader, node: YamlNode): PromptMessage[] {
  const range = reader.yaml.rangeOf(node);
  const fields = reader.fields(node, 'message', range);
  if (!fields) return [];
  const role = reader.text(fields.get('role'))?.trim().toLowerCase();
  if (!role) {
    reader.error(
      fields.get('role')?.range ?? range,
      'noRole',
      l10n.t('A message needs a role: system, user or assistant.'),
    );
  } else if (!(roles as readonly string[]).includes(role)) {
    const message = l10n.t('"{0}" is not a usual role. It is sent as it is.', role);
    const where = fields.get('role')?.range ?? range;
    reader.unknownName(where, { severity: 'warning', code: 'unusualRole', message }, nearest(role, roles));
  }
  const content = readContent(reader, fields.get('content'), range);
  const name = reader.text(fields.get('name'));
  if (!role || !content) return [];
  return [{ role, content, ...range, ...(name !== undefined && { name }) }];
}

function readContent(reader: YamlReader, member: Member | undefined, range: TextRange): MessagePart[] | undefined {
  const parts = member && reader.yaml.items(member.value);
  if (parts) return parts.flatMap((part) => readPart(reader, part));
  const text = reader.template(member);
  if (text) return [{ type: 'text', text }];
  // A value that is not text has been reported.
  if (!member?.value || reader.yaml.scalar(member.value)) {
    reader.error(member?.keyRange ?? range, 'noContent', l10n.t('A message needs content. It can be empty: "".'));
  }
  return undefined;
}

/** A part of an image message, in the form of the API. */
function readPart(reader: YamlReader, node: YamlNode): MessagePart[] {
  const range = reader.yaml.rangeOf(node);
  const members = new Map((reader.yaml.members(node) ?? []).map((member) => [member.key, member]));
  const type = reader.yaml.scalarText(members.get('type')?.value);
  if (type === 'text') {
    const text = reader.template(members.get('text'));
    if (text) return [{ type, text }];
  }
  if (type === 'image_url') {
    const image = new Map((reader.yaml.members(members.get('image_url')?.value) ?? []).map((each) => [each.key, each]));
    const url = reader.template(image.get('url'));
    const detail = reader.text(image.get('detail'));
    if (url) return [{ type: 'image', url, ...(detail !== undefined && { detail }) }];
  }
  const message = l10n.t('A part must be of type "text" with text, or "image_url" with a url.');
  reader.error(range, 'badPart', message);
  return [];
}

function readResponseFormat(reader: YamlReader, members: Map<string, Member>): { responseFormat?: ResponseFormat } {
  const schema = members.get('jsonSchema');
  const member = members.get('responseFormat');
  const type = reader.text(member);
  if (type !== 'json_schema' && schema?.value) {
    const message = l10n.t('"jsonSchema" has no effect without "responseFormat: json_schema".');
    reader.report(schema.keyRange, 'warning', 'unusedSchema', message);
  }
  if (type === undefined || !member) return {};
  if (type === 'text' || type === 'json_object') return { responseFormat: { type } };
  if (type !== 'json_schema') {
    const message = l10n.t('"responseFormat" must be one of {0}.', responseFormats.join(', '));
    const problem = { severity: 'error', code: 'badResponseFormat', message } as const;
    reader.unknownName(member.range, problem, nearest(type, responseFormats));
    return {};
  }
  const jsonSchema = readJsonSchema(reader, schema, member);
  return jsonSchema ? { responseFormat: { type, jsonSchema } } : {};
}

function readJsonSchema(reader: YamlReader, member: Member | undefined, format: Member): JsonObject | undefined {
  if (!member?.value) {
    reader.error(format.range, 'noSchema', l10n.t('"responseFormat: json_schema" needs "jsonSchema".'));
    return undefined;
  }
  const text = reader.yaml.members(member.value) ? undefined : reader.text(member);
  let value: unknown;
  try {
    value = text === undefined ? reader.json(member) : JSON.parse(text);
  } catch (error) {
    reader.error(member.range, 'badJson', l10n.t('"jsonSchema" is not JSON: {0}', (error as SyntaxError).message));
    return undefined;
  }
  if (text === undefined && isJsonObject(value)) {
    const message = l10n.t('Other programs expect JSON text here and reject a mapping.');
    reader.report(member.keyRange, 'information', 'schemaMapping', message);
  }
  if (isJsonObject(value) && typeof value.name === 'string' && isJsonObject(value.schema)) return value;
  reader.error(member.range, 'badSchema', l10n.t('"jsonSchema" must have "name", a text, and "schema", an object.'));
  return undefined;
}

function readExtensions(reader: YamlReader, own: Map<string, Member>): PromptExtensions {
  const texts = (key: string): LocatedText[] =>
    reader.items(own.get(key), true).flatMap((node) => {
      const value = reader.itemText(node)?.trim();
      return value ? [{ value, ...reader.yaml.rangeOf(node) }] : [];
    });
  const seeds = reader.items(own.get('seeds'), true).flatMap((node) => {
    const seed = reader.yaml.scalar(node)?.value;
    if (Number.isInteger(seed)) return [seed as number];
    reader.error(reader.yaml.rangeOf(node), 'wrongType', l10n.t('A seed must be a whole number.'));
    return [];
  });
  const repeats = reader.wholeNumber(own.get('repeats')) ?? 1;
  const passes = reader.wholeNumber(own.get('passes'));
  const judge = own.get('judge');
  const judgeName = reader.text(judge, l10n.t('"judge" must be the ID of a model.'))?.trim();
  return {
    models: texts('models'),
    tools: texts('tools'),
    images: texts('images').map(({ value, ...range }) => reader.templateAt(value, range)),
    cases: texts('cases'),
    repeats,
    ...(passes !== undefined && { passes }),
    seeds,
    ...(judge && judgeName && { judge: { value: judgeName, ...judge.range } }),
  };
}

function checkSeeds(reader: YamlReader, { seeds }: PromptExtensions, { entries }: ParameterList): void {
  const seed = entries.find(({ field }) => field === 'seed');
  if (!seed || seeds.length === 0) return;
  const message = l10n.t('"seed" is not sent because "seeds" is set, and each case is asked with those.');
  reader.report(seed.keyRange, 'warning', 'seedAndSeeds', message);
}

function checkPasses(
  reader: YamlReader,
  member: Member | undefined,
  { passes = 0, repeats, seeds }: PromptExtensions,
  { values }: ParameterList,
): void {
  const answers = repeats * Math.max(1, seeds.length) * (values.n ?? 1);
  if (passes <= answers || !member) return;
  reader.error(member.range, 'tooManyPasses', l10n.t('A case has only {0} answers.', answers));
}
