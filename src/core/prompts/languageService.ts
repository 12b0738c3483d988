import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { usualValues } from '../completions/parameters.ts';
import { COMPLETION_VARIABLE } from './checkPlaceholders.ts';
import { findPlaceholders, placeholderKind } from './placeholders.ts';
import {
  camelCase,
  type FieldLevel,
  type PromptField,
  parameterName,
  parameterNames,
  promptFields,
} from './promptFields.ts';
import { type PromptFile, readPromptFile } from './promptFile.ts';
import { type OutlinePlace, outlineAt } from './yamlOutline.ts';
import { type Member, type YamlNode, YamlText } from './yamlText.ts';

/** What the editor knows besides the text. */
export interface LanguageContext {
  /** IDs of the service. */
  readonly models: readonly string[];
  /** Names of the workspace's tools. */
  readonly tools: readonly string[];
  /** Paths that a file can name, relative to it. */
  readonly files?: readonly string[];
  /** What a field of the request is for, in Markdown. */
  describeParameter(field: string): string | undefined;
  /** Another extension completes the keys of the format: only variables, models and Rolecall's own keys are offered. */
  readonly besideYamlExtension?: boolean;
}

export interface PromptCompletion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'variable' | 'model' | 'tool' | 'file';
  /** Replaces {@link range}; if `isSnippet`, the cursor goes to `$1`. */
  readonly insertText: string;
  readonly isSnippet: boolean;
  readonly range: TextRange;
  /** Markdown. */
  readonly documentation?: string;
}

export interface PromptHover {
  readonly range: TextRange;
  readonly markdown: string;
}

type Level = FieldLevel | 'parameters' | 'case';

/** The completions at `offset`. */
export function promptCompletions(text: string, offset: number, context: LanguageContext): PromptCompletion[] {
  const variables = variableCompletions(text, offset, context);
  if (variables) return variables;
  const place = outlineAt(text, offset);
  if (place.isInBlock) return [];
  const { path, key } = place;
  if (key !== undefined) return valueCompletions(place, key, levelOf(path), context);
  if (path.at(-1) === '[]') {
    const items = itemCompletions(place, context);
    if (items) return items;
  }
  return keyCompletions(text, place, levelOf(path), context);
}

/** After `{{`: the variables of the cases; `undefined` anywhere else. */
function variableCompletions(text: string, offset: number, context: LanguageContext): PromptCompletion[] | undefined {
  const [whole, typed = ''] = /\{\{([^{}\r\n]*)$/.exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  if (whole === undefined) return undefined;
  const [rest = ''] = /^[\p{L}\p{N}_.:/-]*\}{0,2}/u.exec(text.slice(offset)) ?? [];
  const range = { start: offset - typed.length, end: offset + rest.length };
  const { cases, variables } = readPromptFile(text);
  const names = new Set([...cases.flatMap(({ values }) => [...values.keys()]), ...variables, 'input']);
  if (outlineAt(text, offset).path.includes('llm')) names.add(COMPLETION_VARIABLE);
  const files = (context.files ?? []).map((file) => `file:${file}`);
  return [...[...names].filter((name) => name !== typed || rest !== ''), ...files].map((name) => ({
    label: name,
    kind: name.startsWith('file:') ? 'file' : 'variable',
    insertText: `${name}}}`,
    isSnippet: false,
    range,
    documentation: name.startsWith('file:') ? l10n.t('The text of this file.') : l10n.t('A value of the case.'),
  }));
}

function levelOf(path: readonly string[]): Level | undefined {
  const text = path.join('/').replace(/^rolecall\/evaluators/, 'evaluators');
  return levels.get(text);
}

const levels: ReadonlyMap<string, Level> = new Map([
  ['', 'file'],
  ['modelParameters', 'parameters'],
  ['messages/[]', 'message'],
  ['testData/[]', 'case'],
  ['evaluators/[]', 'evaluator'],
  ['evaluators/[]/string', 'string'],
  ['evaluators/[]/llm', 'llm'],
  ['evaluators/[]/llm/choices/[]', 'choice'],
  ['evaluators/[]/llm/modelParameters', 'parameters'],
  ['evaluators/[]/regex', 'regex'],
  ['evaluators/[]/toolCall', 'toolCall'],
  ['rolecall', 'rolecall'],
]);

/** Also `undefined` for names that every object inherits. */
function fieldAt(level: FieldLevel, key: string): PromptField | undefined {
  return Object.hasOwn(promptFields[level], key) ? promptFields[level][key] : undefined;
}

function keyCompletions(
  text: string,
  { range, siblings, path }: OutlinePlace,
  level: Level | undefined,
  context: LanguageContext,
): PromptCompletion[] {
  if (level === undefined) return [];
  if (level === 'case') return caseKeys(text, range, siblings);
  const isOfferedHere = (key: string) => !context.besideYamlExtension || !isInPublicSchema(path, level, key);
  if (level === 'parameters') {
    if (!isOfferedHere('')) return [];
    const present = siblings.map((key) => parameterName(key).field);
    const isSnake = siblings.some((key) => key.includes('_'));
    return parameterNames
      .filter((field) => !present.includes(field))
      .map((field) => {
        const label = isSnake ? field : camelCase(field);
        return { ...keyCompletion(label, range, 'text'), ...documented(context.describeParameter(field)) };
      });
  }
  const fields = Object.entries(promptFields[level]).filter(([key]) => !siblings.includes(key) && isOfferedHere(key));
  return fields.map(([key, { shape, describe }]) => ({
    ...keyCompletion(key, range, shape),
    documentation: describe(),
  }));
}

/** Keys that the schema of this format in SchemaStore has: another extension completes them by it. */
const publicKeys: Readonly<Partial<Record<Level, readonly string[]>>> = {
  file: Object.keys(promptFields.file).filter((key) => key !== 'rolecall'),
  message: Object.keys(promptFields.message),
  evaluator: ['name', 'string'],
  string: Object.keys(promptFields.string),
};

function isInPublicSchema(path: readonly string[], level: Level, key: string): boolean {
  if (path[0] === 'rolecall') return false;
  if (level === 'parameters') return path[0] === 'modelParameters';
  return publicKeys[level]?.includes(key) === true;
}

function keyCompletion(label: string, range: TextRange, shape: PromptField['shape']): PromptCompletion {
  const rest: Readonly<Record<PromptField['shape'], string>> = {
    text: ': $1',
    block: ': |\n  $1',
    mapping: ':\n  $1',
    list: ':\n  - $1',
  };
  return { label, kind: 'key', insertText: `${label}${rest[shape]}`, isSnippet: true, range };
}

function documented(documentation: string | undefined): { documentation?: string } {
  return documentation === undefined ? {} : { documentation };
}

/** The variables of the prompt that this case does not have. */
function caseKeys(text: string, range: TextRange, siblings: readonly string[]): PromptCompletion[] {
  const names = new Set([...readPromptFile(text).variables, 'name', 'expected']);
  return [...names].filter((name) => !siblings.includes(name)).map((name) => keyCompletion(name, range, 'text'));
}

/** The items of a list of names. */
function itemCompletions({ path, range }: OutlinePlace, context: LanguageContext): PromptCompletion[] | undefined {
  const files = context.files ?? [];
  const values = (labels: readonly string[], kind: PromptCompletion['kind']) =>
    labels.map((label) => valueCompletion(label, range, kind));
  switch (path.join('/')) {
    case 'rolecall/models/[]':
      return values(context.models, 'model');
    case 'rolecall/tools/[]':
      return values(context.tools, 'tool');
    case 'rolecall/cases/[]':
      return values(
        files.filter((file) => /\.(?:jsonl|csv)$/i.test(file)),
        'file',
      );
    case 'rolecall/images/[]':
      return values(
        files.filter((file) => /\.(?:png|jpe?g|gif|webp)$/i.test(file)),
        'file',
      );
    default:
      return undefined;
  }
}

function valueCompletion(label: string, range: TextRange, kind: PromptCompletion['kind'] = 'value'): PromptCompletion {
  // Words that YAML reads as something else.
  const isPlain = /^[\p{L}\p{N}_./-][\p{L}\p{N}_./:-]*$/u.test(label) && !/:$/.test(label);
  return { label, kind, insertText: isPlain ? label : JSON.stringify(label), isSnippet: false, range };
}

function valueCompletions(
  { range, path }: OutlinePlace,
  key: string,
  level: Level | undefined,
  context: LanguageContext,
): PromptCompletion[] {
  const isModel = (level === 'file' && key === 'model') || (level === 'llm' && (key === 'modelId' || key === 'model'));
  if (isModel || (level === 'rolecall' && key === 'judge')) {
    return context.models.map((model) => valueCompletion(model, range, 'model'));
  }
  if (level === 'toolCall' && key === 'name') return context.tools.map((tool) => valueCompletion(tool, range, 'tool'));
  if (level === undefined || level === 'case') return [];
  if (context.besideYamlExtension && isInPublicSchema(path, level, key)) return [];
  if (level === 'parameters') {
    const { field } = parameterName(key);
    return (parameterValues.get(field) ?? usualValues(field)).map((value) => valueCompletion(value, range));
  }
  return (fieldAt(level, key)?.values ?? []).map((value) => valueCompletion(value, range));
}

/** The values in the specification. */
const parameterValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['logprobs', ['true', 'false']],
  ['stream', ['true', 'false']],
  ['tool_choice', ['auto', 'none']],
]);

/** The meaning of the key or placeholder at `offset`. */
export function promptHover(text: string, offset: number, context: LanguageContext): PromptHover | undefined {
  const yaml = new YamlText(text);
  if (!yaml.root) return undefined;
  return hoverKey(yaml, yaml.root, [], offset, context) ?? hoverPlaceholder(text, offset);
}

function hoverKey(
  yaml: YamlText,
  node: YamlNode,
  path: readonly string[],
  offset: number,
  context: LanguageContext,
): PromptHover | undefined {
  const [start, end] = node.range;
  if (offset < start || offset > end) return undefined;
  // The target of an alias is elsewhere, and can be the list or mapping that contains it.
  if (yaml.resolve(node) !== node) return undefined;
  for (const item of yaml.items(node) ?? []) {
    const hover = hoverKey(yaml, item, [...path, '[]'], offset, context);
    if (hover) return hover;
  }
  for (const member of yaml.members(node) ?? []) {
    const { keyRange, key, value } = member;
    if (offset >= keyRange.start && offset <= keyRange.end) return keyHover(member, path, context);
    const hover = value && hoverKey(yaml, value, [...path, key], offset, context);
    if (hover) return hover;
  }
  return undefined;
}

function keyHover(
  { key, keyRange }: Member,
  path: readonly string[],
  context: LanguageContext,
): PromptHover | undefined {
  const level = levelOf(path);
  if (level === undefined || level === 'case') return undefined;
  const { field, isSpecified } = parameterName(key);
  const markdown =
    level === 'parameters' ? isSpecified && context.describeParameter(field) : fieldAt(level, key)?.describe();
  return markdown ? { range: keyRange, markdown } : undefined;
}

function hoverPlaceholder(text: string, offset: number): PromptHover | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const place = findPlaceholders(line, start).find((each) => offset >= each.start && offset <= each.end);
  if (!place) return undefined;
  if (place.kind === 'file') return { range: place, markdown: l10n.t('The text of this file.') };
  if (placeholderKind(place.name) !== 'variable') return undefined;
  const isAnswer = place.name === COMPLETION_VARIABLE && outlineAt(text, offset).path.includes('llm');
  if (isAnswer) return { range: place, markdown: l10n.t('The answer that is judged.') };
  const meaning = l10n.t('A variable. It is replaced by the value that each case has for `{0}`.', place.name);
  return { range: place, markdown: `${meaning}\n\n${valuesText(readPromptFile(text), place.name)}` };
}

/** The values of a variable in the cases, in Markdown. */
function valuesText({ cases, extensions }: PromptFile, name: string): string {
  const values = cases.flatMap(({ values: all }) => all.get(name) ?? []);
  const [first] = values;
  if (first === undefined) {
    if (extensions.cases.length > 0) return l10n.t('No case in this file has a value; the data files can have one.');
    return cases.length === 0
      ? l10n.t('There are no cases: Run asks for a value.')
      : l10n.t('No case has a value, so it is sent as text.');
  }
  const example = first
    .replace(/\s+/g, ' ')
    .slice(0, 80)
    .replace(/[\\`*_{}[\]()#+!|<>~$&]/g, '\\$&');
  return l10n.t('{0} of {1} cases have a value, for example: {2}', values.length, cases.length, example);
}
