import { asRolecallError, isCancelled, RolecallError, type TextRange } from '../base/errors.ts';
import { didYouMean } from '../base/text.ts';
import { caseFileProblemText, readCasesOf } from './caseFiles.ts';
import { placesOf, undefinedVariable } from './checkPlaceholders.ts';
import { filePath, fillPlaceholders, placeholderNames, type TemplateText } from './placeholders.ts';
import type { PromptFile } from './promptFile.ts';
import { type PromptResources, readImageUrl, readIncluded, unknownTool } from './promptRequest.ts';
import { replacementFix } from './yamlReader.ts';
import type { PromptProblem } from './yamlText.ts';

/** What a prompt file names beside itself, at its place. */
interface Reference extends TextRange {
  readonly kind: 'text' | 'image' | 'cases' | 'tool';
  readonly name: string;
}

interface Finding {
  readonly message: string;
  /** What was probably meant. */
  readonly meant?: string;
}

/** The paths of an image with variables that are looked at: the first cases show a mistake in them. */
const MAX_PATHS = 20;

/**
 * Whether what a prompt file names is there. It reads what a run would read, by the same functions, so that a run fails with the
 * sentence that stood at the entry; and it reads it once, until it is told that something has changed.
 */
export class ReferenceChecker {
  readonly #resources: PromptResources;
  /** What was found, `undefined` where all is well. */
  readonly #found = new Map<string, Finding | undefined>();
  readonly #isCurrent = new Set<string>();
  /** The variables of each data file, by its entry. */
  readonly #variables = new Map<string, ReadonlySet<string>>();

  constructor(resources: PromptResources) {
    this.#resources = resources;
  }

  /** Something has changed: the next look reads everything again. What was found stands until then. */
  invalidate(): void {
    this.#isCurrent.clear();
  }

  /** Reads what was not read yet. @throws RolecallError `cancelled`. */
  async look(file: PromptFile, signal: AbortSignal): Promise<void> {
    for (const reference of referencesOf(file)) {
      const key = keyOf(reference);
      if (this.#isCurrent.has(key)) continue;
      this.#found.set(key, await this.#read(reference, signal));
      this.#isCurrent.add(key);
    }
  }

  /** The paths that are looked at, relative to the prompt file. */
  files(file: PromptFile): string[] {
    return referencesOf(file).flatMap(({ kind, name }) => (kind === 'tool' ? [] : [name]));
  }

  /** As far as it was looked at. @param text that `file` was read from. */
  problems(text: string, file: PromptFile): PromptProblem[] {
    const problems = referencesOf(file).flatMap((reference): PromptProblem[] => {
      const finding = this.#found.get(keyOf(reference));
      if (!finding) return [];
      const { kind, start, end } = reference;
      const { message, meant } = finding;
      const problem = { start, end, severity: 'error', code: kind === 'tool' ? 'unknownTool' : 'badFile' } as const;
      if (meant === undefined) return [{ ...problem, message }];
      return [
        {
          ...problem,
          message: didYouMean(message, meant),
          fix: replacementFix(reference, text.slice(start, end), meant),
        },
      ];
    });
    // Of the paths of one image, the first that is wrong.
    const first = problems.filter(({ start }, at) => problems.findIndex((each) => each.start === start) === at);
    return [...first, ...this.#undefinedVariables(file)];
  }

  /** Only where all data files could be read. */
  #undefinedVariables(file: PromptFile): PromptProblem[] {
    const { cases } = file.extensions;
    const known = cases.map(({ value }) => [...(this.#variables.get(value) ?? [])]);
    if (cases.length === 0 || known.some(({ length }) => length === 0)) return [];
    const names = new Set([...file.cases.flatMap(({ values }) => [...values.keys()]), ...known.flat()]);
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
    // A value of the case goes first.
    .filter(({ kind, name }) => kind === 'file' && !cases.some(({ values }) => values.has(name)))
    .map(({ name, start, end }): Reference => ({ kind: 'text', name: filePath(name), start, end }));
  return [
    ...included,
    ...extensions.images.flatMap((image) => imagePaths(image, file)),
    ...extensions.cases.map(({ value, start, end }): Reference => ({ kind: 'cases', name: value, start, end })),
    ...extensions.tools.map(({ value, start, end }): Reference => ({ kind: 'tool', name: value, start, end })),
  ];
}

/** A path with variables is one for each case of the file that has them all. */
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
