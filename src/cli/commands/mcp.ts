import process from 'node:process';
import { RolecallError } from '../../core/base/errors.ts';
import type { CommonOptions } from '../configuration.ts';
import { exitCodes } from '../exitCodes.ts';
import type { WindowServices } from '../servicesOfWindow.ts';
import { type Subcommand, withOrganizationOptions } from '../subcommand.ts';

interface McpOptions extends CommonOptions {
  readonly workspaceTools: boolean;
}

export const mcp: Subcommand = (program, run) => {
  withOrganizationOptions(
    program.command('mcp').description('serve access tools and workspace tools to agents (Model Context Protocol)'),
  )
    .option('--no-workspace-tools', 'serve only the access tools')
    .action((options: McpOptions) =>
      run(options, async ({ terminal, signal, open, stdin, manifest }) => {
        const { serveTools } = await import('../mcpServer.ts'); // Read only by this command.
        const ended = new Promise<void>((resolve) => {
          stdin.once('close', resolve).once('end', resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        // Whoever said no is not asked again by every call of an agent.
        let refusal: RolecallError | undefined;
        serveTools(
          {
            version: manifest.version,
            accessTools: manifest.accessTools(),
            folder: options.workspaceTools ? process.cwd() : undefined,
            open: async () => {
              if (refusal) throw refusal;
              const services = await open().catch((error: unknown) => {
                if (error instanceof RolecallError && error.kind === 'forbidden') refusal = error;
                throw error;
              });
              return { services, window: (services as Partial<WindowServices>).window };
            },
            log: terminal.log,
          },
          signal,
        );
        await ended;
        return exitCodes.done;
      }),
    );
};
