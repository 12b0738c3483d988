import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { createSerialQueue } from '../../core/base/abort.ts';
import { RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { oneLine, truncateWithEllipsis } from '../../core/base/text.ts';
import { JoiningServer, type SharedSignIn } from '../../core/oauth/joining/joiningServer.ts';
import type { Claim } from '../../core/oauth/joining/messages.ts';
import { stateRoot, thisMachine } from '../../core/oauth/rotation/statePaths.ts';
import { isInside } from '../../core/tools/permissions.ts';
import type { AccessData } from '../accessData.ts';
import type { Clouds } from '../clouds.ts';
import { showInformationMessage, showWarningMessage } from '../dialogs.ts';
import { inferenceAccess, type ModelCatalog } from '../modelCatalog.ts';
import type { Settings } from '../settings.ts';
import { describeError } from '../showError.ts';

export interface WindowForProgramsDeps {
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly data: AccessData;
  readonly catalog: ModelCatalog;
  /** The folder of the state that windows share; that of this user and machine unless given. */
  readonly state: string | undefined;
  /** Asks the user to share an organization with a program outside of the editor. */
  readonly share: (sharing: ProgramSharing, signal: AbortSignal) => Promise<boolean>;
  /** The workspace's tools, with consent and containment. */
  readonly tools: {
    list(): Promise<readonly object[]>;
    call(
      name: string,
      args: unknown,
      signal: AbortSignal,
    ): Promise<{ readonly content: string; readonly isError: boolean }>;
  };
  readonly fetch: Fetch;
  readonly log: Log;
}

interface ProgramSharing {
  readonly tool: string;
  readonly organization: string;
  readonly recipient: string;
}

/** The most characters that are shown of a program's own description. */
const MAX_CLAIM = 200;

const sharingSchema = z.object({ tool: z.string(), organization: z.string(), recipient: z.string() });
const folderSchema = z.object({ folder: z.string() });
const toolCallSchema = z.object({ folder: z.string(), name: z.string(), arguments: z.optional(z.unknown()) });

/** Serves the command line with the sign-in of this window, once the user has allowed it. */
export class WindowForPrograms implements vscode.Disposable {
  readonly #deps: WindowForProgramsDeps;
  readonly #server: JoiningServer;
  readonly #inTurn = createSerialQueue();
  /** Questions wait for each other: one dialog at a time. */
  readonly #questions = createSerialQueue();

  constructor(deps: WindowForProgramsDeps) {
    const { fetch, log, state = stateRoot(thisMachine()) } = deps;
    this.#deps = deps;
    this.#server = new JoiningServer({
      state,
      about: () => ({ editor: vscode.env.appName, folders: openFolders() }),
      signIn: () => this.#signIn(),
      ask: (signIn, claim, signal) => this.#questions(() => this.#ask(signIn, claim, signal)),
      calls: {
        share: async (input, signal) => deps.share(readAs(sharingSchema, input), signal),
        // Only in the window that has the program's folder open: elsewhere they are another workspace's.
        listTools: async (input) => (isOpen(readAs(folderSchema, input).folder) ? deps.tools.list() : []),
        callTool: async (input, signal) => {
          const { folder, name, arguments: args } = readAs(toolCallSchema, input);
          if (!isOpen(folder))
            throw new RolecallError('tool', vscode.l10n.t('The folder {0} is not open in this window.', folder));
          return deps.tools.call(name, args, signal);
        },
      },
      fetch,
      log,
    });
  }

  /** Open while somebody is signed in. */
  follow(isSignedIn: boolean): Promise<void> {
    return this.#inTurn(() => (isSignedIn ? this.#server.open() : this.#server.close()));
  }

  /** Where programs reach this window; `undefined` while nobody is signed in. */
  get address(): string | undefined {
    return this.#server.address;
  }

  async status(): Promise<{ readonly allowed: number; readonly isOpen: boolean }> {
    return { allowed: (await this.#server.allowed.list()).length, isOpen: this.#server.address !== undefined };
  }

  /** Every program asks again. */
  async reset(): Promise<void> {
    const count = await this.#server.allowed.clear();
    void showInformationMessage(
      count === 0
        ? vscode.l10n.t('No command line access to reset.')
        : vscode.l10n.t('Command line access was reset. You will be asked again next time.'),
    ); // No buttons, so nothing to wait for.
  }

  #signIn(): SharedSignIn | undefined {
    const { clouds, settings, data, catalog, log } = this.#deps;
    const { active: cloud } = clouds;
    const { session } = data;
    if (!cloud || !session || session.cloud !== cloud) return undefined;
    const { identityUrl, inferenceUrl } = cloud.connection;
    const names = JSON.stringify([cloud.key, session.account.id, cloud.inferenceAccount]);
    return {
      session: createHash('sha256').update(names).digest('hex').slice(0, 32),
      urls: { identity: identityUrl, inference: inferenceUrl },
      tokens: { identity: cloud.tokenManager, inference: cloud.inference },
      inferenceHeaders: inferenceAccess(cloud, settings).headers ?? {},
      describe: async () => {
        const listed = await data.organizations(session).catch((error: unknown) => {
          log.info(`The command line gets no list of organizations: ${describeError(error)}`);
          return [];
        });
        const model = catalog.choose(undefined); // As far as it is known: few questions are for a model.
        return {
          account: session.account.label,
          organizations: listed.map(({ id, name }) => ({ id, names: [name, data.labelOf(id)] })),
          ...(model && { defaultModel: model.id }),
        };
      },
    };
  }

  async #ask(signIn: SharedSignIn, claim: Claim, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const allow = vscode.l10n.t('Allow');
    const { identity, inference } = signIn.urls;
    const account = this.#deps.data.session?.account.label ?? '';
    const chosen = await showWarningMessage(
      vscode.l10n.t('Allow the command line "rolecall" to use your sign-in as {0}?', account),
      {
        modal: true,
        detail: [
          vscode.l10n.t(
            'It was started in a terminal or by an agent on this machine. If you allow it, it can read who has access to what at {0}, and send chat requests to {1} on your behalf while a window is open.',
            identity,
            inference,
          ),
          claimText(claim),
          vscode.l10n.t('It never receives a token. Allow it only if you know what started it.'),
          vscode.l10n.t('If you allow it, this is remembered until you run "Rolecall: Reset Command Line Access".'),
        ].join('\n\n'),
      },
      // The first one has the focus: a key that was meant for something else allows nothing.
      vscode.l10n.t('Don’t Allow'),
      allow,
    );
    return chosen === allow;
  }

  dispose(): void {
    void this.#inTurn(() => this.#server.close()).catch((error: unknown) =>
      this.#deps.log.debug(`The connection for the command line could not be closed properly: ${String(error)}`),
    );
  }
}

/** The program's own description, one value a line: it could be anything. */
function claimText({ command, folder }: Claim): string {
  const shown = (text: string | undefined) =>
    truncateWithEllipsis(oneLine(text ?? ''), MAX_CLAIM) || vscode.l10n.t('not specified');
  return [
    vscode.l10n.t('Command: {0}', shown(command)),
    vscode.l10n.t('Folder: {0}', shown(folder)),
    vscode.l10n.t('This information comes from the program and cannot be verified.'),
  ].join('\n');
}

function readAs<T extends z.ZodMiniType>(schema: T, input: unknown): z.infer<T> {
  const parsed = z.safeParse(schema, input);
  if (parsed.success) return parsed.data;
  throw new RolecallError('invalidRequest', 'The request could not be understood.');
}

function isOpen(folder: string): boolean {
  return openFolders().some((open) => isInside(open, folder));
}

/** Paths of the folders that are on this machine. */
function openFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.flatMap(({ uri }) => (uri.scheme === 'file' ? [uri.fsPath] : []));
}
