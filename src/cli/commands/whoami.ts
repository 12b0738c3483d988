import { asRolecallError, isCancelled } from '../../core/base/errors.ts';
import type { CommonOptions } from '../configuration.ts';
import { exitCodes } from '../exitCodes.ts';
import { type Subcommand, withCommonOptions } from '../subcommand.ts';

export const whoami: Subcommand = (program, run) => {
  withCommonOptions(program.command('whoami').description('whose sign-in is used, and where')).action(
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
