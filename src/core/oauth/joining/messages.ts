import path from 'node:path';
import * as z from 'zod/mini';
import { RolecallError } from '../../base/errors.ts';

export type ServiceName = 'identity' | 'inference';

interface Operation {
  readonly service: ServiceName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** Everything that a window requests for a program: what the clients of both services request, and no other address. */
export const operations = {
  organizations: { service: 'identity', method: 'GET', path: '/api/v1/organizations' },
  groups: { service: 'identity', method: 'GET', path: '/api/v1/organizations/{organization}/groups' },
  roles: { service: 'identity', method: 'GET', path: '/api/v1/organizations/{organization}/roles' },
  models: { service: 'inference', method: 'GET', path: '/v1/models' },
  completions: { service: 'inference', method: 'POST', path: '/v1/chat/completions' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;
export const operationNames = Object.keys(operations) as OperationName[];

const PLACE = '{organization}';

/** The path of an operation. @throws RolecallError `invalidRequest` for an organization that is not one path segment. */
export function pathOf(name: OperationName, organization: string | undefined): string {
  const { path } = operations[name];
  if (!path.includes(PLACE)) return path;
  if (organization === undefined || ['', '.', '..'].includes(organization)) {
    throw new RolecallError('invalidRequest', 'The operation needs the ID of an organization.');
  }
  return path.replace(PLACE, () => encodeURIComponent(organization));
}

/** Which operation a request is; the other direction of {@link pathOf}. */
export function operationOf(
  service: ServiceName,
  method: string,
  path: string,
): { readonly name: OperationName; readonly organization?: string } | undefined {
  for (const name of operationNames) {
    const operation = operations[name];
    if (operation.service !== service || operation.method !== method) continue;
    const [before, after] = operation.path.split(PLACE);
    if (after === undefined && path === before) return { name };
    const segment = path.slice(before?.length, path.length - (after?.length ?? 0));
    if (after !== undefined && path === before + segment + after && segment !== '' && !segment.includes('/')) {
      return { name, organization: decodeURIComponent(segment) };
    }
  }
  return undefined;
}

/** Below the folder of the shared state: where windows wait for programs, and programs keep what is theirs. */
export function joiningFolder(state: string): string {
  return path.join(state, 'command-line');
}

/** A side that is silent for this long is stopped, asleep, or very busy; in milliseconds. */
export const SILENCE_TIMEOUT_MS = 5000;

const text = z.string();
const service = z.enum(['identity', 'inference']);

/** What a window says first to whoever knows the key of the folder. */
export const challengeSchema = z.object({ challenge: z.string().check(z.minLength(16)) });

const proof = { publicKey: text, signature: text };

/** What a program says of itself, for whoever is asked. Nothing vouches for it. */
const claimSchema = z.object({
  /** The command that was run, such as `rolecall check`. */
  command: z.optional(text),
  /** The current folder. */
  folder: z.optional(text),
});
export type Claim = z.infer<typeof claimSchema>;
const session = { session: text };

/**
 * What a program requests, once for each connection. A body follows in frames, also where it is empty.
 *
 * - `about`: which window this is; needs no permission.
 * - `join`: to use the window's sign-in; the user is asked.
 * - `token`, `refresh`: a name for the window's token. The token itself never crosses the line.
 * - `fetch`: one of {@link operations}, with the token of that name.
 * - `call`: something else that the window does, after questions of its own.
 */
export const windowRequestSchema = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('about') }),
  z.object({ ask: z.literal('join'), ...proof, claim: z.optional(claimSchema) }),
  z.object({ ask: z.literal('token'), ...proof, ...session, service }),
  z.object({ ask: z.literal('refresh'), ...proof, ...session, service, handle: text }),
  z.object({
    ask: z.literal('fetch'),
    ...proof,
    ...session,
    operation: z.enum(operationNames),
    organization: z.optional(text),
    handle: text,
    accept: z.optional(text),
    contentType: z.optional(text),
  }),
  z.object({ ask: z.literal('call'), ...proof, ...session, name: text }),
]);
export type WindowRequest = z.infer<typeof windowRequestSchema>;
export type AllowedRequest = Exclude<WindowRequest, { ask: 'about' | 'join' }>;

/**
 * The first line of a reply; its body follows in frames. `asking`: the user is being asked, which may take any time.
 */
export const windowReplySchema = z.object({
  asking: z.optional(z.literal(true)),
  error: z.optional(z.object({ kind: text, message: text })),
  status: z.optional(z.number()),
  headers: z.optional(z.record(text, text)),
});

/** Which window this is. */
export const aboutSchema = z.object({
  /** The editor's name for sentences, such as `Visual Studio Code`. */
  editor: text,
  identityUrl: text,
  inferenceUrl: text,
  /** The folders that are open in it. */
  folders: z.array(text),
});
export type WindowAbout = z.infer<typeof aboutSchema>;

/** What a program learns when it has joined. */
export const joinedSchema = z.object({
  /** Changes with the account, which ends what was joined before. */
  session: text,
  account: text,
  organizations: z.array(z.object({ id: text, names: z.array(text) })),
  defaultModel: z.optional(text),
});
export type Joined = z.infer<typeof joinedSchema>;

/** The name of a token; absent if there is no other token. */
export const handleSchema = z.object({ handle: z.optional(text) });
