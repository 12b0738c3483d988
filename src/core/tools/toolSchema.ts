import * as z from 'zod/mini';
import {
  defaultOutputLimit,
  defaultTimeoutSeconds,
  maxOutputLimit,
  maxTimeoutSeconds,
  minOutputLimit,
} from './definition.ts';

/** The shapes of the file. Unknown members pass here; the reader reports them, as they are most often misspelt. */

const noNul = (what: string) =>
  z.refine<string>((text) => !text.includes('\0'), `${what} may not hold a NUL character.`);

const processRun = z.object({
  kind: z.literal('process'),
  command: z
    .array(z.string('Each element of "command" has to be a string.').check(noNul('An argument')), {
      error: '"command" has to be an array of strings: the program, then its arguments.',
    })
    .check(
      z.minLength(1, '"command" needs at least the program to run.'),
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
  stdin: z._default(z.enum(['json', 'none'], '"stdin" has to be "json" or "none".'), 'none'),
});

const parameters = z.looseObject(
  {
    type: z.literal('object', 'The "type" of "parameters" has to be "object".'),
    properties: z._default(
      z.record(
        z.string(),
        z.looseObject({}, 'A parameter has to be an object with "type" and "description".'),
        '"properties" has to be an object: one member for each parameter.',
      ),
      {},
    ),
    required: z._default(
      z.array(z.string('"required" holds names of parameters.'), '"required" has to be an array of names.'),
      [],
    ),
  },
  '"parameters" has to be an object with "type": "object", "properties" and "required".',
);

export const toolSchema = z.object(
  {
    name: z
      .string('A tool needs a "name".')
      .check(
        z.regex(
          /^[a-zA-Z0-9_-]{1,64}$/,
          'The name of a tool is 1 to 64 letters (a-z, A-Z), digits, underscores or hyphens.',
        ),
      ),
    description: z
      .string('A tool needs a "description": the model decides by it when to call the tool.')
      .check(z.regex(/\S/, 'The "description" may not be empty: the model decides by it when to call the tool.')),
    parameters: z._default(parameters, { type: 'object', properties: {}, required: [] }),
    run: z.discriminatedUnion('kind', [processRun], '"run" has to be an object with "kind" and what it needs.'),
  },
  'A tool has to be an object with "name", "description", "parameters" and "run".',
);

export type ToolShape = z.infer<typeof toolSchema>;

/** The members the reader knows, by the kind of object they stand in. */
export const knownMembers = {
  file: ['$schema', 'version', 'tools'],
  tool: ['name', 'description', 'parameters', 'run'],
  run: ['kind', ...Object.keys(processRun.shape).filter((name) => name !== 'kind')],
} as const;

/** The kinds of `run` this version can run. */
export const supportedKinds: readonly string[] = ['process'];
