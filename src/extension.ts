import * as vscode from 'vscode';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { RolecallAuthenticationProvider } from './host/auth/authenticationProvider.ts';
import { ClientSecrets } from './host/auth/clientSecret.ts';
import { EndedNotice } from './host/auth/endedNotice.ts';
import { followSecrets } from './host/auth/followSecrets.ts';
import { InferenceTokens } from './host/auth/inferenceTokens.ts';
import { SignInLinks } from './host/auth/links.ts';
import { ServiceTokens } from './host/auth/serviceTokens.ts';
import { registerSessionCommands } from './host/auth/sessionCommands.ts';
import { sharedPlace, windowPlace } from './host/auth/sessionPlace.ts';
import { SettingsNotice } from './host/auth/settingsNotice.ts';
import { SignIn } from './host/auth/signIn.ts';
import { SignOut } from './host/auth/signOut.ts';
import { registerStatusBar } from './host/auth/statusBar.ts';
import { RolecallModelProvider } from './host/chat/modelProvider.ts';
import { openChat } from './host/chat/openChat.ts';
import { registerParticipant } from './host/chat/participant.ts';
import { Cloud } from './host/cloud.ts';
import { Clouds } from './host/clouds.ts';
import { registerCommand } from './host/commands.ts';
import { AnswerDocuments } from './host/editor/answerDocuments.ts';
import { registerAskAboutSelection } from './host/editor/askAboutSelection.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { Sandbox } from './host/sandbox/trySandbox.ts';
import { Settings } from './host/settings.ts';
import { registerEditorTool } from './host/tools/editorTool.ts';
import { newWorkspaceTool } from './host/tools/newWorkspaceTool.ts';
import { runByHand, ToolLenses } from './host/tools/runByHand.ts';
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
  const log = redactingLog(channel, redactor);
  const settings = new Settings();

  // Tests of the extension host leave nothing in the user's home.
  const isTest = context.extensionMode === vscode.ExtensionMode.Test;
  const state = isTest ? vscode.Uri.joinPath(context.globalStorageUri, 'state').fsPath : undefined;

  // Held by this window only: the sandbox's client secret dies with it.
  const sandboxSecrets = new Map<string, string>();
  const clientSecrets = new ClientSecrets(context.secrets);
  const inferenceTokens = new InferenceTokens(context.secrets);
  const clouds = new Clouds(
    settings,
    (connection) =>
      new Cloud({
        connection,
        place: connection.id === 'sandbox' ? windowPlace() : sharedPlace(context.secrets, connection, state),
        inferenceToken: async (of) => (of.id === 'sandbox' ? undefined : inferenceTokens.get(of)),
        clientSecret: async (of, interactive) =>
          of.id === 'sandbox' ? sandboxSecrets.get(of.clientId) : clientSecrets.get(of, interactive),
        fetch: globalThis.fetch,
        log,
        learn,
      }),
  );
  const { fetch } = globalThis;
  const links = new SignInLinks({ clouds, storage: context.secrets, learn, log });
  const serviceTokens = new ServiceTokens({ settings, fetch, learn, log });
  const signIn = new SignIn({ links, serviceTokens, learn, log });
  const signOut = new SignOut(inferenceTokens, log);
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
  const workspaceTools = new WorkspaceTools({
    files: toolFiles,
    consent: toolConsent,
    settings,
    fetch: globalThis.fetch,
    log,
  });
  // Made when it is first needed: most windows never run a tool by hand.
  let toolChannel: vscode.OutputChannel | undefined;
  const toolOutput = () => {
    if (!toolChannel) {
      toolChannel = vscode.window.createOutputChannel(vscode.l10n.t('Rolecall Tools'));
      context.subscriptions.push(toolChannel);
    }
    return toolChannel;
  };
  const openTools = () => workspaceTools.open();
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
    RolecallAuthenticationProvider.register(clouds, signIn, signOut, log),
    registerSessionCommands({ clouds, signIn, signOut, clientSecrets, inferenceTokens, log }),
    registerStatusBar(clouds),
    new EndedNotice(clouds, log),
    new SettingsNotice(clouds, log),
    followSecrets(context.secrets, clouds, inferenceTokens),
    vscode.window.registerUriHandler(links),
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
    registerEditorTool((token) => workspaceTools.open(token), log),
    ToolLenses.register(),
    registerCommand(commands.runWorkspaceTool, log, (uri, name) =>
      runByHand({ files: toolFiles, tools: workspaceTools, output: toolOutput }, uri, name),
    ),
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
