import * as z from 'zod/mini';
import {
  defaultOutputLimit,
  defaultTimeoutSeconds,
  httpMethods,
  maxCommandLength,
  maxOutputLimit,
  maxTimeoutSeconds,
  minOutputLimit,
} from './definition.ts';

/** The shapes of `run`, one for each kind. What rests on the parameters is checked elsewhere (`runFindings.ts`). */

const noNul = (what: string) =>
  z.refine<string>((text) => !text.includes('\0'), `${what} may not hold a NUL character.`);

const limits = {
  timeoutSeconds: z._default(
    z
      .number('"timeoutSeconds" has to be a number.')
      .check(
        z.gt(0, '"timeoutSeconds" has to be more than 0.'),
        z.lte(maxTimeoutSeconds, `"timeoutSeconds" may be at most ${maxTimeoutSeconds}.`),
      ),
    defaultTimeoutSeconds,
  ),
  outputLimit: z._default(
    z
      .int('"outputLimit" has to be a whole number of bytes.')
      .check(
        z.gte(minOutputLimit, `"outputLimit" has to be at least ${minOutputLimit} bytes.`),
        z.lte(maxOutputLimit, `"outputLimit" may be at most ${maxOutputLimit} bytes.`),
      ),
    defaultOutputLimit,
  ),
};

export const processRun = z.object({
  kind: z.literal('process'),
  command: z
    .array(z.string('Each element of "command" has to be a string.').check(noNul('An argument')), {
      error: '"command" has to be an array of strings: the program, then its arguments.',
    })
    .check(
      z.minLength(1, '"command" needs at least the program to run.'),
      z.maxLength(maxCommandLength, `"command" may have at most ${maxCommandLength} elements.`),
      z.refine((command) => command[0] !== '', 'The program in "command" may not be empty.'),
    ),
  cwd: z._default(
    z
      .string('"cwd" has to be a string: a folder, relative to the workspace folder.')
      .check(z.minLength(1, '"cwd" may not be empty; leave it out for the workspace folder.'), noNul('"cwd"')),
    '.',
  ),
  env: z._default(
    z.record(
      z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of an environment variable.')),
      z.string('The value of an environment variable has to be a string.').check(noNul('The value of a variable')),
      '"env" has to be an object of strings.',
    ),
    {},
  ),
  ...limits,
  stdin: z._default(z.enum(['json', 'none'], '"stdin" has to be "json" or "none".'), 'none'),
});

export const commandRun = z.object({
  kind: z.literal('command'),
  command: z
    .string('"command" has to be the id of a command of the editor, for example "workbench.action.files.saveAll".')
    .check(z.regex(/^[^\s\p{C}]+$/u, 'The id of a command is not empty and holds no blanks.')),
  arguments: z._default(z.array(z.unknown(), '"arguments" has to be an array: one element for each argument.'), []),
  ...limits,
});

export const forwardRun = z.object({
  kind: z.literal('tool'),
  tool: z
    .string('"tool" has to be the name of a tool the editor knows.')
    .check(z.regex(/^[^\s\p{C}]+$/u, 'The name of a tool is not empty and holds no blanks.')),
  input: z.optional(z.record(z.string(), z.unknown(), '"input" has to be an object: the input of the tool.')),
  ...limits,
});

export const httpRun = z.object({
  kind: z.literal('http'),
  method: z._default(z.enum(httpMethods, `"method" has to be one of: ${httpMethods.join(', ')}.`), 'GET'),
  url: z.string('"url" has to be a string: an address that begins with https://.'),
  headers: z._default(
    z.record(
      z.string().check(z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no name of a header.')),
      z
        .string('The value of a header has to be a string.')
        .check(z.regex(/^[\x20-\x7e\t]*$/, 'The value of a header is plain ASCII text on one line.')),
      '"headers" has to be an object of strings.',
    ),
    {},
  ),
  body: z.optional(z.unknown()),
  ...limits,
});

export const runSchemas = [processRun, commandRun, forwardRun, httpRun] as const;
