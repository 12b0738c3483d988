import { parseTemplate, type TemplatePart, templateParameters } from './argv.ts';
import type { ParametersSchema } from './definition.ts';

/** A command in which parameters whose values the author lists are replaced by one value each. */
export interface Choice {
  readonly command: readonly string[];
  /** Where each of its templates stands in the definition: a template that is nothing but a missing value is dropped. */
  readonly indices: readonly number[];
}

/** Beyond this many combinations a parameter counts as one with any value. */
const maxChoices = 64;

/**
 * Every command that the listed values make of a definition: what the author lists is the author's, so that only the
 * other parameters can hold something unforeseen. Numbers stand as `0`: none of them is an option, a name or code.
 */
export function choicesOf(
  command: readonly string[],
  parameters: Pick<ParametersSchema, 'properties' | 'required'>,
): Choice[] {
  let fillings: ReadonlyMap<string, string | undefined>[] = [new Map()];
  for (const name of new Set(command.flatMap(templateParameters))) {
    const values = listedValues(parameters.properties[name]);
    if (values === undefined) continue;
    const all = parameters.required.includes(name) ? values : [...values, undefined];
    if (fillings.length * all.length > maxChoices) continue;
    fillings = fillings.flatMap((filling) => all.map((value) => new Map(filling).set(name, value)));
  }
  return fillings.map((filling) => fill(command, filling));
}

function listedValues(property: Readonly<Record<string, unknown>> | undefined): readonly string[] | undefined {
  if (property?.type === 'integer' || property?.type === 'number') return ['0'];
  if (!Array.isArray(property?.enum)) return undefined;
  const values = property.enum.map((value: unknown) =>
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  );
  // With these a value could become part of another template.
  return values.some((value) => /[${]/.test(value)) ? undefined : values;
}

function fill(command: readonly string[], filling: ReadonlyMap<string, string | undefined>): Choice {
  const filled = command.flatMap((template, index) => {
    const parsed = parseTemplate(template);
    if (parsed.kind === 'invalid') return [{ template, index }];
    const [first, second] = parsed.parts;
    const isMissing =
      first?.kind === 'parameter' &&
      second === undefined &&
      filling.has(first.name) &&
      filling.get(first.name) === undefined;
    return isMissing ? [] : [{ template: parsed.parts.map((part) => text(part, filling)).join(''), index }];
  });
  return { command: filled.map(({ template }) => template), indices: filled.map(({ index }) => index) };
}

function text(part: TemplatePart, filling: ReadonlyMap<string, string | undefined>): string {
  if (part.kind === 'text') return part.text.replaceAll('${', '$${');
  return filling.has(part.name) ? (filling.get(part.name) ?? '') : `\${${part.name}}`;
}
