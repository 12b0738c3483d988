import fs from 'node:fs';
import path from 'node:path';
import { type AccessModel, buildModel } from '../../core/access/model.ts';
import { asRolecallError, isCancelled, RolecallError, systemErrorCode } from '../../core/base/errors.ts';
import { type AccessFile, readAccessFile } from '../../core/rules/accessFile.ts';
import { checkAccess } from '../../core/rules/judge.ts';
import { type CheckedFile, reportJson, reportLines, reportSarif, verdictOf } from '../../core/rules/reports.ts';
import type { CommonOptions } from '../configuration.ts';

import { readOrganization } from '../readOrganization.ts';
import type { Services } from '../services.ts';
import { type Context, type ExitCode, exitCodes, type Subcommand, withCommonOptions } from '../subcommand.ts';
import { printableJson } from '../terminal.ts';

interface CheckOptions extends CommonOptions {
  readonly sarif?: string;
  readonly emails: boolean;
}

/** What a file is checked for: everything, or what it declares alone. */
type Part = (file: AccessFile) => AccessFile;

export const check: Subcommand = (program, run) => {
  addCommand(program, run, 'check', 'checks access by the rules and the declared state of files', (file) => file);
};

export const drift: Subcommand = (program, run) => {
  addCommand(program, run, 'drift', 'what differs from the declared state of files', (file) => ({
    ...file,
    rules: [],
    waivers: [],
  }));
};

function addCommand(
  ...[program, run, name, description, part]: [...Parameters<Subcommand>, string, string, Part]
): void {
  withCommonOptions(program.command(name).description(description))
    .argument('[files...]', `files of access rules; all *${SUFFIX} in this folder and below unless given`)
    .option('--sarif <file>', 'write SARIF 2.1.0 too, for code scanning')
    .option('--no-emails', 'name people by ID')
    .action((files: string[], options: CheckOptions) =>
      run(options, (context) => checkFiles(context, options, files, part)),
    );
}

const SUFFIX = '.access.yaml';
/** Where nobody keeps rules of their own. */
const EXCLUDED = new Set(['node_modules', '.git']);

async function checkFiles(
  context: Context,
  options: CheckOptions,
  named: readonly string[],
  part: Part,
): Promise<ExitCode> {
  const { terminal, signal, manifest } = context;
  const files = readFiles(named.length > 0 ? named : findFiles()).map(({ path: name, text }) => ({
    path: name,
    file: part(readAccessFile(text)),
  }));
  const services = await context.open();
  const shown = new Set((await services.organizations(signal)).map(({ id }) => id));
  const now = Date.now();
  const readings = new Map<string, Promise<AccessModel>>();
  const checked: CheckedFile[] = [];
  let isUnreached = false;
  for (const { path: name, file } of files) {
    try {
      const model = await readingOf(file, shown, readings, services, context);
      checked.push({ path: name, check: checkAccess(file, model, { now, emails: options.emails }) });
    } catch (error) {
      if (isCancelled(error)) throw error;
      isUnreached = true;
      terminal.error(`${name}: ${asRolecallError(error).message}`);
    }
  }
  if (options.json) await terminal.writeJson(reportJson(checked, { now, emails: options.emails }));
  else for (const one of checked) await terminal.write(`${reportLines(one).join('\n')}\n`);
  if (options.sarif !== undefined) writeSarif(options.sarif, reportSarif(checked, manifest.version));
  const verdict = verdictOf(checked);
  if (verdict === 'findings') return exitCodes.finding;
  if (isUnreached) return exitCodes.refused;
  return verdict === 'clean' ? exitCodes.done : exitCodes.incomplete;
}

/** Each organization is read once. A file is not trusted: only what the user shows is read, whatever it names. */
async function readingOf(
  file: AccessFile,
  shown: ReadonlySet<string>,
  readings: Map<string, Promise<AccessModel>>,
  services: Services,
  { terminal, signal }: Context,
): Promise<AccessModel> {
  const { organization } = file;
  if (organization === undefined || !shown.has(organization)) return nothingRead(organization ?? '');
  const reading = readings.get(organization) ?? readOrganization(services, organization, terminal.note, signal);
  readings.set(organization, reading);
  return reading;
}

function nothingRead(organization: string): AccessModel {
  const problem = `${organization === '' ? 'No organization' : organization} is not among the organizations that you show.`;
  const list = { items: undefined, malformed: 0, at: undefined, problem };
  return buildModel({ organization, groups: list, roles: list });
}

function findFiles(): readonly string[] {
  const found = filesIn('');
  if (found.length === 0) throw new RolecallError('configuration', `There is no *${SUFFIX} in this folder or below.`);
  return found;
}

/** Links are not followed: they may lead anywhere. */
function filesIn(folder: string): readonly string[] {
  const entries = fs.readdirSync(folder || '.', { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return EXCLUDED.has(entry.name) ? [] : filesIn(name);
    return entry.isFile() && entry.name.endsWith(SUFFIX) ? [name] : [];
  });
}

function readFiles(names: readonly string[]): readonly { readonly path: string; readonly text: string }[] {
  return names.map((name) => {
    try {
      return { path: path.relative('', name).replaceAll(path.sep, '/'), text: fs.readFileSync(name, 'utf8') };
    } catch (cause) {
      throw new RolecallError('configuration', `${name} cannot be read (${systemErrorCode(cause)}).`, { cause });
    }
  });
}

function writeSarif(name: string, sarif: object): void {
  try {
    fs.writeFileSync(name, `${printableJson(sarif)}\n`);
  } catch (cause) {
    throw new RolecallError('configuration', `${name} cannot be written (${systemErrorCode(cause)}).`, { cause });
  }
}
