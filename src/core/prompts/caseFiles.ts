import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import { isJsonObject, parseJson } from '../base/json.ts';
import { nameCases, type PromptCase, type UnnamedCase } from './promptCases.ts';
import type { PromptFile } from './promptFile.ts';
import { checkPath, type PromptResources } from './promptRequest.ts';

/** A line of a data file that is not a case. */
export interface CaseFileProblem {
  readonly path: string;
  /** From 1; absent if the problem concerns the whole file. */
  readonly line?: number;
  readonly message: string;
}

export interface CaseFile {
  readonly rows: readonly UnnamedCase[];
  readonly problems: readonly CaseFileProblem[];
}

/** The most cases of a prompt file, data files included. */
const MAX_CASES = 10_000;
const SHOWN_PROBLEMS = 20;

/** The problem with its place: `cases.csv:3: …`. */
export function caseFileProblemText({ path, line, message }: CaseFileProblem): string {
  const place = [path, line].filter((each) => each !== undefined && each !== '').join(':');
  return place === '' ? message : `${place}: ${message}`;
}

/** Reads a data file: CSV with a header if its name ends in `.csv`, else JSON, one object a line. */
export function readCaseFile(path: string, text: string): CaseFile {
  const plain = text.replace(/^\uFEFF/, '');
  const { rows, problems } = /\.csv$/i.test(path) ? readCsvCases(path, plain) : readJsonLines(path, plain);
  return { rows: rows.slice(0, MAX_CASES), problems: problems.slice(0, SHOWN_PROBLEMS) };
}

/**
 * Reads the data file of an entry. If it cannot be read, that is a problem of the result. @throws RolecallError
 * `cancelled`.
 */
export async function readCasesOf(
  entry: string,
  readText: PromptResources['readText'],
  signal: AbortSignal,
): Promise<CaseFile> {
  try {
    const path = checkPath(entry);
    return readCaseFile(path, await readText(path, signal));
  } catch (error) {
    if (!(error instanceof RolecallError) || signal.aborted) throw error;
    return { rows: [], problems: [{ path: '', message: error.message }] };
  }
}

/**
 * The cases of the file and of its data files, with unique IDs. A data file that cannot be read is a problem, and the
 * other cases are still there.
 */
export async function allCases(
  file: Pick<PromptFile, 'cases' | 'extensions'>,
  readText: PromptResources['readText'],
  signal: AbortSignal,
): Promise<{ readonly cases: readonly PromptCase[]; readonly problems: readonly CaseFileProblem[] }> {
  if (file.extensions.cases.length === 0) return { cases: file.cases, problems: [] };
  const rows: UnnamedCase[] = [...file.cases];
  const problems: CaseFileProblem[] = [];
  for (const { value } of file.extensions.cases) {
    const read = await readCasesOf(value, readText, signal);
    rows.push(...read.rows);
    problems.push(...read.problems);
  }
  if (rows.length > MAX_CASES) {
    problems.push({ path: '', message: l10n.t('Only the first {0} cases are read.', MAX_CASES) });
  }
  return { cases: nameCases(rows.slice(0, MAX_CASES)), problems };
}

function readJsonLines(path: string, text: string): CaseFile {
  const rows: UnnamedCase[] = [];
  const problems: CaseFileProblem[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '') continue;
    const object = parseJson(line);
    if (isJsonObject(object)) rows.push(caseOf(Object.entries(object), path, index + 1));
    else problems.push({ path, line: index + 1, message: l10n.t('This line is not a JSON object.') });
  }
  return { rows, problems };
}

function readCsvCases(path: string, text: string): CaseFile {
  const [header, ...records] = parseCsv(text);
  if (!header) return { rows: [], problems: [{ path, message: l10n.t('This file has no header.') }] };
  const rows: UnnamedCase[] = [];
  const problems: CaseFileProblem[] = [];
  for (const { line, fields } of records) {
    if (fields.length === header.fields.length) {
      rows.push(
        caseOf(
          header.fields.map((name, at) => [name.trim(), fields[at]] as const),
          path,
          line,
        ),
      );
      continue;
    }
    const message = l10n.t('This row has {0} fields, but the header has {1}.', fields.length, header.fields.length);
    problems.push({ path, line, message });
  }
  return { rows, problems };
}

function caseOf(members: readonly (readonly [string, unknown])[], path: string, line: number): UnnamedCase {
  const values = new Map<string, string>();
  for (const [name, value] of members) {
    if (value === null || value === undefined) continue;
    values.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return { values, source: { path, line } };
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** RFC 4180: quoted fields may contain commas, line breaks and doubled quotes. Empty lines are not records. */
function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  const field = /"((?:[^"]|"")*)"?|[^,\r\n]*/y;
  const end = /,|\r\n|\r|\n/y;
  let fields: string[] = [];
  let line = 1;
  let start = 1;
  for (let at = 0; at < text.length; ) {
    field.lastIndex = at;
    const [whole = '', quoted] = field.exec(text) ?? [];
    // Text behind a closing quote belongs to the field.
    const rest = quoted === undefined ? '' : restAt(text, at + whole.length);
    fields.push(quoted === undefined ? whole : quoted.replaceAll('""', '"') + rest);
    end.lastIndex = at + whole.length + rest.length;
    const separator = end.exec(text)?.[0] ?? '';
    line += (whole + separator).match(/\r\n|\r|\n/g)?.length ?? 0;
    at += whole.length + rest.length + separator.length;
    if (separator === ',' && at < text.length) continue;
    if (separator === ',') fields.push('');
    if (fields.length > 1 || fields[0] !== '') records.push({ line: start, fields });
    fields = [];
    start = line;
  }
  return records;
}

function restAt(text: string, at: number): string {
  const rest = /[^,\r\n]*/y;
  rest.lastIndex = at;
  return rest.exec(text)?.[0] ?? '';
}
