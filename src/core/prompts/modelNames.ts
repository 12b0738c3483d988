import * as l10n from '@vscode/l10n';
import { didYouMean, nearest } from '../base/text.ts';
import type { PromptFile } from './promptFile.ts';
import { replacementFix } from './yamlReader.ts';
import type { PromptProblem } from './yamlText.ts';

/** A model's name in a prompt file. */
export interface ModelName {
  /** Without scheme, version and publisher. */
  readonly id: string;
  /** With its publisher, if one is named. */
  readonly full: string;
  /** The file leaves the choice to the user. */
  readonly isAuto: boolean;
}

/** Reads `gpt-4o`, `openai/gpt-4o`, `github:openai/gpt-4o`, `azureml://registries/x/models/gpt-4o/versions/2`, `auto`. */
function readModelName(text: string): ModelName {
  const registered = /^azureml:\/\/.*?\/models\/([^/]+)/i.exec(text)?.[1];
  const full = registered ?? text.replace(/^[a-z]+:(?!\/\/)/i, '');
  return { id: full.slice(full.lastIndexOf('/') + 1), full, isAuto: full.toLowerCase() === 'auto' };
}

/** What is needed to find names of other clouds among one's own models. */
export interface ModelNames {
  /** The models of the service; empty if it lists none. */
  readonly available: readonly string[];
  /** The models that the user has chosen before, by the name in files. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** For files without a model, and for `auto`. */
  readonly fallback?: string | undefined;
}

/**
 * The service's model for a name in a file: the one the user chose for it, one with this very name, or the only model
 * whose ID ends like it. `undefined` means that the user has to choose: no other model is used without asking.
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
  // A service without a list is asked for this very name.
  return available.length === 0 ? name : undefined;
}

/**
 * The names in a file that are probably misspellings of a model of the service. A name that is similar to none belongs
 * to another cloud, and the user is asked when the file is run.
 *
 * @param text that `file` was read from.
 */
export function mistypedModels(text: string, { model, extensions }: PromptFile, names: ModelNames): PromptProblem[] {
  const { models, judge } = extensions;
  return [model, ...models, judge].flatMap((named): PromptProblem[] => {
    if (!named || resolveModel(named.value, names) !== undefined) return [];
    const suggestion = nearestModel(named.value, names.available);
    if (suggestion === undefined) return [];
    const { value, start, end } = named;
    const message = didYouMean(l10n.t('The cloud has no model named "{0}".', value), suggestion);
    const fix = replacementFix(named, text.slice(start, end), suggestion);
    return [{ start, end, severity: 'information', code: 'unknownModel', message, fix }];
  });
}

/** With or without its publisher. A different number means a different model, not a misspelling. */
function nearestModel(name: string, available: readonly string[]): string | undefined {
  const numbersOf = (text: string) => text.replace(/\D+/g, ' ').trim();
  const { id, full } = readModelName(name);
  const sameNumbers = available.filter((each) => numbersOf(each) === numbersOf(full));
  const suggestion = nearest(full, sameNumbers);
  if (suggestion !== undefined || full !== id) return suggestion;
  return sameNumbers.find((each) => nearest(id, [readModelName(each).id]) !== undefined);
}
