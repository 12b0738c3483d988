import { createReadStream } from 'node:fs';
import path from 'node:path';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { streamCompletion } from '../../core/completions/client.ts';
import type { Completion } from '../../core/completions/completion.ts';
import { listModels } from '../../core/completions/models.ts';
import { type ChatMessage, fenceFor } from '../../core/completions/request.ts';
import type { CommonOptions } from '../configuration.ts';
import { type ExitCode, exitCodes } from '../exitCodes.ts';
import { cannotRead } from '../files.ts';
import { inferenceConnection, type Services } from '../services.ts';
import { type CommandContext, collectValues, type Subcommand, withCommonOptions } from '../subcommand.ts';

interface ChatOptions extends CommonOptions {
  readonly file?: readonly string[];
  readonly model?: string;
  readonly system?: string;
}

/** The largest file or standard input, in bytes. Longer input is refused: a model would get half of it. */
const MAX_INPUT = 1_000_000;
/** The name of standard input in arguments. */
const STDIN = '-';

export const chat: Subcommand = (program, run) => {
  withCommonOptions(program.command('chat').description('ask a model and print its answer as it arrives'))
    .argument('[message]', 'what to ask (default: standard input)')
    .option('-f, --file <path>', 'text file to attach (- for standard input); repeatable', collectValues)
    .option('-m, --model <id>', 'the model to ask (ROLECALL_MODEL)')
    .option('-s, --system <text>', 'instructions for the model')
    .action((message: string | undefined, options: ChatOptions) =>
      run(options, async (context) => {
        const messages = await messagesOf(message, options, context);
        const services = await context.open();
        const model = options.model ?? services.defaultModel ?? (await firstModel(services, context.signal));
        const completion = await stream(services, { model, messages }, options.json === true, context);
        const { object: _, ...answer } = completion; // The name of the service's shape, which this isn't.
        if (options.json) await context.terminal.writeJson(answer);
        return reportEnding(completion, context);
      }),
    );
};

async function stream(
  services: Services,
  request: { readonly model: string; readonly messages: readonly ChatMessage[] },
  isQuiet: boolean,
  { terminal, signal }: CommandContext,
): Promise<Completion> {
  const events = streamCompletion(services.inference, inferenceConnection(services), request, {}, signal);
  let last = '\n';
  try {
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done) return next.value;
      if (next.value.kind === 'notice') terminal.note(next.value.message);
      if (next.value.kind !== 'text' || isQuiet) continue;
      last = next.value.text.at(-1) ?? last;
      await terminal.write(next.value.text);
    }
  } finally {
    if (last !== '\n') await terminal.write('\n');
  }
}

/** Reports that an answer is incomplete, so that a script notices. */
function reportEnding({ complete, incompleteReason, choices }: Completion, { terminal }: CommandContext): ExitCode {
  const [choice] = choices;
  const problem = complete ? problemOf(choice) : incompleteReason;
  if (problem === undefined) return exitCodes.done;
  terminal.error(problem);
  return exitCodes.incomplete;
}

function problemOf(choice: Completion['choices'][number] | undefined): string | undefined {
  if (choice?.ending === 'length') return 'The answer reached its length limit and was cut off.';
  if (choice?.ending === 'endedEarly') return `The service ended the answer early (${choice.finishReason}).`;
  return (choice?.text ?? '').trim() === '' ? 'The model returned an empty answer.' : undefined;
}

async function messagesOf(message: string | undefined, options: ChatOptions, context: CommandContext) {
  const names = options.file ?? [];
  // Read only where it is asked for: whoever started the program may have left it open.
  const piped = message === undefined || names.includes(STDIN) ? await readInput(context) : '';
  const files = await Promise.all(
    names.map((name) => (name === STDIN ? fencedInput('Standard input', piped) : readFile(name, context.signal))),
  );
  const parts = [message ?? (names.includes(STDIN) ? '' : piped), ...files];
  const content = parts.filter((part) => part.trim() !== '').join('\n\n');
  if (content === '') throw new RolecallError('invalidRequest', 'There is no message. Type one, or pipe it in.');
  return [
    ...(options.system === undefined ? [] : [{ role: 'system', content: options.system }]),
    { role: 'user', content },
  ];
}

async function readFile(file: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    // Some files have no end, and no size either.
    for await (const chunk of createReadStream(file, { end: MAX_INPUT, signal })) chunks.push(chunk as Buffer);
  } catch (error) {
    if (signal.aborted) throw cancelled();
    throw cannotRead(file, error);
  }
  return fencedInput(path.basename(file), decode(Buffer.concat(chunks), file));
}

function fencedInput(title: string, text: string): string {
  if (text.trim() === '') return '';
  const fence = fenceFor(text);
  return `${title}:\n${fence}\n${text}\n${fence}`;
}

function decode(bytes: Buffer, name: string): string {
  if (bytes.length > MAX_INPUT) throw new RolecallError('invalidRequest', `${name} is larger than 1 MB.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RolecallError('invalidRequest', `${name} is not UTF-8 text.`);
  }
}

/** The whole standard input; at a terminal, the user ends it with Ctrl-D. */
async function readInput({ stdin, signal }: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      chunks.push(bytes);
      if (size > MAX_INPUT) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (signal.aborted) throw cancelled(signal.reason);
  return decode(Buffer.concat(chunks), 'Standard input');
}

async function firstModel(services: Services, signal: AbortSignal): Promise<string> {
  const [first] = (await listModels(services.inference, inferenceConnection(services), signal)) ?? [];
  if (first) return first.id;
  throw new RolecallError('configuration', 'Specify a model with --model or ROLECALL_MODEL: the service lists none.');
}

export const models: Subcommand = (program, run) => {
  withCommonOptions(program.command('models').description('list the models of the inference service')).action(
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
        terminal.note('The inference service lists no models. Specify one with --model or ROLECALL_MODEL.');
        return exitCodes.finding;
      }),
  );
};
