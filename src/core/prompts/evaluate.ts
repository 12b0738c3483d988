import * as l10n from '@vscode/l10n';
import { Ajv, type ErrorObject } from 'ajv';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { truncate, truncateWithEllipsis } from '../base/text.ts';
import { withinDeadline } from '../base/withinDeadline.ts';
import type { CompletionChoice } from '../completions/completion.ts';
import type { EvaluatorCheck, EvaluatorDefinition } from './evaluatorDefinitions.ts';
import { judgeAnswer, judgeBuiltin } from './judge.ts';
import { fillJsonTexts, fillPlaceholders } from './placeholders.ts';
import type { Evaluation } from './runResults.ts';
import { type Answer, missingValues, type Outcome, skipped, skippedWithoutValues } from './runResults.ts';

const LONGEST_QUOTE = 80;
/** The time limit of a pattern: one that needs longer would never end. */
const REGEX_MS = 400;

/** The answer without its reasoning, trimmed. */
export function trimmedAnswer({ text }: Pick<CompletionChoice, 'text'>): string {
  return text.trim();
}

/**
 * Checks an answer. A check that is impossible is skipped with its reason; a failure of the check is an error.
 *
 * Where this differs from GitHub's runner of the format: line breaks at the end of a text to compare with are left out
 * (that of `expected: |` could never match a trimmed answer); an empty text to look for is skipped, since any answer
 * contains it.
 *
 * @throws RolecallError `cancelled`; any other failure is a verdict.
 */
export async function evaluate(
  definition: EvaluatorDefinition,
  answer: Answer,
  signal: AbortSignal,
): Promise<Evaluation> {
  const { name, range, check, isNegated = false } = definition;
  const outcome = await outcomeOf(check, answer, signal);
  return { evaluator: name, method: check.method, range, ...(isNegated ? opposite(outcome) : outcome) };
}

/** The opposite outcome; what was not measured remains so. */
function opposite(outcome: Outcome): Outcome {
  if (outcome.verdict === 'failed') return { verdict: 'passed' };
  if (outcome.verdict !== 'passed') return outcome;
  return { verdict: 'failed', reason: l10n.t('This check should fail ("not"), but the answer passes it.') };
}

function outcomeOf(check: EvaluatorCheck, answer: Answer, signal: AbortSignal): Outcome | Promise<Outcome> {
  switch (check.method) {
    case 'none':
      return skipped(check.reason);
    case 'string':
      return compare(check, answer);
    case 'regex':
      return matchRegex(check, answer);
    case 'jsonSchema':
      return matchSchema(check, answer);
    case 'toolCall':
      return findCall(check, answer);
    case 'llm':
      return judgeAnswer(check, trimmedAnswer(answer.choice), answer, signal);
    case 'uses':
      return judgeBuiltin(check.uses, trimmedAnswer(answer.choice), answer, signal);
    case 'maxTokens':
      return countTokens(check.limit, answer);
    case 'maxSeconds':
      return measureTime(check.limit, answer);
    case 'minProbability':
      return measureProbability(check.limit, answer);
  }
}

function decided(isPassed: boolean, reason: string): Outcome {
  return isPassed ? { verdict: 'passed' } : { verdict: 'failed', reason };
}

function compare({ comparison, operand }: Extract<EvaluatorCheck, { method: 'string' }>, answer: Answer): Outcome {
  const { values } = answer;
  const absent = missingValues(operand.value, values);
  if (absent.length > 0) return skippedWithoutValues(absent);
  const expected = fillPlaceholders(operand.value, (name) => values.get(name)).replace(/[\r\n]+$/, '');
  const actual = trimmedAnswer(answer.choice);
  if (comparison === 'equals') {
    const wanted = expected.trim();
    if (actual === wanted) return { verdict: 'passed' };
    const from = startOfDifference(wanted, actual);
    const reason = l10n.t('Expected {0}, got {1}.', quote(wanted, from), quote(actual, from));
    return { verdict: 'failed', reason, diff: { expected: wanted, actual } };
  }
  if (expected === '') return skipped(l10n.t('The text to look for is empty, so every answer contains it.'));
  const [text, part] = [actual.toLowerCase(), expected.toLowerCase()];
  const quoted = [quote(expected), quote(actual)] as const;
  switch (comparison) {
    case 'contains':
      return decided(text.includes(part), l10n.t('Expected text that contains {0}, got {1}.', ...quoted));
    case 'startsWith':
      return decided(text.startsWith(part), l10n.t('Expected text that starts with {0}, got {1}.', ...quoted));
    case 'endsWith':
      return decided(
        text.endsWith(part),
        l10n.t('Expected text that ends with {0}, got {1}.', quoted[0], quote(actual, startOfEnd(actual))),
      );
  }
}

/** A part of a text from an offset, on one line. */
function quote(text: string, from = 0): string {
  return JSON.stringify(truncateWithEllipsis(from === 0 ? text : `…${text.slice(from)}`, LONGEST_QUOTE));
}

/** The offset from which to quote a text so that its end is visible. */
function startOfEnd(text: string): number {
  return truncate(text, Math.max(0, text.length - LONGEST_QUOTE + 2)).length;
}

/** The offset from which to quote two texts so that their first difference is visible. */
function startOfDifference(one: string, other: string): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  return same < LONGEST_QUOTE / 2 ? 0 : truncate(one, same - LONGEST_QUOTE / 4).length;
}

/** Values of the case are literal text in a pattern. */
function matchRegex({ pattern, flags }: Extract<EvaluatorCheck, { method: 'regex' }>, answer: Answer): Outcome {
  const { values } = answer;
  const absent = missingValues(pattern, values);
  if (absent.length > 0) return skippedWithoutValues(absent);
  // Including the hyphen, which means a range within brackets.
  const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('-', '\\x2d');
  const filled = fillPlaceholders(pattern, (name) => {
    const value = values.get(name);
    return value === undefined ? undefined : literally(value);
  });
  try {
    const actual = trimmedAnswer(answer.choice);
    const isMatch = withinDeadline(REGEX_MS, () => new RegExp(filled, flags).test(actual));
    return decided(
      isMatch,
      l10n.t(
        'Expected text that matches {0}, got {1}.',
        truncateWithEllipsis(`/${filled}/${flags}`, LONGEST_QUOTE),
        quote(actual),
      ),
    );
  } catch (error) {
    // The time was over, or a value made the pattern invalid.
    return { verdict: 'error', reason: l10n.t('The regular expression failed: {0}', (error as Error).message) };
  }
}

function matchSchema({ schema }: Extract<EvaluatorCheck, { method: 'jsonSchema' }>, answer: Answer): Outcome {
  let value: unknown;
  try {
    value = JSON.parse(trimmedAnswer(answer.choice));
  } catch (error) {
    return { verdict: 'failed', reason: l10n.t('The answer is not JSON: {0}', (error as SyntaxError).message) };
  }
  return checkJson(schema, value);
}

/** A call with at least these arguments: objects may have more members, lists are compared item by item. */
function findCall(
  { tool, arguments: template }: Extract<EvaluatorCheck, { method: 'toolCall' }>,
  { choice, values }: Answer,
): Outcome {
  const absent = missingValues(JSON.stringify(template), values);
  if (absent.length > 0) return skippedWithoutValues(absent);
  const wanted = fillJsonTexts(template, (name) => values.get(name)) as JsonObject;
  const calls = choice.toolCalls.filter(({ name }) => name === tool);
  if (calls.some(({ parsed }) => parsed !== undefined && contains(parsed, wanted))) return { verdict: 'passed' };
  const [first] = calls;
  if (first) {
    return {
      verdict: 'failed',
      reason: l10n.t('The model called "{0}" with different arguments: {1}', tool, first.arguments),
      diff: { expected: JSON.stringify(wanted, undefined, 2), actual: indented(first.arguments) },
    };
  }
  const others = choice.toolCalls.map(({ name }) => name);
  return others.length === 0
    ? { verdict: 'failed', reason: l10n.t('The model called no tool.') }
    : { verdict: 'failed', reason: l10n.t('The model did not call "{0}". It called: {1}.', tool, others.join(', ')) };
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}

/** A value of the case is text, and also matches an equal number in the call. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((item, index) => contains(actual[index], item))
    );
  }
  if (isJsonObject(wanted)) {
    return (
      isJsonObject(actual) &&
      Object.entries(wanted).every(([key, value]) => Object.hasOwn(actual, key) && contains(actual[key], value))
    );
  }
  return actual === wanted || (typeof wanted === 'string' && typeof actual !== 'object' && String(actual) === wanted);
}

function countTokens(limit: number, { choice, completion }: Answer): Outcome {
  // The service counts all answers to a request together.
  const counted = completion.choices.length === 1 ? completion.usage?.completionTokens : choice.logprobs?.length;
  if (counted === undefined) return skipped(l10n.t('The service did not report the token count of this answer.'));
  return decided(counted <= limit, l10n.t('The answer has {0} tokens, more than {1}.', counted, limit));
}

function measureTime(limit: number, { timings: { totalMs } }: Answer): Outcome {
  const seconds = (totalMs / 1000).toFixed(1);
  return decided(totalMs <= limit * 1000, l10n.t('The answer took {0} seconds, more than {1}.', seconds, limit));
}

function measureProbability(limit: number, { choice: { logprobs } }: Answer): Outcome {
  if (!logprobs) {
    return skipped(
      l10n.t(
        'The service returned no log probabilities. They require "logprobs: true" and a service that supports them.',
      ),
    );
  }
  const probability = Math.min(1, Math.exp(logprobs.reduce((sum, { logprob }) => sum + logprob, 0)));
  const reason = l10n.t('The probability of the answer is {0}, less than {1}.', probability.toPrecision(3), limit);
  return { ...decided(probability >= limit, reason), score: probability };
}

/** The time limit of a schema: one that needs longer would never end. */
const SCHEMA_MS = 1000;
const SHOWN_SCHEMA_ERRORS = 3;

/** Checks a value against a JSON Schema (draft-07). No reference is ever fetched, and nothing takes longer than the deadline. */
function checkJson(schema: unknown, value: unknown): Outcome {
  try {
    return withinDeadline(SCHEMA_MS, (): Outcome => {
      const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, logger: false });
      const validate = ajv.compile(schema as object);
      const result: unknown = validate(value);
      if (result === true) return { verdict: 'passed' };
      // The validator of an `$async` schema answers with a promise, which says nothing.
      if (result !== false) return badSchema('$async');
      const errors = validate.errors ?? [];
      const shown = errors.slice(0, SHOWN_SCHEMA_ERRORS).map(schemaSentence).join(' ');
      return { verdict: 'failed', reason: l10n.t('The answer does not match the schema. {0}', shown) };
    });
  } catch (error) {
    return badSchema((error as Error).message);
  }
}

function badSchema(message: string): Outcome {
  return { verdict: 'error', reason: l10n.t('The JSON Schema cannot be used: {0}', message) };
}

function schemaSentence({ instancePath, message, params }: ErrorObject): string {
  const place = instancePath === '' ? l10n.t('The value') : instancePath;
  const unknown = typeof params.additionalProperty === 'string' ? ` (${params.additionalProperty})` : '';
  return `${place} ${message ?? ''}${unknown}.`;
}
