import * as l10n from '@vscode/l10n';
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

/* The shapes of `run`, one for each kind. `diagnostics.ts` checks what depends on the parameters. */

/** Translated when a value is checked: by then the translations are loaded. */
const message = (sentence: () => string) => ({ error: sentence });

const noNul = () =>
  z.refine<string>(
    (text) => !text.includes('\0'),
    message(() => l10n.t('A NUL character is not allowed here.')),
  );

const limits = {
  timeoutSeconds: z._default(
    z.number(message(() => l10n.t('"timeoutSeconds" must be a number.'))).check(
      z.gt(
        0,
        message(() => l10n.t('"timeoutSeconds" must be greater than 0.')),
      ),
      z.lte(
        maxTimeoutSeconds,
        message(() => l10n.t('"timeoutSeconds" must be at most {0}.', maxTimeoutSeconds)),
      ),
    ),
    defaultTimeoutSeconds,
  ),
  outputLimit: z._default(
    z.int(message(() => l10n.t('"outputLimit" must be a whole number of bytes.'))).check(
      z.gte(
        minOutputLimit,
        message(() => l10n.t('"outputLimit" must be at least {0} bytes.', minOutputLimit)),
      ),
      z.lte(
        maxOutputLimit,
        message(() => l10n.t('"outputLimit" must be at most {0} bytes.', maxOutputLimit)),
      ),
    ),
    defaultOutputLimit,
  ),
};

/** Relative, without `..`; links are resolved when the tool is called. */
const inside = z.regex(
  /^(?![/\\~]|[A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^\0]+$/,
  message(() => l10n.t('A path in "access" must be relative to the workspace folder and stay inside it.')),
);
const writable = z.regex(
  /^(?!(?:.*[/\\])?\.(?:git|vscode)(?:[/\\]|$))/i,
  message(() => l10n.t('".git" and ".vscode" are never writable because their contents can run outside the tool.')),
);

const access = z.object(
  {
    read: z._default(
      z.array(
        z.string(message(() => l10n.t('A path must be a string.'))).check(inside),
        message(() => l10n.t('"read" must be an array of paths.')),
      ),
      ['.'],
    ),
    write: z._default(
      z.array(
        z.string(message(() => l10n.t('A path must be a string.'))).check(inside, writable),
        message(() => l10n.t('"write" must be an array of paths.')),
      ),
      [],
    ),
    network: z._default(z.boolean(message(() => l10n.t('"network" must be true or false.'))), false),
  },
  message(() => l10n.t('"access" must be an object with "read", "write" and "network".')),
);

const processRun = z.object({
  kind: z.literal('process'),
  command: z
    .array(
      z.string(message(() => l10n.t('Each element of "command" must be a string.'))).check(noNul()),
      message(() => l10n.t('"command" must be an array of strings: the program, then its arguments.')),
    )
    .check(
      z.minLength(
        1,
        message(() => l10n.t('"command" must contain at least the program to run.')),
      ),
      z.maxLength(
        maxCommandLength,
        message(() => l10n.t('"command" must have at most {0} elements.', maxCommandLength)),
      ),
      z.refine(
        (command) => command[0] !== '',
        message(() => l10n.t('The program in "command" must not be empty.')),
      ),
    ),
  cwd: z._default(
    z.string(message(() => l10n.t('"cwd" must be a string: a folder, relative to the workspace folder.'))).check(
      z.minLength(
        1,
        message(() => l10n.t('"cwd" must not be empty. Leave it out to use the workspace folder.')),
      ),
      noNul(),
    ),
    '.',
  ),
  env: z._default(
    z.record(
      z.string().check(
        z.regex(
          /^[A-Za-z_][A-Za-z0-9_]*$/,
          message(() => l10n.t('This is not a valid environment variable name.')),
        ),
      ),
      z.string(message(() => l10n.t('The value of an environment variable must be a string.'))).check(noNul()),
      message(() => l10n.t('"env" must be an object of strings.')),
    ),
    {},
  ),
  ...limits,
  stdin: z._default(
    z.enum(
      ['json', 'none'],
      message(() => l10n.t('"stdin" must be "json" or "none".')),
    ),
    'none',
  ),
  access: z._default(access, { read: ['.'], write: [], network: false }),
  contained: z._default(z.boolean(message(() => l10n.t('"contained" must be true or false.'))), true),
});

const commandRun = z.object({
  kind: z.literal('command'),
  command: z
    .string(
      message(() =>
        l10n.t('"command" must be the ID of an editor command, for example "workbench.action.files.saveAll".'),
      ),
    )
    .check(
      z.regex(
        /^[^\s\p{C}]+$/u,
        message(() => l10n.t('A command ID must not be empty or contain spaces.')),
      ),
    ),
  arguments: z._default(
    z.array(
      z.unknown(),
      message(() => l10n.t('"arguments" must be an array: one element for each argument.')),
    ),
    [],
  ),
  ...limits,
});

const forwardRun = z.object({
  kind: z.literal('tool'),
  tool: z.string(message(() => l10n.t('"tool" must be the name of a tool that is available in the editor.'))).check(
    z.regex(
      /^[^\s\p{C}]+$/u,
      message(() => l10n.t('A tool name must not be empty or contain spaces.')),
    ),
  ),
  input: z.optional(
    z.record(
      z.string(),
      z.unknown(),
      message(() => l10n.t('"input" must be an object: the input of the tool.')),
    ),
  ),
  ...limits,
});

const httpRun = z.object({
  kind: z.literal('http'),
  method: z._default(
    z.enum(
      httpMethods,
      message(() => l10n.t('"method" must be one of: {0}.', httpMethods.join(', '))),
    ),
    'GET',
  ),
  url: z.string(message(() => l10n.t('"url" must be a string: a URL that begins with https://.'))),
  headers: z._default(
    z.record(
      z.string().check(
        z.regex(
          /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
          message(() => l10n.t('This is not a valid header name.')),
        ),
      ),
      z.string(message(() => l10n.t('The value of a header must be a string.'))).check(
        z.regex(
          /^[\x20-\x7e\t]*$/,
          message(() => l10n.t('The value of a header must be ASCII text on one line.')),
        ),
      ),
      message(() => l10n.t('"headers" must be an object of strings.')),
    ),
    {},
  ),
  body: z.optional(z.unknown()),
  ...limits,
});

const runSchemas = [processRun, commandRun, forwardRun, httpRun] as const;

/* The shapes of the file. Unknown members pass here; the reader reports them, since most of them are misspelt. */

const parameters = z.looseObject(
  {
    type: z.literal(
      'object',
      message(() => l10n.t('The "type" of "parameters" must be "object".')),
    ),
    properties: z._default(
      z.record(
        z.string(),
        z.looseObject(
          {},
          message(() => l10n.t('A parameter must be an object with "type" and "description".')),
        ),
        message(() => l10n.t('"properties" must be an object: one member for each parameter.')),
      ),
      {},
    ),
    required: z._default(
      z.array(
        z.string(message(() => l10n.t('"required" must contain parameter names.'))),
        message(() => l10n.t('"required" must be an array of names.')),
      ),
      [],
    ),
  },
  message(() => l10n.t('"parameters" must be an object with "type": "object", "properties" and "required".')),
);

export const toolSchema = z.object(
  {
    name: z.string(message(() => l10n.t('A tool must have a "name".'))).check(
      z.regex(
        /^[a-zA-Z0-9_-]{1,64}$/,
        message(() =>
          l10n.t('A tool name must consist of 1 to 64 letters (a-z, A-Z), digits, underscores or hyphens.'),
        ),
      ),
    ),
    description: z
      .string(
        message(() => l10n.t('A tool must have a "description". The model uses it to decide when to call the tool.')),
      )
      .check(
        z.regex(
          /\S/,
          message(() =>
            l10n.t('The "description" must not be empty. The model uses it to decide when to call the tool.'),
          ),
        ),
      ),
    parameters: z._default(parameters, { type: 'object', properties: {}, required: [] }),
    run: z.discriminatedUnion(
      'kind',
      runSchemas,
      message(() => l10n.t('"run" must be an object with "kind" and the members of that kind.')),
    ),
  },
  message(() => l10n.t('A tool must be an object with "name", "description", "parameters" and "run".')),
);

export type ToolShape = z.infer<typeof toolSchema>;

/** The members that the reader knows, by the object that contains them. */
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
