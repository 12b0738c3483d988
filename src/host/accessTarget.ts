import * as vscode from 'vscode';
import * as z from 'zod/mini';

const text = z.string();
const common = { connection: text, organization: text };
const targetSchema = z.discriminatedUnion('kind', [
  z.object({ ...common, kind: z.literal('organization') }),
  z.object({ ...common, kind: z.literal('group'), key: text }),
  z.object({ ...common, kind: z.literal('role'), key: text }),
  z.object({ ...common, kind: z.literal('principal'), key: text }),
]);

/**
 * What a command is about: an organization of a connection, or something in it by its key in the access model. Whoever
 * shows such a thing gives its element a member `target`, so that commands need not know what shows it.
 */
export type AccessTarget = z.output<typeof targetSchema>;

/** The target of what a command was called on; `undefined` when it was called on nothing, as from the palette. */
export function targetOf(argument: unknown): AccessTarget | undefined {
  const result = z.safeParse(z.object({ target: targetSchema }), argument);
  return result.success ? result.data.target : undefined;
}

const SCHEME = 'rolecall-access';

/** Names a target for decorations; nothing can be read from it. */
export function targetUri(target: AccessTarget): vscode.Uri {
  const parts = [target.organization, target.kind, 'key' in target ? target.key : ''];
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${parts.map(encodeURIComponent).join('/')}`,
    query: target.connection,
  });
}

/** The target that {@link targetUri} named. */
export function targetOfUri({ scheme, path, query }: vscode.Uri): AccessTarget | undefined {
  if (scheme !== SCHEME) return undefined;
  const [, organization, kind, key] = path.split('/').map(decodeURIComponent);
  const result = z.safeParse(targetSchema, { connection: query, organization, kind, key });
  return result.success ? result.data : undefined;
}
