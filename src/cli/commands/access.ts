import { Option } from 'commander';
import { type AccessToolInput, type AccessToolName, fullAnswer } from '../../core/access/accessTools.ts';
import { accessAnswerText } from '../../core/access/answers.ts';
import { englishGapText } from '../../core/access/english.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import { documentMarkdown } from '../../core/access/pageDocument.ts';
import {
  effectiveAccess,
  findPrincipals,
  findRoles,
  groupName,
  holdersOf,
  roleName,
} from '../../core/access/queries.ts';
import { reviewCsv, reviewDocument, reviewJson } from '../../core/access/reviewText.ts';
import { asRolecallError, isCancelled } from '../../core/base/errors.ts';
import type { CommonOptions } from '../configuration.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exitCodes.ts';
import { noOrganizationError, onlyOrganization, readOrganization } from '../services.ts';
import { type CommandContext, type Subcommand, withOrganizationOptions } from '../subcommand.ts';
import { printableJson } from '../terminal.ts';

/** A question about access, and its answer for programs. */
interface Asked {
  readonly tool: AccessToolName;
  readonly input: AccessToolInput;
  /** One for each role or person of that name. */
  readonly matches: (model: AccessModel) => readonly Match[];
}

interface Match {
  /** False for a role that nobody has, and for a person who can reach nothing. */
  readonly isFound: boolean;
  readonly json: object;
}

export const whoHas: Subcommand = (program, run) => {
  withOrganizationOptions(program.command('who-has').description('show who has a role, and through which groups'))
    .argument('<role>', 'name or ID of the role, or part of it')
    .action((role: string, options: CommonOptions) =>
      run(options, (context) =>
        ask(context, options, {
          tool: 'who_has_role',
          input: { role },
          matches: (model) =>
            findRoles(model, role).map((entry) => {
              const holders = holdersOf(entry);
              const json = {
                role: jsonOfRole(entry),
                holders: holders.map(({ principal, grantedBy }) => ({
                  ...jsonOfPrincipal(principal),
                  through: grantedBy.map(jsonOfGroup),
                })),
              };
              return { isFound: holders.length > 0, json };
            }),
        }),
      ),
    );
};

export const access: Subcommand = (program, run) => {
  withOrganizationOptions(
    program.command('access').description('show what a person or service account can reach, and through which groups'),
  )
    .argument('<person>', 'email address or ID, or part of it')
    .action((who: string, options: CommonOptions) =>
      run(options, (context) =>
        ask(context, options, {
          tool: 'effective_access',
          input: { who },
          matches: (model) =>
            findPrincipals(model, who).map((principal) => {
              const reached = effectiveAccess(principal);
              const json = {
                ...jsonOfPrincipal(principal),
                groups: principal.groups.map(jsonOfGroup),
                roles: reached.map(({ role, grantedBy }) => ({
                  ...jsonOfRole(role),
                  through: grantedBy.map(jsonOfGroup),
                })),
              };
              return { isFound: reached.length > 0, json };
            }),
        }),
      ),
    );
};

const formats = {
  md: (model: AccessModel, reader: Parameters<typeof reviewDocument>[1]) =>
    documentMarkdown(reviewDocument(model, reader)),
  csv: reviewCsv,
  json: reviewJson,
} as const;
export const reviewFormats = Object.keys(formats);

export const review: Subcommand = (program, run) => {
  withOrganizationOptions(program.command('review').description('show the access review of an organization'))
    .addOption(
      new Option('--format <format>', 'Markdown, CSV or JSON').choices(reviewFormats).default('md').conflicts('json'),
    )
    .action((options: CommonOptions & { readonly format: keyof typeof formats }) =>
      run(options, async (context) => {
        const { terminal, signal } = context;
        const services = await context.open();
        const organization = onlyOrganization(await services.organizations(signal));
        const reader = { service: new URL(services.identityUrl).host, account: await services.account(signal) };
        const model = await readOrganization(services, organization, (message) => terminal.note(message), signal);
        const format = options.json ? 'json' : options.format;
        const text = formats[format](model, reader);
        await terminal.write(format === 'json' ? `${printableJson(JSON.parse(text))}\n` : text);
        return reportGaps(context, model);
      }),
    );
};

/** Asks each organization. One that cannot be read does not prevent the others from answering. */
async function ask(
  context: CommandContext,
  { json }: CommonOptions,
  { tool, input, matches }: Asked,
): Promise<ExitCode> {
  const { terminal, signal } = context;
  const services = await context.open();
  const organizations = await services.organizations(signal);
  if (organizations.length === 0) throw noOrganizationError();
  const results: object[] = [];
  const failures: ExitCode[] = [];
  let isWhole = true;
  let hasFound = false;
  for (const { id } of organizations) {
    try {
      const model = await readOrganization(services, id, (message) => terminal.note(message), signal);
      const found = matches(model);
      hasFound ||= found.some(({ isFound }) => isFound);
      if (json) results.push({ ...jsonOfModel(model), matches: found.map((match) => match.json) });
      else {
        const text = accessAnswerText(fullAnswer(model, tool, input, Number.POSITIVE_INFINITY)).trim();
        await terminal.write(`${results.length > 0 ? '\n' : ''}${text}\n`);
        results.push(model);
      }
      isWhole &&= reportGaps(context, model) === exitCodes.done;
    } catch (error) {
      if (isCancelled(error)) throw error;
      const { kind, message } = asRolecallError(error);
      terminal.error(message);
      if (json) results.push({ organization: id, complete: false, error: { kind, message } });
      failures.push(exitCodeOf(error));
    }
  }
  if (json) await terminal.writeJson({ organizations: results });
  const [failure] = failures;
  if (failure !== undefined && failures.length === organizations.length) return failure;
  if (failure !== undefined || !isWhole) return exitCodes.incomplete;
  return hasFound ? exitCodes.done : exitCodes.finding;
}

/** Reports what is missing in the answer on standard error, because its text may go through a pipe unseen. */
function reportGaps({ terminal }: CommandContext, { organization, gaps }: AccessModel): ExitCode {
  for (const gap of gaps) terminal.error(`The answer for ${organization} is incomplete. ${englishGapText(gap)}`);
  return gaps.length === 0 ? exitCodes.done : exitCodes.incomplete;
}

function jsonOfModel({ organization, at, gaps }: AccessModel): object {
  return {
    organization,
    ...(at !== undefined && { readAt: new Date(at).toISOString() }),
    complete: gaps.length === 0,
    gaps: gaps.map((gap) => ({ ...gap, text: englishGapText(gap) })),
  };
}

function jsonOfRole(entry: RoleEntry): object {
  return { id: entry.id, name: roleName(entry), listed: entry.role !== undefined };
}

function jsonOfGroup(entry: GroupEntry): object {
  return { id: entry.group.metadata.id, name: groupName(entry) };
}

function jsonOfPrincipal({ kind, id, email, issuer }: Principal): object {
  return { kind, id, email, issuer };
}

export const whoami: Subcommand = (program, run) => {
  withOrganizationOptions(program.command('whoami').description('show which sign-in is used, and where')).action(
    (options: CommonOptions) =>
      run(options, async ({ terminal, signal, open }) => {
        const services = await open();
        const account = await services.account(signal);
        const { identityUrl, source } = services;
        const organizations = await services.organizations(signal).catch((error: unknown) => {
          if (isCancelled(error)) throw error;
          return asRolecallError(error);
        });
        const ids = organizations instanceof Error ? undefined : organizations.map(({ id }) => id);
        if (options.json) {
          await terminal.writeJson({ account, identityUrl, source, organizations: ids });
        } else {
          await terminal.writeLine(`${account} at ${identityUrl}`);
          await terminal.writeLine(`Sign-in: ${source}`);
          if (ids) await terminal.writeLine(`Organizations: ${ids.join(', ') || 'none'}`);
        }
        if (organizations instanceof Error) terminal.note(organizations.message);
        return exitCodes.done;
      }),
  );
};
