import { asRolecallError, isCancelled, RolecallError, type TextRange } from '../base/errors.ts';
import { didYouMean } from '../base/text.ts';
import { caseFileProblemText, readCasesOf } from './caseFiles.ts';
import { placesOf, undefinedVariable } from './checkPlaceholders.ts';
import { filePath, fillPlaceholders, placeholderNames, type TemplateText } from './placeholders.ts';
import type { PromptFile } from './promptFile.ts';
import { type PromptResources, readImageUrl, readIncluded, unknownTool } from './promptRequest.ts';
import { replacementFix } from './yamlReader.ts';
import type { PromptProblem } from './yamlText.ts';

/** Something outside the prompt file that it names, with its range. */
interface Reference extends TextRange {
  readonly kind: 'text' | 'image' | 'cases' | 'tool';
  readonly name: string;
}

interface Finding {
  readonly message: string;
  /** The name that was probably meant. */
  readonly suggestion?: string;
}

/** The most paths of an image with variables that are checked: the first cases show a mistake in them. */
const MAX_PATHS = 20;

/**
 * Checks whether the things that a prompt file names exist. It reads them with the same functions as a run, so that the
 * sentence at the entry is the one with which a run would fail; and it reads them once, until something changes.
 */
export class ReferenceChecker {
  readonly #resources: PromptResources;
  /** The findings by entry, `undefined` if there is no problem. */
  readonly #findings = new Map<string, Finding | undefined>();
  readonly #isCurrent = new Set<string>();
  /** The variables of each data file, by its entry. */
  readonly #variables = new Map<string, ReadonlySet<string>>();

  constructor(resources: PromptResources) {
    this.#resources = resources;
  }

  /** Something has changed: the next check reads everything again. Earlier findings remain until then. */
  invalidate(): void {
    this.#isCurrent.clear();
  }

  /** Reads everything that was not read yet. @throws RolecallError `cancelled`. */
  async look(file: PromptFile, signal: AbortSignal): Promise<void> {
    for (const reference of referencesOf(file)) {
      const key = keyOf(reference);
      if (this.#isCurrent.has(key)) continue;
      this.#findings.set(key, await this.#read(reference, signal));
      this.#isCurrent.add(key);
    }
  }

  /** The paths that are checked, relative to the prompt file. */
  files(file: PromptFile): string[] {
    return referencesOf(file).flatMap(({ kind, name }) => (kind === 'tool' ? [] : [name]));
  }

  /** The problems found so far. @param text that `file` was read from. */
  problems(text: string, file: PromptFile): PromptProblem[] {
    const problems = referencesOf(file).flatMap((reference): PromptProblem[] => {
      const finding = this.#findings.get(keyOf(reference));
      if (!finding) return [];
      const { kind, start, end } = reference;
      const { message, suggestion } = finding;
      const problem = { start, end, severity: 'error', code: kind === 'tool' ? 'unknownTool' : 'badFile' } as const;
      if (suggestion === undefined) return [{ ...problem, message }];
      return [
        {
          ...problem,
          message: didYouMean(message, suggestion),
          fix: replacementFix(reference, text.slice(start, end), suggestion),
        },
      ];
    });
    // The first wrong path of one image.
    const first = problems.filter(({ start }, at) => problems.findIndex((each) => each.start === start) === at);
    return [...first, ...this.#undefinedVariables(file)];
  }

  /** Reported only if all data files could be read. */
  #undefinedVariables(file: PromptFile): PromptProblem[] {
    const { cases } = file.extensions;
    const variables = cases.map(({ value }) => [...(this.#variables.get(value) ?? [])]);
    if (cases.length === 0 || variables.some(({ length }) => length === 0)) return [];
    const names = new Set([...file.cases.flatMap(({ values }) => [...values.keys()]), ...variables.flat()]);
    return placesOf(file).flatMap((place) => undefinedVariable(place, names) ?? []);
  }

  async #read({ kind, name }: Reference, signal: AbortSignal): Promise<Finding | undefined> {
    try {
      if (kind === 'tool') return unknownTool(name, await this.#resources.tools(signal));
      if (kind === 'text') await readIncluded(name, this.#resources, signal);
      else if (kind === 'image') await readImageUrl(name, this.#resources, signal);
      else {
        const { rows, problems } = await readCasesOf(name, this.#resources.readText, signal);
        this.#variables.set(name, new Set(rows.flatMap(({ values }) => [...values.keys()])));
        const [first] = problems;
        return first && { message: caseFileProblemText(first) };
      }
      return undefined;
    } catch (error) {
      if (isCancelled(error) || signal.aborted || !(error instanceof RolecallError)) throw error;
      return { message: asRolecallError(error).message };
    }
  }
}

function keyOf({ kind, name }: Reference): string {
  return `${kind}:${name}`;
}

function referencesOf(file: PromptFile): Reference[] {
  const { messages, cases, extensions } = file;
  const included = messages
    .flatMap(({ content }) => content)
    .flatMap((part) => (part.type === 'text' ? part.text : part.url).placeholders)
    // Values of the case come first.
    .filter(({ kind, name }) => kind === 'file' && !cases.some(({ values }) => values.has(name)))
    .map(({ name, start, end }): Reference => ({ kind: 'text', name: filePath(name), start, end }));
  return [
    ...included,
    ...extensions.images.flatMap((image) => imagePaths(image, file)),
    ...extensions.cases.map(({ value, start, end }): Reference => ({ kind: 'cases', name: value, start, end })),
    ...extensions.tools.map(({ value, start, end }): Reference => ({ kind: 'tool', name: value, start, end })),
  ];
}

/** The paths of an image: one for each case of the file that has all its variables. */
function imagePaths({ value, start, end }: TemplateText, { cases }: PromptFile): Reference[] {
  const names = placeholderNames(value);
  const paths =
    names.length === 0
      ? [value]
      : cases
          .filter(({ values }) => names.every((name) => values.has(name)))
          .map(({ values }) => fillPlaceholders(value, (name) => values.get(name)));
  return [...new Set(paths)].slice(0, MAX_PATHS).map((name) => ({ kind: 'image', name, start, end }));
}
