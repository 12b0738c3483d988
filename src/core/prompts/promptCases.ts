import { createHash } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import type { YamlReader } from './yamlReader.ts';
import type { Member } from './yamlText.ts';

/** One request with its values: an entry of `testData`, or a row of a data file. */
export interface PromptCase {
  /**
   * Unique in its file, and stable: made of the name of the case, else of its input, so that neither other cases nor a changed
   * expectation move it.
   */
  readonly id: string;
  /** For users: its name, else the beginning of its input. */
  readonly label: string;
  /** The text of each variable: scalars as written, anything else as JSON. */
  readonly values: ReadonlyMap<string, string>;
  /** The range in the prompt file; absent for a row of a data file. */
  readonly range?: TextRange;
  /** The place of a row of a data file; lines count from 1. */
  readonly source?: { readonly path: string; readonly line: number };
}

/** A case without its ID, which depends on the others. */
export type UnnamedCase = Omit<PromptCase, 'id' | 'label'>;

/** Keys that name a case. */
export const nameKeys: readonly string[] = ['name', 'title'];
const LONGEST_LABEL = 60;

/** Gives every case its ID. If several have the same name or input, the later ones are numbered. */
export function nameCases(cases: readonly UnnamedCase[]): PromptCase[] {
  const counts = new Map<string, number>();
  return cases.map((one, index) => {
    const { id, label } = identityOf(one.values, index);
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    const isAgain = count > 1;
    return { ...one, id: isAgain ? `${id}~${count}` : id, label: isAgain ? `${label} (${count})` : label };
  });
}

function identityOf(values: ReadonlyMap<string, string>, index: number): { id: string; label: string } {
  const name = nameKeys.map((key) => values.get(key)?.trim()).find(Boolean);
  if (name !== undefined) return { id: `name:${name}`, label: oneLine(name) };
  const input = values.get('input')?.trim();
  if (input) return { id: `input:${hash(input)}`, label: oneLine(input) };
  const [first = ''] = [...values.values()].filter((value) => value.trim() !== '');
  const label = first === '' ? l10n.t('Case {0}', index + 1) : oneLine(first);
  return { id: `values:${hash(JSON.stringify([...values]))}`, label };
}

function oneLine(text: string): string {
  return truncateWithEllipsis(text.replace(/\s+/g, ' ').trim(), LONGEST_LABEL);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** Names under which other formats nest the variables of a case. */
const nests: readonly string[] = ['vars', 'inputs', 'variables'];

/** Reads `testData`. @returns each case with the places of its keys. */
export function readCases(
  reader: YamlReader,
  member: Member | undefined,
): { readonly promptCase: UnnamedCase; readonly keys: ReadonlyMap<string, TextRange> }[] {
  return reader.items(member).flatMap((node) => {
    const range = reader.yaml.rangeOf(node);
    const members = reader.yaml.members(node);
    if (!members) {
      reader.error(range, 'wrongType', l10n.t('A case must be a mapping of variables.'));
      return [];
    }
    const values = new Map<string, string>();
    for (const variable of members) {
      const value = valueInCase(reader, variable);
      if (value === undefined) continue;
      values.set(variable.key, value);
      if (!nests.includes(variable.key) || !reader.yaml.members(variable.value)) continue;
      const message = l10n.t(
        'Put variables directly in the case. "{0}" is treated as one value, written as JSON.',
        variable.key,
      );
      reader.report(variable.keyRange, 'information', 'nestedVariables', message);
    }
    return [{ promptCase: { values, range }, keys: new Map(members.map(({ key, keyRange }) => [key, keyRange])) }];
  });
}

function valueInCase(reader: YamlReader, member: Member): string | undefined {
  if (!member.value) return undefined;
  if (reader.yaml.scalar(member.value)) return reader.text(member);
  if (reader.yaml.slice(member.range).startsWith('{{')) return reader.text(member);
  const value = reader.json(member);
  return value === undefined ? undefined : JSON.stringify(value);
}
