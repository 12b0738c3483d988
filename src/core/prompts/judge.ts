import * as l10n from '@vscode/l10n';
import { isCancelled, RolecallError } from '../base/errors.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import type { ChatMessage } from '../completions/request.ts';
import { type BuiltinEvaluator, builtinEvaluators, type JudgeChoice } from './builtinEvaluators.ts';
import { COMPLETION_VARIABLE } from './checkPlaceholders.ts';
import type { JudgeCheck } from './evaluatorDefinitions.ts';
import { fillPlaceholders } from './placeholders.ts';
import {
  type Answer,
  type JudgeRequest,
  missingValues,
  type Outcome,
  skipped,
  skippedWithoutValues,
} from './runResults.ts';

const LONGEST_QUOTE = 200;

/**
 * Lets a model decide an evaluator of the file. Both of its texts may contain the values of the case and the answer.
 */
export async function judgeAnswer(
  check: JudgeCheck,
  completion: string,
  answer: Answer,
  signal: AbortSignal,
): Promise<Outcome> {
  const values = new Map([...answer.values, [COMPLETION_VARIABLE, completion]]);
  const texts = [check.systemPrompt?.value ?? '', check.prompt.value];
  const absent = texts.flatMap((text) => missingValues(text, values));
  if (absent.length > 0) return skippedWithoutValues([...new Set(absent)]);
  const [system = '', prompt = ''] = texts.map((text) => fillPlaceholders(text, (name) => values.get(name)));
  const messages: ChatMessage[] = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: prompt },
  ];
  const parameters = check.parameters?.values ?? {};
  const request = { messages, parameters, ...(check.model !== undefined && { model: check.model }) };
  const scored = ({ score }: JudgeChoice, quoted: string) =>
    l10n.t('The judge replied {0}, which has the score {1}. A score above 0 passes.', quoted, score);
  return await ask(request, check.choices, scored, answer, signal);
}

/**
 * Lets a model decide an evaluator that the format has built in, with a rubric of our own. It needs values of these
 * very names.
 */
export async function judgeBuiltin(
  uses: string,
  completion: string,
  answer: Answer,
  signal: AbortSignal,
): Promise<Outcome> {
  const builtin = builtinEvaluators[uses] as BuiltinEvaluator;
  const absent = builtin.reads.filter((name) => (answer.values.get(name) ?? '') === '');
  if (absent.length > 0) return skippedWithoutValues(absent);
  const parts = [
    ...builtin.reads.map((name) => [name, answer.values.get(name) ?? ''] as const),
    [COMPLETION_VARIABLE, completion],
  ];
  const messages = [
    { role: 'system', content: builtin.rubric },
    { role: 'user', content: parts.map(([name, text]) => `<${name}>\n${text}\n</${name}>`).join('\n\n') },
  ];
  const scored = ({ choice }: JudgeChoice) =>
    l10n.t('The judge gave {0} of {1}. Anything above 1 passes.', choice, builtin.choices.length);
  return await ask({ messages, parameters: {} }, builtin.choices, scored, answer, signal);
}

/** The words for a reply. */
type Scored = (choice: JudgeChoice, quoted: string) => string;

async function ask(
  request: JudgeRequest,
  choices: readonly JudgeChoice[],
  scored: Scored,
  { askJudge, judgeAdvice }: Answer,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const reply = await askJudge(request, signal);
    if (reply === undefined) return skipped(l10n.t('There is no model to judge with. {0}', judgeAdvice));
    return decide(reply, choices, scored);
  } catch (error) {
    if (isCancelled(error) || !(error instanceof RolecallError)) throw error;
    return { verdict: 'error', reason: l10n.t('The judge did not answer: {0}', error.message) };
  }
}

function decide(reply: string, choices: readonly JudgeChoice[], scored: Scored): Outcome {
  const choice = findChoice(reply, choices);
  const quoted = JSON.stringify(truncateWithEllipsis(reply.trim(), LONGEST_QUOTE));
  if (!choice) {
    const names = choices.map((each) => each.choice).join(', ');
    return { verdict: 'error', reason: l10n.t('The judge replied {0}, which is not one of: {1}.', quoted, names) };
  }
  const { score } = choice;
  return { verdict: score > 0 ? 'passed' : 'failed', score, reason: scored(choice, quoted) };
}

/**
 * The choice that a reply names: the whole reply, the only choice in it as a word, or that of its last line. Not, as in
 * GitHub's runner of the format, the first one found anywhere in it, where "10" contains "1" and "incorrect" "correct".
 */
export function findChoice(reply: string, choices: readonly JudgeChoice[]): JudgeChoice | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const whole = choices.find(({ choice }) => bare(choice) === bare(reply));
  if (whole) return whole;
  const lines = reply.trim().split(/\r\n|\r|\n/);
  return onlyOne(reply, choices) ?? onlyOne(lines.at(-1) ?? '', choices);
}

function onlyOne(text: string, choices: readonly JudgeChoice[]): JudgeChoice | undefined {
  const named = choices.filter(({ choice }) => standsAsWord(text.toLowerCase(), choice.trim().toLowerCase()));
  return named.length === 1 ? named[0] : undefined;
}

/**
 * Whether a text contains a word with no letters or digits around it, and not as a part of a number such as 1.5 or -1.
 */
function standsAsWord(text: string, word: string): boolean {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_]|\\d[.,])${escaped}(?![\\p{L}\\p{N}_]|[.,]\\d)`, 'u').test(text);
}
