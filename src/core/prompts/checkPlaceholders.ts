import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { didYouMean, nearest } from '../base/text.ts';
import type { EvaluatorDefinition } from './evaluatorDefinitions.ts';
import {
  fillJsonTexts,
  type Placeholder,
  placeholderKind,
  placeholderNames,
  type TemplateText,
} from './placeholders.ts';
import { nameKeys, type PromptCase } from './promptCases.ts';
import type { PromptExtensions, PromptMessage } from './promptFile.ts';
import { replacementFix, type YamlReader } from './yamlReader.ts';
import type { PromptProblem } from './yamlText.ts';

interface Checked {
  readonly messages: readonly PromptMessage[];
  readonly evaluators: readonly EvaluatorDefinition[];
  readonly extensions: PromptExtensions;
  readonly cases: readonly { readonly promptCase: PromptCase; readonly keys: ReadonlyMap<string, TextRange> }[];
}

/** Keys of a case that are used without a placeholder, or that need no use. */
const quietKeys: ReadonlySet<string> = new Set([...nameKeys, 'id', 'description', 'input', 'expected']);
/** The variable of a judge, besides the values of the case. */
export const COMPLETION_VARIABLE = 'completion';

/**
 * Compares the placeholders with the cases: variables that no case has, that some lack, and that nothing uses. For a
 * file with cases in data files, or without cases, nothing is reported about what they may contain: `References` knows
 * the data files.
 *
 * @returns the variables of the file, in order.
 */
export function checkPlaceholders(reader: YamlReader, checked: Checked): string[] {
  const { evaluators, extensions, cases } = checked;
  const places = placesOf(checked);
  const usedNames = new Set(places.filter(({ kind }) => kind === 'variable').map(({ name }) => name));
  for (const name of evaluators.flatMap(namesWithoutPlace)) usedNames.add(name);
  const defined = new Map(cases.flatMap(({ keys }) => [...keys]));
  for (const place of places) reportText(reader, place, defined);
  if (cases.length > 0 && extensions.cases.length === 0) {
    for (const place of places) reportUndefined(reader, place, defined);
    for (const { promptCase } of cases)
      reportMissing(
        reader,
        promptCase,
        [...usedNames].filter((name) => defined.has(name)),
      );
    reportUnused(reader, usedNames, defined);
  }
  return [...usedNames];
}

/** All placeholders that a case can fill. */
export function placesOf({ messages, evaluators, extensions }: Omit<Checked, 'cases'>): Placeholder[] {
  const sentTemplates = [...messages.flatMap(templatesOf), ...extensions.images];
  const judged = evaluators.flatMap(({ check }) => templatesOfCheck(check));
  return [
    ...sentTemplates.flatMap(({ placeholders }) => placeholders),
    ...judged.flatMap(({ placeholders }) => placeholders).filter(({ name }) => name !== COMPLETION_VARIABLE),
  ];
}

function templatesOf({ content }: PromptMessage): TemplateText[] {
  return content.map((part) => (part.type === 'text' ? part.text : part.url));
}

function templatesOfCheck(check: EvaluatorDefinition['check']): TemplateText[] {
  if (check.method === 'string') return [check.operand];
  if (check.method !== 'llm') return [];
  return check.systemPrompt ? [check.prompt, check.systemPrompt] : [check.prompt];
}

function namesWithoutPlace({ check }: EvaluatorDefinition): string[] {
  const names: string[] = [];
  if (check.method === 'regex') names.push(...placeholderNames(check.pattern));
  if (check.method === 'toolCall') {
    fillJsonTexts(check.arguments, (name) => {
      names.push(name);
      return undefined;
    });
  }
  return names.filter((name) => placeholderKind(name) === 'variable');
}

/** Reports text that looks like a placeholder but is not one. */
function reportText(reader: YamlReader, place: Placeholder, defined: ReadonlyMap<string, TextRange>): void {
  if (place.kind !== 'text' || defined.has(place.name)) return;
  const trimmed = place.name.trim();
  const filled = `{{${trimmed}}}`;
  const isPadded = trimmed !== place.name && placeholderKind(trimmed) === 'variable';
  const message = isPadded
    ? l10n.t('Placeholders cannot contain spaces, so this is sent as text. Write {0} to insert the value.', filled)
    : l10n.t('This is not a placeholder, so it is sent as text. Conditions, loops and filters are not supported.');
  const { start, end } = place;
  const fix = isPadded ? { title: l10n.t('Remove Spaces'), start, end, text: filled } : undefined;
  // `${{ … }}` is an expression of a workflow, which nobody expects to be filled.
  const isExpression = reader.yaml.text.charAt(place.start - 1) === '$';
  reader.report(
    place,
    isExpression || !defined.has(trimmed) ? 'information' : 'warning',
    'notPlaceholder',
    message,
    fix,
  );
}

function reportUndefined(reader: YamlReader, place: Placeholder, defined: ReadonlyMap<string, TextRange>): void {
  const problem = undefinedVariable(place, new Set(defined.keys()));
  if (problem) reader.report(place, problem.severity, problem.code, problem.message, problem.fix);
}

/** For a variable that is not in `names`: reports it, with the names that cases have. */
export function undefinedVariable(place: Placeholder, names: ReadonlySet<string>): PromptProblem | undefined {
  const { kind, name, start, end } = place;
  if (kind !== 'variable' || names.has(name)) return undefined;
  const suggestion = nearest(name, names);
  const message = l10n.t('No case has a value for "{0}", so it is sent as text.', name);
  const problem = { start, end, severity: 'warning', code: 'undefinedVariable' } as const;
  if (suggestion === undefined) return { ...problem, message };
  return {
    ...problem,
    message: didYouMean(message, suggestion),
    fix: { ...replacementFix(place, '', suggestion), text: `{{${suggestion}}}` },
  };
}

function reportMissing(reader: YamlReader, { values, range, label }: PromptCase, used: readonly string[]): void {
  const missing = used.filter((name) => !values.has(name));
  if (missing.length === 0 || !range) return;
  const firstLine = reader.yaml.slice(range).search(/[\r\n]|$/);
  const message = l10n.t('The case "{0}" has no value for: {1}.', label, missing.join(', '));
  reader.report({ start: range.start, end: range.start + firstLine }, 'warning', 'missingVariable', message);
}

function reportUnused(reader: YamlReader, used: ReadonlySet<string>, defined: ReadonlyMap<string, TextRange>): void {
  for (const [key, place] of defined) {
    if (used.has(key) || quietKeys.has(key)) continue;
    const message = l10n.t('Nothing uses the variable "{0}".', key);
    reader.report(place, 'information', 'unusedVariable', message);
  }
}
