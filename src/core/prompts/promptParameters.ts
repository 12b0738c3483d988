import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { nearest } from '../base/text.ts';
import { parameterProblem, unusualValue, usualValues } from '../completions/parameters.ts';
import type { CompletionParameters } from '../completions/request.ts';
import { nearestParameter, parameterName } from './promptFields.ts';
import type { YamlReader } from './yamlReader.ts';
import type { Member } from './yamlText.ts';

/** A parameter of the request that the file sets. */
export interface PromptParameter {
  /** The name in the specification; if that does not know it, the name as written. */
  readonly field: string;
  /** As written. */
  readonly key: string;
  readonly value: unknown;
  readonly keyRange: TextRange;
  readonly range: TextRange;
}

/** The result of reading `modelParameters`. */
export interface ParameterList {
  /** The parameters that are sent. */
  readonly values: CompletionParameters;
  readonly entries: readonly PromptParameter[];
}

/** The specification's fields for which `null` is a value. */
const nullable: readonly string[] = ['logit_bias', 'stream_options'];

/** Reads a mapping of parameters in either spelling. A parameter that cannot be sent is an error and is left out. */
export function readParameters(reader: YamlReader, member: Member | undefined): ParameterList {
  const nothing = { values: {}, entries: [] };
  if (!member?.value || reader.yaml.scalar(member.value)?.value === null) return nothing;
  const members = reader.yaml.members(member.value);
  if (!members) {
    reader.error(member.range, 'wrongType', l10n.t('"{0}" must be a mapping.', member.key));
    return nothing;
  }
  const entries = new Map<string, PromptParameter>();
  for (const parameter of members) {
    const entry = readParameter(reader, parameter);
    const before = entry && entries.get(entry.field);
    if (before) {
      const message = l10n.t('"{0}" is already set as "{1}", which is used.', parameter.key, before.key);
      reader.error(parameter.keyRange, 'severalSpellings', message);
    } else if (entry) entries.set(entry.field, entry);
  }
  checkTogether(reader, entries);
  const values = Object.fromEntries([...entries.values()].map(({ field, value }) => [field, value]));
  return { values, entries: [...entries.values()] };
}

function readParameter(reader: YamlReader, { key, keyRange, range, value: node, ...rest }: Member) {
  const { field, isSpecified } = parameterName(key);
  if (field === 'model' || field === 'messages') {
    const message = l10n.t('"{0}" has no effect here. It is a key of the file itself.', key);
    reader.report(keyRange, 'warning', 'misplaced', message);
    return undefined;
  }
  const json = reader.json({ key, keyRange, range, value: node, ...rest });
  if (json === undefined || (json === null && !nullable.includes(field))) return undefined;
  const value = field === 'stop' ? readStop(reader, json, range) : json;
  if (value === undefined) return undefined;
  if (!isSpecified) {
    const message = l10n.t('The specification does not define "{0}". It is sent as it is.', key);
    const suggestion = nearestParameter(key);
    const severity = suggestion === undefined ? 'information' : 'warning';
    reader.unknownName(keyRange, { severity, code: 'unspecified', message }, suggestion);
  }
  const problem = parameterProblem(field, value);
  if (problem !== undefined) {
    reader.error(range, 'badParameter', problem);
    return undefined;
  }
  const unusual = unusualValue(field, value, key);
  if (unusual !== undefined) {
    const suggestion = typeof value === 'string' ? nearest(value, usualValues(field)) : undefined;
    reader.unknownName(range, { severity: 'warning', code: 'unusualValue', message: unusual }, suggestion);
  }
  return { field, key, value, keyRange, range } satisfies PromptParameter;
}

/** The hosted editor of the format writes an empty list for "unset"; the specification takes one text. */
function readStop(reader: YamlReader, value: unknown, range: TextRange): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length > 1) {
    const message = l10n.t(
      'The specification accepts one stop text. The list is sent as it is, and a service may reject it.',
    );
    reader.report(range, 'warning', 'severalStops', message);
  }
  return value.length < 2 ? value[0] : value;
}

/** Reports combinations that the service refuses although each field is right. */
function checkTogether(reader: YamlReader, entries: Map<string, PromptParameter>): void {
  const valueFor = (field: string) => entries.get(field)?.value;
  const top = entries.get('top_logprobs');
  if (top && valueFor('logprobs') !== true) {
    const message = l10n.t('"{0}" needs "logprobs: true".', top.key);
    const { start } = top.keyRange;
    const before = reader.yaml.text.slice(reader.yaml.text.lastIndexOf('\n', start - 1) + 1, start);
    // In braces, the keys stand in one line.
    const separator = before.trim() === '' ? `\n${before}` : ', ';
    const title = l10n.t('Add logprobs: true');
    const fix = { title, start, end: start, text: `logprobs: true${separator}` };
    reader.report(
      top.keyRange,
      'error',
      'needsLogprobs',
      message,
      valueFor('logprobs') === undefined ? fix : undefined,
    );
  }
  const streamOptions = entries.get('stream_options');
  if (streamOptions && streamOptions.value !== null && valueFor('stream') === false) {
    reader.error(streamOptions.keyRange, 'needsStream', l10n.t('"{0}" needs a streamed answer.', streamOptions.key));
  }
  const maxTokens = entries.get('max_tokens');
  const maxCompletionTokens = entries.get('max_completion_tokens');
  if (maxTokens && maxCompletionTokens) {
    const message = l10n.t(
      '"{0}" is not sent because "{1}" is set too: services reject both together.',
      maxTokens.key,
      maxCompletionTokens.key,
    );
    reader.report(maxTokens.keyRange, 'warning', 'twoLimits', message);
    entries.delete('max_tokens');
  }
}
