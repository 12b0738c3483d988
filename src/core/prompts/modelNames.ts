import * as l10n from '@vscode/l10n';
import { didYouMean, nearest } from '../base/text.ts';
import type { PromptFile } from './promptFile.ts';
import { replacementFix } from './yamlReader.ts';
import type { PromptProblem } from './yamlText.ts';

/** A model as prompt files name it. */
export interface ModelName {
  /** Without scheme, version and publisher. */
  readonly id: string;
  /** With its publisher, where one is named. */
  readonly full: string;
  /** The file leaves the choice to whoever runs it. */
  readonly isAuto: boolean;
}

/** Reads `gpt-4o`, `openai/gpt-4o`, `github:openai/gpt-4o`, `azureml://registries/x/models/gpt-4o/versions/2`, `auto`. */
function readModelName(text: string): ModelName {
  const registered = /^azureml:\/\/.*?\/models\/([^/]+)/i.exec(text)?.[1];
  const full = registered ?? text.replace(/^[a-z]+:(?!\/\/)/i, '');
  return { id: full.slice(full.lastIndexOf('/') + 1), full, isAuto: full.toLowerCase() === 'auto' };
}

/** How names of other clouds are found among one's own models. */
export interface ModelNames {
  /** Of the service; empty where it lists none. */
  readonly available: readonly string[];
  /** What the user has chosen once, by the name in files. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** For files that name none, and for `auto`. */
  readonly fallback?: string | undefined;
}

/**
 * The model of the service that a name in a file means: what the user chose for it, the very name, or the only model whose ID
 * ends like it. `undefined` means that the user has to choose: another model is never taken without being asked for.
 */
export function resolveModel(
  name: string | undefined,
  { available, chosen = {}, fallback }: ModelNames,
): string | undefined {
  if (name === undefined) return fallback;
  if (Object.hasOwn(chosen, name)) return chosen[name];
  const { id, full, isAuto } = readModelName(name);
  if (Object.hasOwn(chosen, full)) return chosen[full];
  if (isAuto) return fallback;
  for (const exact of [name, full, id]) if (available.includes(exact)) return exact;
  const alike = available.filter((model) => readModelName(model).id.toLowerCase() === id.toLowerCase());
  if (alike.length === 1) return alike[0];
  // A service that lists nothing is asked for the very name.
  return available.length === 0 ? name : undefined;
}

/**
 * The names in a file that are probably slips of the finger for a model of the service. A name that is near none is another
 * cloud's, and is asked for when the file is run.
 *
 * @param text that `file` was read from.
 */
export function mistypedModels(text: string, { model, extensions }: PromptFile, names: ModelNames): PromptProblem[] {
  const { models, judge } = extensions;
  return [model, ...models, judge].flatMap((named): PromptProblem[] => {
    if (!named || resolveModel(named.value, names) !== undefined) return [];
    const meant = nearestModel(named.value, names.available);
    if (meant === undefined) return [];
    const { value, start, end } = named;
    const message = didYouMean(l10n.t('The cloud has no model named "{0}".', value), meant);
    const fix = replacementFix(named, text.slice(start, end), meant);
    return [{ start, end, severity: 'information', code: 'unknownModel', message, fix }];
  });
}

/** With or without its publisher. Another number is another model, and no slip. */
function nearestModel(name: string, available: readonly string[]): string | undefined {
  const numbersOf = (text: string) => text.replace(/\D+/g, ' ').trim();
  const { id, full } = readModelName(name);
  const sameNumbers = available.filter((each) => numbersOf(each) === numbersOf(full));
  const meant = nearest(full, sameNumbers);
  if (meant !== undefined || full !== id) return meant;
  return sameNumbers.find((each) => nearest(id, [readModelName(each).id]) !== undefined);
}
