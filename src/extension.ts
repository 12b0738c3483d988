import * as vscode from 'vscode';
import type { Connection } from './core/base/connection.ts';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { RecentProblems } from './core/diagnosis/recentProblems.ts';
import { stateRoot, thisMachine } from './core/oauth/rotation/statePaths.ts';
import { RolecallAuthenticationProvider } from './host/auth/authenticationProvider.ts';
import { ClientSecrets } from './host/auth/clientSecret.ts';
import { registerSessionCommands } from './host/auth/sessionCommands.ts';
import { secretSessionStore, windowSessionStore } from './host/auth/sessionStore.ts';
import { SignIn } from './host/auth/signIn.ts';
import { RolecallModelProvider } from './host/chat/modelProvider.ts';
import { openChat } from './host/chat/openChat.ts';
import { registerParticipant } from './host/chat/participant.ts';
import { Cloud } from './host/cloud.ts';
import { Clouds } from './host/clouds.ts';
import { registerCommand } from './host/commands.ts';
import { registerDiagnoseSignIn } from './host/diagnosis/diagnoseSignIn.ts';
import { editorSources } from './host/diagnosis/editorSources.ts';
import { AnswerDocuments } from './host/editor/answerDocuments.ts';
import { registerAskAboutSelection } from './host/editor/askAboutSelection.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { Sandbox } from './host/sandbox/trySandbox.ts';
import { Settings } from './host/settings.ts';
import { newWorkspaceTool } from './host/tools/newWorkspaceTool.ts';
import { ToolConsent } from './host/tools/toolConsent.ts';
import { ToolFiles } from './host/tools/toolFiles.ts';
import { WorkspaceTools } from './host/tools/workspaceTools.ts';
import { OrganizationsView } from './host/tree/organizationsView.ts';
import { registerTreeCommands } from './host/tree/treeCommands.ts';
import { commands, extensionId, walkthrough } from './ids.ts';

/** Builds the objects in order and registers them; no network and no secret is touched before all of that is done. */
export function activate(context: vscode.ExtensionContext): void {
  const channel = vscode.window.createOutputChannel('Rolecall', { log: true });
  const redactor = new Redactor();
  const learn = (secret: string | undefined) => redactor.learn(secret);
  const problems = new RecentProblems(channel, Date.now);
  const log = redactingLog(problems, redactor);
  const settings = new Settings();

  // Held by this window only: the sandbox's client secret dies with it.
  const sandboxSecrets = new Map<string, string>();
  const clientSecrets = new ClientSecrets(context.secrets);
  const clientSecret = async (of: Connection, interactive: boolean) =>
    of.id === 'sandbox' ? sandboxSecrets.get(of.clientId) : clientSecrets.get(of, interactive);
  const clouds = new Clouds(
    settings,
    (connection) =>
      new Cloud({
        connection,
        store: connection.id === 'sandbox' ? windowSessionStore() : secretSessionStore(context.secrets, connection),
        clientSecret,
        fetch: globalThis.fetch,
        log,
        learn,
      }),
  );
  const signIn = new SignIn(log, learn);
  const sandbox = new Sandbox({
    clouds,
    program: vscode.Uri.joinPath(context.extensionUri, 'dist', 'sandbox.js').fsPath,
    running: process.env.ROLECALL_SANDBOX,
    rememberSecret: (clientId, secret) => {
      learn(secret);
      sandboxSecrets.set(clientId, secret);
    },
    signIn: (cloud) => signIn.run(cloud),
    log,
  });
  const organizations = new OrganizationsView(clouds, settings);

  const toolFiles = new ToolFiles(log);
  const toolConsent = new ToolConsent(context.workspaceState);
  const workspaceTools = new WorkspaceTools(toolFiles, toolConsent, log);
  const openTools = () => workspaceTools.open();
  const { fetch } = globalThis;
  const catalog = new ModelCatalog({ clouds, settings, fetch, log });
  const documents = new AnswerDocuments();

  context.subscriptions.push(
    channel,
    clouds,
    sandbox,
    organizations,
    toolFiles,
    catalog,
    documents,
    RolecallAuthenticationProvider.register(clouds, signIn, log),
    registerSessionCommands({ clouds, signIn, clientSecrets, log }),
    registerDiagnoseSignIn({
      sources: editorSources({
        clouds,
        secrets: context.secrets,
        clientSecret: (of) => clientSecret(of, false),
        learn,
        extension: context.extension,
        state: stateRoot(thisMachine()),
        fetch,
        problems: () => problems.all,
      }),
      redact: (text) => redactor.redact(text),
      log,
    }),
    registerTreeCommands({ clouds, settings, view: organizations, log }),
    RolecallModelProvider.register({ clouds, catalog, fetch, log }),
    registerParticipant({
      clouds,
      catalog,
      openTools,
      fetch,
      log,
      icon: vscode.Uri.joinPath(context.extensionUri, 'media', 'rolecall.png'),
    }),
    registerAskAboutSelection({ clouds, catalog, openTools, documents, fetch, log }),
    registerCommand(commands.openChat, log, () => openChat(catalog)),
    registerCommand(commands.newWorkspaceTool, log, () => newWorkspaceTool()),
    registerCommand(commands.forgetToolConsent, log, () => toolConsent.forget()),
    registerCommand(commands.trySandbox, log, () => sandbox.enter()),
    registerCommand(commands.leaveSandbox, log, () => sandbox.leave()),
    registerCommand(commands.showLog, log, () => channel.show()),
    registerCommand(commands.openWalkthrough, log, () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#${walkthrough}`),
    ),
  );

  void toolFiles.check(); // What it finds stands in Problems.
  void clouds.start(); // Activation does not wait for the keyring; the session's state tells when it is known.
}
