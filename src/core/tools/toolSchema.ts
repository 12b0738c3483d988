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

/** The shapes of `run`, one for each kind. What rests on the parameters is checked elsewhere (`diagnostics.ts`). */

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

/** Relative, without `..`; where links lead is seen when the tool is called. */
const inside = z.regex(
  /^(?![/\\~]|[A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^\0]+$/,
  'A path of "access" is relative to the workspace folder and inside it.',
);
const writable = z.regex(
  /^(?!(?:.*[/\\])?\.(?:git|vscode)(?:[/\\]|$))/i,
  '".git" and ".vscode" are never writable: what stands there runs outside of the tool.',
);

const access = z.object(
  {
    read: z._default(
      z.array(z.string('A path has to be a string.').check(inside), '"read" has to be an array of paths.'),
      ['.'],
    ),
    write: z._default(
      z.array(z.string('A path has to be a string.').check(inside, writable), '"write" has to be an array of paths.'),
      [],
    ),
    network: z._default(z.boolean('"network" has to be true or false.'), false),
  },
  '"access" has to be an object with "read", "write" and "network".',
);

const processRun = z.object({
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
  access: z._default(access, { read: ['.'], write: [], network: false }),
  contained: z._default(z.boolean('"contained" has to be true or false.'), true),
});

const commandRun = z.object({
  kind: z.literal('command'),
  command: z
    .string('"command" has to be the id of a command of the editor, for example "workbench.action.files.saveAll".')
    .check(z.regex(/^[^\s\p{C}]+$/u, 'The id of a command is not empty and holds no blanks.')),
  arguments: z._default(z.array(z.unknown(), '"arguments" has to be an array: one element for each argument.'), []),
  ...limits,
});

const forwardRun = z.object({
  kind: z.literal('tool'),
  tool: z
    .string('"tool" has to be the name of a tool the editor knows.')
    .check(z.regex(/^[^\s\p{C}]+$/u, 'The name of a tool is not empty and holds no blanks.')),
  input: z.optional(z.record(z.string(), z.unknown(), '"input" has to be an object: the input of the tool.')),
  ...limits,
});

const httpRun = z.object({
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

const runSchemas = [processRun, commandRun, forwardRun, httpRun] as const;

/** The shapes of the file. Unknown members pass here; the reader reports them, as they are most often misspelt. */

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
    run: z.discriminatedUnion('kind', runSchemas, '"run" has to be an object with "kind" and what it needs.'),
  },
  'A tool has to be an object with "name", "description", "parameters" and "run".',
);

export type ToolShape = z.infer<typeof toolSchema>;

/** The members the reader knows, by the kind of object they stand in. */
export const knownMembers = {
  file: ['$schema', 'version', 'tools'],
  tool: ['name', 'description', 'parameters', 'run'],
  access: ['read', 'write', 'network'],
} as const;

/** The members of `run` by its kind. */
export const runMembers: ReadonlyMap<string, readonly string[]> = new Map(
  [processRun, commandRun, forwardRun, httpRun].map(({ shape }) => [
    shape.kind.def.values[0] ?? '',
    Object.keys(shape),
  ]),
);

/** The kinds of `run` there are. */
export const supportedKinds: readonly string[] = [...runMembers.keys()];
