import * as vscode from 'vscode';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { accessToolbox, bothToolboxes } from './host/access/accessToolbox.ts';
import { registerAnswerCommands } from './host/access/answerCommands.ts';
import { registerExportReview } from './host/access/exportReview.ts';
import { registerLanguageModelTools } from './host/access/languageModelTools.ts';
import { SharingConsent } from './host/access/sharingConsent.ts';
import { registerSnapshotCommands } from './host/access/snapshotCommands.ts';
import { SnapshotStore } from './host/access/snapshotStore.ts';
import { AccessData } from './host/accessData.ts';
import { RolecallAuthenticationProvider } from './host/auth/authenticationProvider.ts';
import { ClientSecrets } from './host/auth/clientSecret.ts';
import { registerSessionCommands } from './host/auth/sessionCommands.ts';
import { secretSessionStore, windowSessionStore } from './host/auth/sessionStore.ts';
import { SignIn } from './host/auth/signIn.ts';
import { ChangeMarks } from './host/changeMarks.ts';
import { RolecallModelProvider } from './host/chat/modelProvider.ts';
import { openChat } from './host/chat/openChat.ts';
import { registerParticipant } from './host/chat/participant.ts';
import { Cloud } from './host/cloud.ts';
import { Clouds } from './host/clouds.ts';
import { registerCommand } from './host/commands.ts';
import { AnswerDocuments } from './host/editor/answerDocuments.ts';
import { registerAskAboutSelection } from './host/editor/askAboutSelection.ts';
import { registerMatrix } from './host/matrix/matrixCommand.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { Sandbox } from './host/sandbox/trySandbox.ts';
import { Settings } from './host/settings.ts';
import { newWorkspaceTool } from './host/tools/newWorkspaceTool.ts';
import { ToolConsent } from './host/tools/toolConsent.ts';
import { ToolFiles } from './host/tools/toolFiles.ts';
import { WorkspaceTools } from './host/tools/workspaceTools.ts';
import { TreeDecorations } from './host/tree/decorations.ts';
import { refreshAtIntervals } from './host/tree/intervalRefresh.ts';
import { registerOrganizationCommands } from './host/tree/organizationCommands.ts';
import { OrganizationsView } from './host/tree/organizationsView.ts';
import { registerTreeCommands } from './host/tree/treeCommands.ts';
import { registerViewCommands } from './host/tree/viewCommands.ts';
import { ViewState } from './host/tree/viewState.ts';
import { VirtualDocuments } from './host/virtualDocuments.ts';
import { commands, extensionId, walkthrough } from './ids.ts';

/** Builds the objects in order and registers them; no network and no secret is touched before all of that is done. */
export function activate(context: vscode.ExtensionContext): void {
  const channel = vscode.window.createOutputChannel('Rolecall', { log: true });
  const redactor = new Redactor();
  const learn = (secret: string | undefined) => redactor.learn(secret);
  const log = redactingLog(channel, redactor);
  const settings = new Settings();

  // Held by this window only: the sandbox's client secret dies with it.
  const sandboxSecrets = new Map<string, string>();
  const clientSecrets = new ClientSecrets(context.secrets);
  const clouds = new Clouds(
    settings,
    (connection) =>
      new Cloud({
        connection,
        store: connection.id === 'sandbox' ? windowSessionStore() : secretSessionStore(context.secrets, connection),
        clientSecret: async (of, interactive) =>
          of.id === 'sandbox' ? sandboxSecrets.get(of.clientId) : clientSecrets.get(of, interactive),
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
  const data = new AccessData(clouds, settings, log);
  const marks = new ChangeMarks(data);
  const accessDocuments = new VirtualDocuments(data);
  const viewState = new ViewState(context.workspaceState, context.globalState);
  const organizations = new OrganizationsView(data, viewState);
  const sharingConsent = new SharingConsent(data);

  const toolFiles = new ToolFiles(log);
  const toolConsent = new ToolConsent(context.workspaceState);
  const workspaceTools = new WorkspaceTools(toolFiles, toolConsent, log);
  const { contributes } = context.extension.packageJSON;
  const openTools = async () =>
    bothToolboxes(accessToolbox(data, contributes.languageModelTools, log), await workspaceTools.open());
  const { fetch } = globalThis;
  const catalog = new ModelCatalog({ clouds, settings, fetch, log });
  const documents = new AnswerDocuments();

  context.subscriptions.push(
    channel,
    clouds,
    sandbox,
    data,
    marks,
    accessDocuments,
    viewState,
    sharingConsent,
    organizations,
    new TreeDecorations(data, marks),
    refreshAtIntervals(data, settings, () => organizations.isVisible && vscode.window.state.focused),
    toolFiles,
    catalog,
    documents,
    RolecallAuthenticationProvider.register(clouds, signIn, log),
    registerSessionCommands({ clouds, signIn, clientSecrets, log }),
    registerTreeCommands({ clouds, data, view: organizations, documents: accessDocuments, log }),
    registerOrganizationCommands({ clouds, settings, data, log }),
    registerViewCommands(data, viewState, log),
    registerAnswerCommands(data, accessDocuments, log),
    registerMatrix({
      data,
      shared: viewState,
      reveal: (target) => organizations.reveal(target),
      extensionUri: context.extensionUri,
      log,
    }),
    registerExportReview(data, log),
    registerSnapshotCommands({
      data,
      store: new SnapshotStore(context.globalStorageUri),
      documents: accessDocuments,
      marks,
      log,
    }),
    registerLanguageModelTools(data, sharingConsent, log),
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
    registerCommand(commands.openChat, log, (question) => openChat(catalog, question)),
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
