import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import type { JudgeChoice } from './builtinEvaluators.ts';
import type { TemplateText } from './placeholders.ts';
import {
  builtinNames,
  type EvaluatorMethod,
  evaluatorMethods,
  rolecallMethods,
  stringMethods,
} from './promptFields.ts';
import { type ParameterList, readParameters } from './promptParameters.ts';
import type { YamlReader } from './yamlReader.ts';
import type { Member, YamlNode } from './yamlText.ts';

/** A check of an answer as the file describes it. */
export interface EvaluatorDefinition {
  /** The name in the file; without one, the method. */
  readonly name: string;
  /** The range of the whole entry. */
  readonly range: TextRange;
  readonly check: EvaluatorCheck;
  /** It passes where it would fail otherwise. */
  readonly isNegated?: boolean;
}

export type EvaluatorCheck =
  | { readonly method: 'string'; readonly comparison: (typeof stringMethods)[number]; readonly operand: TemplateText }
  | JudgeCheck
  | { readonly method: 'uses'; readonly uses: string }
  | { readonly method: 'regex'; readonly pattern: string; readonly flags: string }
  | { readonly method: 'jsonSchema'; readonly schema: unknown }
  | { readonly method: 'toolCall'; readonly tool: string; readonly arguments: JsonObject }
  | { readonly method: 'maxTokens' | 'maxSeconds' | 'minProbability'; readonly limit: number }
  /** Cannot be carried out: it is skipped for this reason, a sentence. */
  | { readonly method: 'none'; readonly reason: string };

export interface JudgeCheck {
  readonly method: 'llm';
  /** The name in the file; absent if there is none. */
  readonly model?: string;
  readonly prompt: TemplateText;
  readonly systemPrompt?: TemplateText;
  readonly choices: readonly JudgeChoice[];
  readonly parameters?: ParameterList;
}

/** Reads `evaluators`, of the file or of `rolecall`. An entry with an error becomes one that is always skipped. */
export function readEvaluators(reader: YamlReader, member: Member | undefined, isOurs: boolean): EvaluatorDefinition[] {
  return reader.items(member).map((node, index) => readEvaluator(reader, node, index, isOurs));
}

function readEvaluator(reader: YamlReader, node: YamlNode, index: number, isOurs: boolean): EvaluatorDefinition {
  const range = reader.yaml.rangeOf(node);
  const fields = reader.fields(node, 'evaluator', range);
  const unnamed = l10n.t('Evaluator {0}', index + 1);
  if (!fields) return { name: unnamed, range, check: unusable(l10n.t('It is not a mapping.')) };
  const present = evaluatorMethods.filter((method) => fields.get(method)?.value !== undefined);
  const [method, ...others] = present;
  const name = reader.text(fields.get('name')) ?? method ?? unnamed;
  if (method === undefined) {
    const reason = l10n.t('It has none of the methods that Rolecall supports: {0}.', evaluatorMethods.join(', '));
    reader.report(range, 'warning', 'noMethod', l10n.t('This evaluator is skipped. {0}', reason));
    return { name, range, check: unusable(reason) };
  }
  for (const ignoredMethod of others) {
    const message = l10n.t('"{0}" is ignored: this evaluator already has "{1}".', ignoredMethod, method);
    reader.report(fields.get(ignoredMethod)?.keyRange ?? range, 'warning', 'severalMethods', message);
  }
  if (!isOurs && rolecallMethods.includes(method)) {
    const message = l10n.t(
      'Other programs fail on "{0}". Move it under rolecall: evaluators, which they ignore.',
      method,
    );
    reader.report(fields.get(method)?.keyRange ?? range, 'information', 'ownMethod', message);
  }
  const check = readCheck(reader, method, fields.get(method) as Member);
  return { name, range, check, ...(isNegated(reader, fields.get('not'), method, isOurs) && { isNegated: true }) };
}

/** Methods that can be negated. */
const negatable: readonly EvaluatorMethod[] = ['string', 'regex', 'jsonSchema', 'toolCall'];

function isNegated(reader: YamlReader, member: Member | undefined, method: EvaluatorMethod, isOurs: boolean): boolean {
  if (reader.boolean(member) !== true || !member) return false;
  if (!negatable.includes(method)) {
    reader.error(member.keyRange, 'badNot', l10n.t('"not" cannot be used with "{0}".', method));
  } else if (!isOurs) {
    const message = l10n.t('Other programs ignore "not" and check the opposite. Move it under rolecall: evaluators.');
    reader.report(member.keyRange, 'warning', 'ownMethod', message);
  }
  return true;
}

function unusable(reason: string): EvaluatorCheck {
  return { method: 'none', reason };
}

/** A check whose mistake has already been reported. */
function mistaken(): EvaluatorCheck {
  return unusable(l10n.t('Its definition has an error.'));
}

function readCheck(reader: YamlReader, method: EvaluatorMethod, member: Member): EvaluatorCheck {
  switch (method) {
    case 'string':
      return readString(reader, member);
    case 'llm':
      return readJudge(reader, member);
    case 'uses':
      return readUses(reader, member);
    case 'regex':
      return readRegex(reader, member);
    case 'jsonSchema':
      return readSchema(reader, member);
    case 'toolCall':
      return readToolCall(reader, member);
    default:
      return readLimit(reader, method, member);
  }
}

/** The first that is not empty decides, in the order of the format. */
function readString(reader: YamlReader, member: Member): EvaluatorCheck {
  const fields = reader.fields(member.value, 'string', member.range);
  if (!fields) return mistaken();
  const comparisons = stringMethods.flatMap((comparison) => {
    const field = fields.get(comparison);
    const operand = reader.template(field);
    return field && operand && operand.value !== '' ? [{ comparison, operand, field }] : [];
  });
  const [first, ...others] = comparisons;
  for (const { comparison, field } of others) {
    const message = l10n.t('"{0}" is ignored: this evaluator already has "{1}".', comparison, first?.comparison ?? '');
    reader.report(field.keyRange, 'warning', 'severalMethods', message);
  }
  if (first) return { method: 'string', comparison: first.comparison, operand: first.operand };
  const reason = l10n.t('It has none of {0}.', stringMethods.join(', '));
  reader.report(member.range, 'warning', 'noOperand', l10n.t('This evaluator is skipped. {0}', reason));
  return unusable(reason);
}

function readJudge(reader: YamlReader, member: Member): EvaluatorCheck {
  const fields = reader.fields(member.value, 'llm', member.range);
  if (!fields) return mistaken();
  const prompt = reader.template(fields.get('prompt'));
  if (prompt === undefined) {
    reader.error(member.keyRange, 'noJudgePrompt', l10n.t('A judge needs a prompt.'));
    return mistaken();
  }
  const choices = reader.items(fields.get('choices')).flatMap((node) => readChoice(reader, node));
  if (choices.length === 0) {
    reader.error(
      member.keyRange,
      'noChoices',
      l10n.t('A judge needs choices: the possible replies, with their scores.'),
    );
    return mistaken();
  }
  const model = reader.text(fields.get('modelId')) ?? reader.text(fields.get('model'));
  const systemPrompt = reader.template(fields.get('systemPrompt'));
  const parameters = fields.get('modelParameters');
  return {
    method: 'llm',
    prompt,
    choices,
    ...(model !== undefined && { model }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(parameters !== undefined && { parameters: readParameters(reader, parameters) }),
  };
}

function readChoice(reader: YamlReader, node: YamlNode): JudgeChoice[] {
  const fields = reader.fields(node, 'choice', reader.yaml.rangeOf(node));
  const choice = reader.text(fields?.get('choice'));
  const score = reader.number(
    fields?.get('score'),
    () => true,
    (key) => l10n.t('"{0}" must be a number.', key),
  );
  if (choice !== undefined && choice.trim() !== '' && score !== undefined) return [{ choice, score }];
  const range = reader.yaml.rangeOf(node);
  reader.error(range, 'badChoice', l10n.t('A choice needs "choice", the reply, and "score", a number.'));
  return [];
}

function readUses(reader: YamlReader, member: Member): EvaluatorCheck {
  const uses = reader.text(member);
  if (uses === undefined) return mistaken();
  if (builtinNames.includes(uses)) return { method: 'uses', uses };
  const reason = l10n.t('There is no built-in evaluator "{0}". Use one of: {1}.', uses, builtinNames.join(', '));
  const suggestion = nearest(uses, builtinNames) ?? builtinNames.find((name) => name.endsWith(`/${uses}`));
  const short = l10n.t('There is no built-in evaluator "{0}".', uses);
  const message = l10n.t('This evaluator is skipped. {0}', suggestion === undefined ? reason : short);
  reader.unknownName(member.range, { severity: 'warning', code: 'unknownUses', message }, suggestion);
  return unusable(reason);
}

function readRegex(reader: YamlReader, member: Member): EvaluatorCheck {
  const isText = reader.yaml.scalar(member.value) !== undefined;
  const fields = isText ? undefined : reader.fields(member.value, 'regex', member.range);
  const pattern = isText ? reader.text(member) : reader.text(fields?.get('pattern'));
  const flags = reader.text(fields?.get('flags')) ?? '';
  if (pattern === undefined || pattern === '') {
    reader.error(member.range, 'wrongType', l10n.t('A regular expression is missing.'));
    return mistaken();
  }
  if (!/^[imsu]*$/.test(flags)) {
    reader.error(fields?.get('flags')?.range ?? member.range, 'badFlags', l10n.t('Flags can be i, m, s and u.'));
    return mistaken();
  }
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    reader.error(member.range, 'badRegex', (error as SyntaxError).message);
    return mistaken();
  }
  return { method: 'regex', pattern, flags };
}

/** A schema as a mapping, or as JSON text like in `responseFormat`. */
function readSchema(reader: YamlReader, member: Member): EvaluatorCheck {
  const text = reader.yaml.scalar(member.value) === undefined ? undefined : reader.text(member);
  try {
    const schema: unknown = text === undefined ? reader.json(member) : JSON.parse(text);
    if (isJsonObject(schema) || typeof schema === 'boolean') return { method: 'jsonSchema', schema };
  } catch {
    // Reported below.
  }
  reader.error(member.range, 'badSchema', l10n.t('"jsonSchema" must be a JSON Schema: a mapping, or JSON text.'));
  return mistaken();
}

function readToolCall(reader: YamlReader, member: Member): EvaluatorCheck {
  const isText = reader.yaml.scalar(member.value) !== undefined;
  const fields = isText ? undefined : reader.fields(member.value, 'toolCall', member.range);
  const tool = isText ? reader.text(member) : reader.text(fields?.get('name'));
  const args = reader.json(fields?.get('arguments')) ?? {};
  if (tool === undefined || tool === '') {
    reader.error(member.range, 'wrongType', l10n.t('The name of the tool is missing.'));
    return mistaken();
  }
  if (isJsonObject(args)) return { method: 'toolCall', tool, arguments: args };
  reader.error(fields?.get('arguments')?.range ?? member.range, 'wrongType', l10n.t('"arguments" must be a mapping.'));
  return mistaken();
}

function readLimit(
  reader: YamlReader,
  method: 'maxTokens' | 'maxSeconds' | 'minProbability',
  member: Member,
): EvaluatorCheck {
  const isProbability = method === 'minProbability';
  const limit = reader.number(
    member,
    (value) => value > 0 && (!isProbability || value <= 1),
    (key) =>
      isProbability
        ? l10n.t('"{0}" must be a number greater than 0 and at most 1.', key)
        : l10n.t('"{0}" must be a number greater than 0.', key),
  );
  return limit === undefined ? mistaken() : { method, limit };
}
