import * as l10n from '@vscode/l10n';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { checkPlaceholders } from './checkPlaceholders.ts';
import { type EvaluatorDefinition, readEvaluators } from './evaluatorDefinitions.ts';
import type { TemplateText } from './placeholders.ts';
import { nameCases, type PromptCase, readCases } from './promptCases.ts';
import { parameterName, promptFields, responseFormats, roles } from './promptFields.ts';
import { type ParameterList, readParameters } from './promptParameters.ts';
import { Reading } from './reading.ts';
import { type Member, type PromptProblem, type TextRange, type YamlNode, YamlText } from './yamlText.ts';

/** A text of the file, and where it stands. */
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

/** A message has one text, or the parts of an image message. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: TemplateText }
  | { readonly type: 'image'; readonly url: TemplateText; readonly detail?: string };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly jsonSchema: JsonObject };

/** What stands under `rolecall`, which other programs ignore. */
export interface PromptExtensions {
  readonly models: readonly LocatedText[];
  readonly tools: readonly LocatedText[];
  /** Paths, with placeholders. */
  readonly images: readonly TemplateText[];
  /** Paths of data files. */
  readonly cases: readonly LocatedText[];
  /** How often each case is asked with each seed; 1 unless set. */
  readonly repeats: number;
  /** How many answers to a case must pass; absent for all. */
  readonly passes?: number;
  readonly seeds: readonly number[];
  readonly judge?: LocatedText;
}

/** A prompt file, as much of it as could be read. */
export interface PromptFile {
  readonly name?: string;
  readonly description?: string;
  readonly model?: LocatedText;
  readonly parameters: ParameterList;
  readonly messages: readonly PromptMessage[];
  readonly responseFormat?: ResponseFormat;
  /** Of `testData`; those of data files are read by `readCaseFile`. */
  readonly cases: readonly PromptCase[];
  /** Of `evaluators`, then those of `rolecall`. */
  readonly evaluators: readonly EvaluatorDefinition[];
  readonly extensions: PromptExtensions;
  /** The variables that messages and evaluators contain, in order. */
  readonly variables: readonly string[];
  /** Everything that is not understood, or not meant that way, at its place and in the order of the text. */
  readonly problems: readonly PromptProblem[];
}

/** True where a file must be changed before it can run. */
export function hasErrors({ problems }: Pick<PromptFile, 'problems'>): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

/** Reads `*.prompt.yml`. Never throws: what cannot be read is left out, and is a problem at its place. */
export function readPromptFile(text: string): PromptFile {
  const yaml = new YamlText(text);
  const reading = new Reading(yaml);
  const root = yaml.members(yaml.root);
  const firstLine = { start: 0, end: Math.max(1, text.search(/\r|\n|$/)) };
  if (!root && yaml.isSound) {
    reading.error(firstLine, 'noMapping', l10n.t('A prompt file must be a YAML mapping with at least "messages".'));
  }
  const read = readMembers(reading, new Map((root ?? []).map((member) => [member.key, member])), firstLine);
  // Of a text that YAML cannot read, everything else that could be said would follow from that.
  return { ...read, problems: yaml.isSound ? sorted([...yaml.problems, ...reading.problems]) : yaml.problems };
}

function sorted(problems: readonly PromptProblem[]): PromptProblem[] {
  return problems.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

function readMembers(reading: Reading, members: Map<string, Member>, whole: TextRange): Omit<PromptFile, 'problems'> {
  reportStrangers(reading, members);
  const texts = { name: reading.text(members.get('name')), description: reading.text(members.get('description')) };
  const messages = readMessages(reading, members, whole);
  const cases = readCases(reading, members.get('testData'));
  const ours = members.get('rolecall');
  const own = ours?.value ? reading.fields(ours.value, 'rolecall', ours.range) : undefined;
  const evaluators = [
    ...readEvaluators(reading, members.get('evaluators'), false),
    ...readEvaluators(reading, own?.get('evaluators'), true),
  ];
  const extensions = readExtensions(reading, own ?? new Map());
  const parameters = readParameters(reading, members.get('modelParameters'));
  const named = nameCases(cases.map(({ one }) => one));
  const variables = checkPlaceholders(reading, {
    messages,
    evaluators,
    extensions,
    cases: cases.map(({ keys }, index) => ({ one: named[index] as PromptCase, keys })),
  });
  checkPasses(reading, own?.get('passes'), extensions, parameters);
  checkSeeds(reading, extensions, parameters);
  return {
    ...(texts.name !== undefined && { name: texts.name }),
    ...(texts.description !== undefined && { description: texts.description }),
    ...readModel(reading, members.get('model')),
    ...readResponseFormat(reading, members),
    parameters,
    messages,
    cases: named,
    evaluators,
    extensions,
    variables,
  };
}

/** Keys of other formats that share the file extension, whose prompt is not read. */
const otherFormats: readonly string[] = ['system', 'user', 'prompt', 'prompts', 'template', 'variables', 'config'];

function reportStrangers(reading: Reading, members: Map<string, Member>): void {
  for (const { key, keyRange, value } of members.values()) {
    if (Object.hasOwn(promptFields.file, key)) continue;
    const isParameter = parameterName(key).isSpecified;
    if (isParameter) {
      const message = l10n.t('"{0}" has no effect here. Put it under "modelParameters".', key);
      reading.report(keyRange, 'warning', 'misplacedParameter', message);
    } else if (otherFormats.includes(key)) {
      const message = l10n.t('"{0}" belongs to another format of prompt files. Rolecall reads "messages".', key);
      reading.report(keyRange, 'warning', 'otherFormat', message);
    } else {
      reading.unknownKey(key, keyRange, 'file');
    }
    if (key !== 'config') continue;
    for (const inner of reading.yaml.members(value) ?? []) {
      if (!parameterName(inner.key).isSpecified) continue;
      const message = l10n.t('"{0}" has no effect here. Put it under "modelParameters".', inner.key);
      reading.report(inner.keyRange, 'warning', 'misplacedParameter', message);
    }
  }
}

function readModel(reading: Reading, member: Member | undefined): { model?: LocatedText } {
  if (!member?.value) return {};
  if (reading.yaml.members(member.value)) {
    const message = l10n.t('"model" must be the name of a model. This mapping is not read.');
    reading.report(member.range, 'warning', 'modelMapping', message);
    return {};
  }
  const value = reading.text(member)?.trim();
  return value ? { model: { value, ...member.range } } : {};
}

function readMessages(reading: Reading, members: Map<string, Member>, whole: TextRange): PromptMessage[] {
  const member = members.get('messages');
  const messages = reading.items(member).flatMap((node) => readMessage(reading, node));
  if (messages.length === 0 && (reading.yaml.items(member?.value) ?? []).length === 0) {
    reading.error(member?.keyRange ?? whole, 'noMessages', l10n.t('There are no messages to send.'));
  }
  return messages;
}

function readMessage(reading: Reading, node: YamlNode): PromptMessage[] {
  const range = reading.yaml.rangeOf(node);
  const fields = reading.fields(node, 'message', range);
  if (!fields) return [];
  const role = reading.text(fields.get('role'))?.trim().toLowerCase();
  if (!role) {
    reading.error(
      fields.get('role')?.range ?? range,
      'noRole',
      l10n.t('A message needs a role: system, user or assistant.'),
    );
  } else if (!(roles as readonly string[]).includes(role)) {
    const message = l10n.t('"{0}" is not a usual role. It is sent as it is.', role);
    const where = fields.get('role')?.range ?? range;
    reading.unknownName(where, { severity: 'warning', code: 'unusualRole', message }, nearest(role, roles));
  }
  const content = readContent(reading, fields.get('content'), range);
  const name = reading.text(fields.get('name'));
  if (!role || !content) return [];
  return [{ role, content, ...range, ...(name !== undefined && { name }) }];
}

function readContent(reading: Reading, member: Member | undefined, range: TextRange): MessagePart[] | undefined {
  const parts = member && reading.yaml.items(member.value);
  if (parts) return parts.flatMap((part) => readPart(reading, part));
  const text = reading.template(member);
  if (text) return [{ type: 'text', text }];
  // A value that is no text has been reported.
  if (!member?.value || reading.yaml.scalar(member.value)) {
    reading.error(member?.keyRange ?? range, 'noContent', l10n.t('A message needs content. It can be empty: "".'));
  }
  return undefined;
}

/** A part of an image message, in the form of the API. */
function readPart(reading: Reading, node: YamlNode): MessagePart[] {
  const range = reading.yaml.rangeOf(node);
  const members = new Map((reading.yaml.members(node) ?? []).map((member) => [member.key, member]));
  const type = reading.yaml.scalarText(members.get('type')?.value);
  if (type === 'text') {
    const text = reading.template(members.get('text'));
    if (text) return [{ type, text }];
  }
  if (type === 'image_url') {
    const image = new Map(
      (reading.yaml.members(members.get('image_url')?.value) ?? []).map((each) => [each.key, each]),
    );
    const url = reading.template(image.get('url'));
    const detail = reading.text(image.get('detail'));
    if (url) return [{ type: 'image', url, ...(detail !== undefined && { detail }) }];
  }
  const message = l10n.t('A part must be of type "text" with text, or "image_url" with a url.');
  reading.error(range, 'badPart', message);
  return [];
}

function readResponseFormat(reading: Reading, members: Map<string, Member>): { responseFormat?: ResponseFormat } {
  const schema = members.get('jsonSchema');
  const member = members.get('responseFormat');
  const type = reading.text(member);
  if (type !== 'json_schema' && schema?.value) {
    const message = l10n.t('"jsonSchema" has no effect without "responseFormat: json_schema".');
    reading.report(schema.keyRange, 'warning', 'unusedSchema', message);
  }
  if (type === undefined || !member) return {};
  if (type === 'text' || type === 'json_object') return { responseFormat: { type } };
  if (type !== 'json_schema') {
    const message = l10n.t('"responseFormat" must be one of {0}.', responseFormats.join(', '));
    const problem = { severity: 'error', code: 'badResponseFormat', message } as const;
    reading.unknownName(member.range, problem, nearest(type, responseFormats));
    return {};
  }
  const jsonSchema = readJsonSchema(reading, schema, member);
  return jsonSchema ? { responseFormat: { type, jsonSchema } } : {};
}

function readJsonSchema(reading: Reading, member: Member | undefined, format: Member): JsonObject | undefined {
  if (!member?.value) {
    reading.error(format.range, 'noSchema', l10n.t('"responseFormat: json_schema" needs "jsonSchema".'));
    return undefined;
  }
  const text = reading.yaml.members(member.value) ? undefined : reading.text(member);
  let value: unknown;
  try {
    value = text === undefined ? reading.json(member) : JSON.parse(text);
  } catch (error) {
    reading.error(member.range, 'badJson', l10n.t('"jsonSchema" is not JSON: {0}', (error as SyntaxError).message));
    return undefined;
  }
  if (text === undefined && isJsonObject(value)) {
    const message = l10n.t('Other programs want JSON text here, and refuse a mapping.');
    reading.report(member.keyRange, 'information', 'schemaMapping', message);
  }
  if (isJsonObject(value) && typeof value.name === 'string' && isJsonObject(value.schema)) return value;
  reading.error(member.range, 'badSchema', l10n.t('"jsonSchema" must have "name", a text, and "schema", an object.'));
  return undefined;
}

function readExtensions(reading: Reading, own: Map<string, Member>): PromptExtensions {
  const texts = (key: string): LocatedText[] =>
    reading.items(own.get(key), true).flatMap((node) => {
      const value = reading.itemText(node)?.trim();
      return value ? [{ value, ...reading.yaml.rangeOf(node) }] : [];
    });
  const seeds = reading.items(own.get('seeds'), true).flatMap((node) => {
    const seed = reading.yaml.scalar(node)?.value;
    if (Number.isInteger(seed)) return [seed as number];
    reading.error(reading.yaml.rangeOf(node), 'wrongType', l10n.t('A seed must be a whole number.'));
    return [];
  });
  const repeats = reading.wholeNumber(own.get('repeats')) ?? 1;
  const passes = reading.wholeNumber(own.get('passes'));
  const judge = own.get('judge');
  const judgeName = reading.text(judge, l10n.t('"judge" must be the ID of a model.'))?.trim();
  return {
    models: texts('models'),
    tools: texts('tools'),
    images: texts('images').map(({ value, ...range }) => reading.templateAt(value, range)),
    cases: texts('cases'),
    repeats,
    ...(passes !== undefined && { passes }),
    seeds,
    ...(judge && judgeName && { judge: { value: judgeName, ...judge.range } }),
  };
}

function checkSeeds(reading: Reading, { seeds }: PromptExtensions, { entries }: ParameterList): void {
  const seed = entries.find(({ field }) => field === 'seed');
  if (!seed || seeds.length === 0) return;
  const message = l10n.t('"seed" is not sent because "seeds" is set: each case is asked with those.');
  reading.report(seed.keyRange, 'warning', 'seedAndSeeds', message);
}

function checkPasses(
  reading: Reading,
  member: Member | undefined,
  { passes = 0, repeats, seeds }: PromptExtensions,
  { values }: ParameterList,
): void {
  const answers = repeats * Math.max(1, seeds.length) * (values.n ?? 1);
  if (passes <= answers || !member) return;
  reading.error(member.range, 'tooManyPasses', l10n.t('A case has only {0} answers.', answers));
}
