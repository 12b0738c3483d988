import { listModels } from '../../core/completions/models.ts';
import type { CommonOptions } from '../configuration.ts';
import { exitCodes } from '../exitCodes.ts';
import { inferenceConnection } from '../services.ts';
import { type Subcommand, withCommonOptions } from '../subcommand.ts';

export const models: Subcommand = (program, run) => {
  withCommonOptions(program.command('models').description('the models of the inference service')).action(
    (options: CommonOptions) =>
      run(options, async ({ terminal, signal, open }) => {
        const services = await open();
        const listed = (await listModels(services.inference, inferenceConnection(services), signal)) ?? [];
        if (options.json) {
          await terminal.writeJson({ models: listed.map((model) => ({ ...model })) });
        } else {
          for (const { id, contextLength } of listed) {
            await terminal.writeLine(contextLength === undefined ? id : `${id}\t${contextLength} tokens`);
          }
        }
        if (listed.length > 0) return exitCodes.done;
        terminal.note('The inference service lists no models. Name one with --model or ROLECALL_MODEL.');
        return exitCodes.finding;
      }),
  );
};
