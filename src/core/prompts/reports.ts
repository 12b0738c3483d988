import * as l10n from '@vscode/l10n';
import { formatCount } from '../base/text.ts';
import type { CompletionChoice, Usage } from '../completions/completion.ts';
import { fenceFor } from '../completions/request.ts';
import type { AttemptResult, CaseResult, Evaluation, PromptRun, Verdict } from './runResults.ts';
import { durationText, evaluationText, reasonsOf, reasonText } from './runText.ts';

/** The second version of the JSON report: what `gh models eval --json` prints, with more members. */
export interface JsonReport {
  readonly name: string;
  readonly description: string;
  readonly model: string;
  readonly testResults: readonly object[];
  readonly summary: Readonly<Record<string, number | boolean>>;
  readonly [more: string]: unknown;
}

/** One run as `gh models eval --json` prints it; Rolecall's own data is in further members. */
export function jsonReport(run: PromptRun): JsonReport {
  const count = (verdict: Verdict) => run.results.filter((result) => result.verdict === verdict).length;
  const passed = count('passed');
  return {
    name: run.name ?? '',
    description: run.description ?? '',
    model: run.models[0] ?? run.model ?? '',
    file: run.file,
    models: run.models,
    startedAt: run.startedAt.toISOString(),
    durationMs: run.durationMs,
    testResults: run.results.map(jsonResult),
    summary: {
      totalTests: run.results.length,
      passedTests: passed,
      failedTests: count('failed'),
      // In percent. A run without cases passed nothing.
      passRate: run.results.length === 0 ? 0 : (passed / run.results.length) * 100,
      erroredTests: count('error'),
      skippedTests: count('skipped'),
      skippedChecks: run.results.flatMap(skippedChecks).length,
      plannedTests: run.planned,
      stopped: run.stopped,
    },
  };
}

function jsonResult({ case: promptCase, model, verdict, agreement, attempts }: CaseResult): object {
  const [first] = attempts.flatMap(({ answers }) => answers);
  return {
    testCase: Object.fromEntries(promptCase.values),
    modelResponse: first?.text ?? '',
    evaluationResults: (first?.evaluations ?? []).map((each) => ({
      evaluatorName: each.evaluator,
      ...measured(each),
      ...(each.reason !== undefined && { details: each.reason }),
      verdict: each.verdict,
    })),
    id: promptCase.id,
    label: promptCase.label,
    model,
    verdict,
    reasons: reasonsOf(attempts),
    agreement,
    attempts: attempts.map(jsonAttempt),
  };
}

/** A result that was not measured has neither passed nor failed. */
function measured({ verdict, score }: Evaluation): { readonly score: number | null; readonly passed: boolean | null } {
  if (verdict !== 'passed' && verdict !== 'failed') return { score: null, passed: null };
  return { score: score ?? (verdict === 'passed' ? 1 : 0), passed: verdict === 'passed' };
}

function jsonAttempt({ seed, error, timings, completion, answers }: AttemptResult): object {
  return {
    ...(seed !== undefined && { seed }),
    ...(error && { error }),
    ...(timings && { timings }),
    ...(completion?.usage && { usage: completion.usage }),
    ...(completion?.fingerprint !== undefined && { fingerprint: completion.fingerprint }),
    answers: answers.map(({ choice, text, verdict, evaluations }) => ({
      choice,
      text,
      verdict,
      evaluations: evaluations.map(({ range: _, ...rest }) => rest),
    })),
  };
}

/**
 * JUnit's XML, one suite for each run, and one test case for each case and model. A check that was skipped in a case
 * that the other checks decided is a test case of its own: it would be missing otherwise.
 */
export function junitReport(runs: readonly PromptRun[]): string {
  const suites = runs.map((run) => {
    const count = (verdict: Verdict) => run.results.filter((result) => result.verdict === verdict).length;
    const skipped = run.results.map(skippedChecks);
    const skippedCount = skipped.flat().length;
    const attributes = {
      name: run.name ?? run.file,
      tests: run.results.length + skippedCount,
      failures: count('failed'),
      errors: count('error'),
      skipped: count('skipped') + skippedCount,
      time: seconds(run.durationMs),
      timestamp: run.startedAt.toISOString(),
    };
    const cases = run.results.flatMap((result, index) => [
      junitCase(result, run),
      ...(skipped[index] ?? []).map((check) => junitSkipped(check, result, run)),
    ]);
    return `  <testsuite${attributesOf(attributes)}>\n${cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

/** Each evaluator that was skipped although the case was not. */
export function skippedChecks({ verdict, attempts }: CaseResult): Evaluation[] {
  if (verdict === 'skipped') return [];
  const evaluations = attempts.flatMap(({ answers }) => answers.flatMap((answer) => answer.evaluations));
  const skipped = evaluations.filter((each) => each.verdict === 'skipped');
  return [...new Map(skipped.map((each) => [each.evaluator, each])).values()];
}

function junitSkipped(check: Evaluation, result: CaseResult, run: PromptRun): string {
  const name = `${caseName(result, run)} · ${check.evaluator}`;
  const open = `    <testcase${attributesOf({ name, classname: run.file, time: seconds(0) })}>\n`;
  return `${open}      <skipped${attributesOf({ message: reasonText(check) })}/>\n    </testcase>\n`;
}

function caseName({ case: { label }, model }: CaseResult, { models }: PromptRun): string {
  return models.length > 1 ? `${label} [${model}]` : label;
}

function junitCase(result: CaseResult, run: PromptRun): string {
  const { verdict, attempts, agreement } = result;
  const time = attempts.reduce((sum, { timings }) => sum + (timings?.totalMs ?? 0), 0);
  const open = `    <testcase${attributesOf({ name: caseName(result, run), classname: run.file, time: seconds(time) })}>\n`;
  const reasons = reasonsOf(attempts);
  const details = escapeXml([...agreementText(agreement), ...reasons].join('\n'));
  const message = attributesOf({ message: reasons[0] ?? '' });
  const elements: Readonly<Record<Verdict, string>> = {
    passed: '',
    failed: `      <failure${message}>${details}</failure>\n`,
    error: `      <error${message}>${details}</error>\n`,
    skipped: `      <skipped${message}/>\n`,
  };
  const output = attempts.flatMap(({ answers }) => answers.map(({ text }) => text)).join('\n---\n');
  const out = output === '' ? '' : `      <system-out>${escapeXml(output)}</system-out>\n`;
  return `${open}${elements[verdict]}${out}    </testcase>\n`;
}

/** The number of answers that passed. */
function agreementText({ passed, of }: CaseResult['agreement']): string[] {
  return of > 1 ? [l10n.t('{0} of {1} answers passed', passed, of)] : [];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributesOf(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value)).replace(/[\t\n\r]/g, ' ')}"`)
    .join('');
}

/** XML 1.0 knows neither control characters nor halves of characters, not even escaped. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The answer to one request as a document, with details that the chat does not show. Texts of the model are fenced, so
 * they are never markup.
 */
export function markdownReport(attempt: AttemptResult, title: string): string {
  const { completion, error } = attempt;
  const choices = completion?.choices ?? [];
  const parts = [
    `# ${inline(title)}`,
    ...(error ? [l10n.t('**Error:** {0}', inline(error.message))] : []),
    ...choices.flatMap((choice) => markdownChoice(choice, attempt, choices.length > 1)),
    markdownFacts(attempt),
    ...(attempt.request
      ? [`## ${l10n.t('Request')}`, fenced(JSON.stringify(attempt.request, undefined, 2), 'json')]
      : []),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function markdownChoice(choice: CompletionChoice, { answers }: AttemptResult, isOneOfMany: boolean): string[] {
  const answer = answers.find((each) => each.choice === choice.index);
  const ending = [
    choice.finishReason === undefined ? '' : l10n.t('Finish reason: {0}', code(choice.finishReason)),
    choice.stopReason === undefined ? '' : l10n.t('Stop reason: {0}', code(JSON.stringify(choice.stopReason))),
  ].filter((text) => text !== '');
  return [
    isOneOfMany ? `## ${l10n.t('Answer {0}', choice.index + 1)}` : `## ${l10n.t('Answer')}`,
    ...(choice.reasoning === ''
      ? []
      : [`<details><summary>${l10n.t('Reasoning')}</summary>\n\n${fenced(choice.reasoning)}\n\n</details>`]),
    choice.text === '' ? l10n.t('No text.') : fenced(choice.text),
    ...choice.toolCalls.flatMap((call) => [
      l10n.t('Calls the tool {0}:', code(call.name)),
      fenced(call.arguments, 'json'),
      call.problem ?? '',
    ]),
    ...(ending.length > 0 ? [ending.join(' · ')] : []),
    ...(answer?.evaluations ?? []).map((each) => `- ${inline(evaluationText(each))}`),
  ];
}

function markdownFacts({ completion, timings, seed }: AttemptResult): string {
  const rows: (readonly [string, string | undefined])[] = [
    [l10n.t('Model'), completion?.model],
    [l10n.t('Seed'), seed?.toString()],
    [l10n.t('Fingerprint'), completion?.fingerprint],
    ...usageRows(completion?.usage),
    [
      l10n.t('Time to first token'),
      timings?.firstTokenMs === undefined ? undefined : `${formatCount(timings.firstTokenMs)} ms`,
    ],
    [l10n.t('Tokens per second'), timings?.tokensPerSecond?.toFixed(1)],
    [l10n.t('Total time'), timings && durationText(timings.totalMs)],
  ];
  const knownRows = rows.filter((row): row is [string, string] => row[1] !== undefined);
  if (knownRows.length === 0) return '';
  return `| | |\n|---|---|\n${knownRows.map(([name, value]) => `| ${name} | ${code(value).replaceAll('|', '\\|')} |`).join('\n')}`;
}

function usageRows(usage: Usage | undefined): [string, string | undefined][] {
  const count = (tokens: number | undefined) => (tokens === undefined ? undefined : formatCount(tokens));
  const details = (value: unknown) => (value === undefined || value === null ? undefined : JSON.stringify(value));
  return [
    [l10n.t('Input tokens'), count(usage?.promptTokens)],
    [l10n.t('Input token details'), details(usage?.promptTokensDetails)],
    [l10n.t('Output tokens'), count(usage?.completionTokens)],
    [l10n.t('Output token details'), details(usage?.completionTokensDetails)],
  ];
}

function fenced(text: string, language = ''): string {
  const fence = fenceFor(text);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Text from outside as plain text on one line. */
function inline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]()#+!|<>~$&]/g, '\\$&');
}

function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence} ${text.replace(/\s+/g, ' ')} ${fence}`;
}

/** One attempt for a file: the request that was sent, the answer, and the time. Contains no header, and so no token. */
export function attemptJson(attempt: AttemptResult, product: { readonly version: string }): object {
  return { format: 'rolecall-answer', formatVersion: 1, rolecall: product.version, ...attempt };
}
