import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import { RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { DiagnosisSources } from '../../core/diagnosis/diagnose.ts';
import type {
  ChatFact,
  CommandLineFact,
  ContainmentFact,
  LoggedProblem,
  NetworkFact,
  SessionFact,
  StoreFact,
  Versions,
} from '../../core/diagnosis/facts.ts';
import { inspectSharedState } from '../../core/oauth/rotation/inspect.ts';
import { stateRoot, thisMachine } from '../../core/oauth/rotation/statePaths.ts';
import { secrets } from '../../ids.ts';
import type { Settings } from '../settings.ts';

/** The visible facts of a session, without its tokens. */
interface KeptSession {
  readonly state: { readonly kind: string; readonly error?: Error };
  readonly session:
    | {
        readonly generation: number;
        readonly expiresAt?: number | undefined;
        readonly refreshToken?: string | undefined;
      }
    | undefined;
}

export interface EditorSourcesDeps {
  /** The active connection, or why there is none. */
  readonly clouds: {
    readonly active:
      | {
          readonly connection: Connection;
          readonly tokenManager: KeptSession;
          readonly load: () => Promise<void>;
          /** The folder of the shared state; the usual one unless given. */
          readonly storage?: { readonly state?: string; readonly storeName?: string };
        }
      | undefined;
    readonly problem: Error | undefined;
  };
  readonly settings: Pick<Settings, 'inferenceHeaders' | 'problems'>;
  readonly secrets: Pick<vscode.SecretStorage, 'get' | 'store' | 'delete'>;
  /** Never asks the user. */
  readonly clientSecret: (connection: Connection) => Promise<string | undefined>;
  /** Makes the redactor hide a value. */
  readonly addSecret: (secret: string | undefined) => void;
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON' | 'extensionKind'>;
  readonly fetch: Fetch;
  readonly chat: () => Promise<ChatFact>;
  /** How workspace tools are contained, determined by a trial run. */
  readonly tools: { containment(signal: AbortSignal): Promise<ContainmentFact> };
  /** Whether programs outside of the editor can use this window. */
  readonly commandLine: { status(): Promise<CommandLineFact> };
  readonly problems: { readonly all: readonly LoggedProblem[] };
}

/** Collects the facts for a diagnosis in an editor: about the active connection, if there is one. */
export function editorSources(deps: EditorSourcesDeps): DiagnosisSources {
  const { clouds, fetch } = deps;
  const connection = () => clouds.active?.connection;
  const probing = { fetch, now: Date.now };
  /** Asks about the connection; `undefined` without one. */
  const about =
    <T>(ask: (connection: Connection, signal: AbortSignal) => T | Promise<T>) =>
    (signal: AbortSignal) => {
      const at = connection();
      return at && ask(at, signal);
    };
  return {
    versions: () => versions(deps.extension),
    connection: () => {
      const at = connection();
      if (at) {
        const headers = at.id === 'service' ? Object.keys(deps.settings.inferenceHeaders().headers) : [];
        const problems = deps.settings.problems().map(({ message }) => message);
        return { kind: 'connection', connection: at, headers, problems };
      }
      return clouds.problem ? { kind: 'misconfigured', problem: clouds.problem.message } : { kind: 'unconfigured' };
    },
    clientSecret: about(async (at) => {
      // A service token is used instead.
      if (at.clientAuthentication === 'none' || at.clientId === '') return 'not needed';
      const secret = await deps.clientSecret(at);
      deps.addSecret(secret); // It may have been pasted into a setting as well, which the report shows.
      return secret === undefined ? 'missing' : 'stored';
    }),
    identity: about(async ({ identityUrl }, signal) => {
      const { probeIdentity } = await import('../../core/diagnosis/probe.ts');
      return probeIdentity(probing, identityUrl, signal);
    }),
    inference: about(async ({ inferenceUrl }, signal) => {
      const { probeInference } = await import('../../core/diagnosis/probe.ts');
      return probeInference(probing, inferenceUrl, signal);
    }),
    redirect: about(async ({ redirectUri }, signal) => {
      const { inspectRedirectUri } = await import('../../core/diagnosis/probe.ts');
      return inspectRedirectUri(redirectUri, vscode.env.uriScheme, signal);
    }),
    network: async () => {
      const { inspectEnvironment } = await import('../../core/diagnosis/network.ts');
      return { settings: proxySettings(), ...(await inspectEnvironment(process.env)) };
    },
    store: () => tryStore(deps.secrets),
    session: async () => {
      await clouds.active?.load();
      return clouds.active && sessionFact(clouds.active.tokenManager);
    },
    shared: about((at) =>
      inspectSharedState({ connection: at, state: stateRoot(thisMachine()), ...clouds.active?.storage }),
    ),
    chat: deps.chat,
    containment: (signal) => deps.tools.containment(signal),
    commandLine: () => deps.commandLine.status(),
    problems: () => deps.problems.all,
  };
}

function versions({ packageJSON, extensionKind }: EditorSourcesDeps['extension']): Versions {
  const { appName, remoteName, uiKind } = vscode.env;
  const isWeb = uiKind === vscode.UIKind.Web;
  const isAway = isWeb || (remoteName !== undefined && extensionKind === vscode.ExtensionKind.Workspace);
  return {
    extension: String((packageJSON as { version?: unknown }).version),
    editor: `${appName} ${vscode.version}`,
    shownIn: isWeb ? 'browser' : 'desktop',
    ...(remoteName !== undefined && { remote: remoteName }),
    runsOn: isAway ? 'the remote machine' : 'this machine',
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
  };
}

/** The editor's own settings, by which its `fetch` goes. */
function proxySettings(): NetworkFact['settings'] {
  const http = vscode.workspace.getConfiguration('http');
  const text = (name: string) => {
    const value: unknown = http.get(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const flag = (name: string) => {
    const value: unknown = http.get(name);
    return typeof value === 'boolean' ? value : undefined;
  };
  const list: unknown = http.get('noProxy');
  const noProxy = Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  const [proxy, proxySupport] = [text('proxy'), text('proxySupport')];
  const [proxyStrictSSL, systemCertificates] = [flag('proxyStrictSSL'), flag('systemCertificates')];
  return {
    ...(proxy !== undefined && { proxy }),
    ...(proxySupport !== undefined && { proxySupport }),
    ...(proxyStrictSSL !== undefined && { proxyStrictSSL }),
    ...(systemCertificates !== undefined && { systemCertificates }),
    ...(noProxy.length > 0 && { noProxy }),
    proxyAuthorization: text('proxyAuthorization') !== undefined,
  };
}

/** Writes, reads and removes a meaningless value. */
async function tryStore(storage: EditorSourcesDeps['secrets']): Promise<StoreFact> {
  // Each window has a name of its own: two diagnoses at once do not find each other's value.
  const key = secrets.probe + randomUUID();
  if (vscode.env.uiKind === vscode.UIKind.Web) {
    await storage.get(key);
    return { kind: 'readable', why: vscode.l10n.t('in a browser, each tab keeps what it read when it was opened') };
  }
  const written = randomUUID();
  try {
    await storage.store(key, written);
    if ((await storage.get(key)) !== written) {
      throw new RolecallError('storage', vscode.l10n.t('What was written to the secret store cannot be read back.'));
    }
  } finally {
    await storage.delete(key);
  }
  return { kind: 'writable' };
}

function sessionFact({ state, session }: KeptSession): SessionFact {
  return {
    state: state.kind,
    ...(state.error && { reason: state.error.message }),
    ...(session && {
      generation: session.generation,
      isRefreshable: session.refreshToken !== undefined,
      ...(session.expiresAt !== undefined && { expiresAt: session.expiresAt }),
    }),
  };
}
