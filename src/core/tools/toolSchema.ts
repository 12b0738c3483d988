import * as z from 'zod/mini';
import { commandRun, forwardRun, httpRun, processRun, runSchemas } from './runSchemas.ts';

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
