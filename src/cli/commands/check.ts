import process from 'node:process';
import type { AccessModel } from '../../core/access/model.ts';
import { asRolecallError, isCancelled, RolecallError } from '../../core/base/errors.ts';
import { type AccessFile, readAccessFile } from '../../core/rules/accessFile.ts';
import {
  type CheckOptions,
  type CheckResult,
  checkAccess,
  checkUnread,
  unknownOrganization,
} from '../../core/rules/checkAccess.ts';
import {
  type CheckedFile,
  positionsIn,
  reportJson,
  reportLines,
  reportSarif,
  worstVerdict,
} from '../../core/rules/reports.ts';
import type { CommonOptions } from '../configuration.ts';
import { type ExitCode, exitCodes } from '../exitCodes.ts';
import { displayPath, findFiles, readTextFile, writeTextFile } from '../files.ts';
import { readOrganization } from '../services.ts';
import { type CommandContext, type Subcommand, withOrganizationOptions } from '../subcommand.ts';
import { printableJson } from '../terminal.ts';

interface CheckCommandOptions extends CommonOptions {
  readonly sarif?: string;
  readonly emails: boolean;
}

/**
 * The part of a file to check: everything, or its declaration alone; `undefined` if the file does not have that part.
 */
type Part = (file: AccessFile) => AccessFile | undefined;

export const check: Subcommand = (program, run) => {
  addCommand(program, run, 'check', 'check access against the rules and the declared state in files', (file) => file);
};

export const drift: Subcommand = (program, run) => {
  addCommand(program, run, 'drift', 'show what differs from the declared state in files', (file) =>
    // If a file could not be read as a whole, its declaration is unknown.
    file.declared || !file.isWhole ? { ...file, rules: [], waivers: [] } : undefined,
  );
};

function addCommand(
  ...[program, run, name, description, part]: [...Parameters<Subcommand>, string, string, Part]
): void {
  withOrganizationOptions(program.command(name).description(description))
    .argument('[files...]', `access rule files or folders (default: the current folder)`)
    .option('--sarif <file>', 'also write SARIF 2.1.0, for code scanning')
    .option('--no-emails', 'name people by ID')
    .action((files: string[], options: CheckCommandOptions) =>
      run(options, (context) => checkFiles(context, options, files, part)),
    );
}

const SUFFIX = '.access.yaml';
const ACCESS_FILE = /\.access\.yaml$/;

async function checkFiles(
  context: CommandContext,
  options: CheckCommandOptions,
  named: readonly string[],
  part: Part,
): Promise<ExitCode> {
  const { terminal, manifest } = context;
  const paths = await findFiles(named, process.cwd(), ACCESS_FILE);
  const other = paths.find((full) => !ACCESS_FILE.test(full));
  if (other !== undefined)
    throw new RolecallError('configuration', `${displayPath(other)} is not an access rules file (*${SUFFIX}).`);
  if (paths.length === 0)
    throw new RolecallError('configuration', `There is no *${SUFFIX} in this folder or its subfolders.`);
  const read = await Promise.all(
    paths.map(async (full) => ({ path: displayPath(full), file: part(readAccessFile(await readTextFile(full))) })),
  );
  const files = read.flatMap(({ path, file }) => (file ? [{ path, file }] : []));
  for (const { path, file } of read) if (!file) terminal.note(`${path} declares nothing.`);
  const now = Date.now();
  // If no file has anything to check, no sign-in is needed.
  const { checked, isUnreached } =
    files.length === 0 ? { checked: [], isUnreached: false } : await checkAll(context, files, { ...options, now });
  if (options.json) await terminal.writeJson(reportJson(checked, { now, emails: options.emails }));
  else for (const file of checked) await terminal.write(`${reportLines(file).join('\n')}\n`);
  if (options.sarif !== undefined)
    await writeTextFile(options.sarif, `${printableJson(reportSarif(checked, manifest.version))}\n`);
  const verdict = worstVerdict(checked);
  if (verdict === 'findings') return exitCodes.finding;
  if (isUnreached) return exitCodes.refused;
  return verdict === 'clean' ? exitCodes.done : exitCodes.incomplete;
}

async function checkAll(
  { terminal, signal, open }: CommandContext,
  files: readonly { readonly path: string; readonly file: AccessFile }[],
  options: CheckOptions & Pick<CommonOptions, 'json'>,
): Promise<{ readonly checked: readonly CheckedFile[]; readonly isUnreached: boolean }> {
  const services = await open().catch((error: unknown) => {
    // The reports would contain them.
    for (const { path: name, file } of files) for (const mistake of mistakesIn(name, file)) terminal.error(mistake);
    throw error;
  });
  const shown = (await services.organizations(signal)).map(({ id }) => id);
  const readings = new Map<string, Promise<AccessModel>>();
  const checked: CheckedFile[] = [];
  let isUnreached = false;
  // Each organization is read once. A file is not trusted: only what the user shows is read, whatever it names.
  const checkFile = async (file: AccessFile): Promise<CheckResult> => {
    const { organization } = file;
    const unknown = unknownOrganization(file, shown);
    if (organization === undefined || unknown) return checkUnread(file, unknown, options);
    const reading = readings.get(organization) ?? readOrganization(services, organization, terminal.note, signal);
    readings.set(organization, reading);
    return checkAccess(file, await reading, options);
  };
  for (const { path: name, file } of files) {
    try {
      checked.push({ path: name, check: await checkFile(file) });
    } catch (error) {
      if (isCancelled(error)) throw error;
      isUnreached = true;
      const { message } = asRolecallError(error);
      // The lines of the report say it already; with --json, nothing else tells a person.
      if (options.json) terminal.error(`${name}: ${message}`);
      checked.push({ path: name, check: checkUnread(file, message, options) });
    }
  }
  return { checked, isUnreached };
}

/** The mistakes of a file by itself, as compilers print them. */
function mistakesIn(name: string, { text, problems }: AccessFile): string[] {
  const positionOf = positionsIn(text);
  return problems
    .filter(({ severity }) => severity === 'error')
    .map(({ start, message }) => {
      const { line, column } = positionOf(start);
      return `${name}:${line}:${column}: ${message}`;
    });
}
