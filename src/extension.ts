import * as vscode from 'vscode';
import type { Connection } from './core/base/connection.ts';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { ModelMemory } from './core/completions/modelMemory.ts';
import { RecentProblems } from './core/diagnosis/recentProblems.ts';
import { stateRoot, thisMachine } from './core/oauth/rotation/statePaths.ts';
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
import { ChangeMarks } from './host/changeMarks.ts';
import { RolecallModelProvider } from './host/chat/modelProvider.ts';
import { openChat } from './host/chat/openChat.ts';
import { registerParticipant } from './host/chat/participant.ts';
import { RememberedModels } from './host/chat/rememberedModels.ts';
import { Cloud } from './host/cloud.ts';
import { Clouds } from './host/clouds.ts';
import { registerCommand } from './host/commands.ts';
import { registerDiagnoseSignIn } from './host/diagnosis/diagnoseSignIn.ts';
import { editorSources } from './host/diagnosis/editorSources.ts';
import { ParametersDocument } from './host/documents/parametersDocument.ts';
import { Answers } from './host/editor/answers.ts';
import { registerAskCommands } from './host/editor/askAboutSelection.ts';
import { generateCommitMessage } from './host/editor/commitMessage.ts';
import { registerProblemActions } from './host/editor/problemActions.ts';
import { Rewrites } from './host/editor/rewrite.ts';
import { registerMatrix } from './host/matrix/matrixCommand.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { Sandbox } from './host/sandbox/trySandbox.ts';
import { selectModel } from './host/selectModel.ts';
import { Settings } from './host/settings.ts';
import { registerEditorTool } from './host/tools/editorTool.ts';
import { newWorkspaceTool } from './host/tools/newWorkspaceTool.ts';
import { runByHand, ToolLenses } from './host/tools/runByHand.ts';
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
import { UsageLedger } from './host/usageLedger.ts';
import { VirtualDocuments } from './host/virtualDocuments.ts';
import { commands, extensionId, walkthrough } from './ids.ts';

/** Builds the objects in order and registers them; no network and no secret is touched before all of that is done. */
export function activate(context: vscode.ExtensionContext): void {
  const channel = vscode.window.createOutputChannel('Rolecall', { log: true });
  const redactor = new Redactor();
  const learn = (secret: string | undefined) => redactor.learn(secret);
  const problems = new RecentProblems(channel, Date.now);
  const log = redactingLog(problems, redactor);
  const settings = new Settings();

  // Tests of the extension host leave nothing in the user's home.
  const isTest = context.extensionMode === vscode.ExtensionMode.Test;
  const state = isTest ? vscode.Uri.joinPath(context.globalStorageUri, 'state').fsPath : undefined;

  // Held by this window only: the sandbox's client secret dies with it.
  const sandboxSecrets = new Map<string, string>();
  const clientSecrets = new ClientSecrets(context.secrets);
  const inferenceTokens = new InferenceTokens(context.secrets, { fetch: globalThis.fetch, learn, log });
  const clientSecret = async (of: Connection, interactive: boolean) =>
    of.id === 'sandbox' ? sandboxSecrets.get(of.clientId) : clientSecrets.get(of, interactive);
  const clouds = new Clouds(
    settings,
    (connection) =>
      new Cloud({
        connection,
        place: connection.id === 'sandbox' ? windowPlace() : sharedPlace(context.secrets, connection, state),
        inferenceToken: async (of) => (of.id === 'sandbox' ? undefined : inferenceTokens.get(of)),
        clientSecret,
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
    describeModels: (models) => catalog.describeSandbox(models),
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
  const workspaceTools = new WorkspaceTools({
    files: toolFiles,
    consent: toolConsent,
    settings,
    fetch,
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
  const { contributes } = context.extension.packageJSON;
  const openTools = async () =>
    bothToolboxes(await accessToolbox(data, contributes.languageModelTools, log), await workspaceTools.open());
  const catalog = new ModelCatalog({ clouds, settings, fetch, log });
  const answers = new Answers({ clouds, extensionUri: context.extensionUri, log });
  const memory = new ModelMemory();
  const usage = new UsageLedger();
  const request = { settings, memory, usage, fetch, log };
  const editing = { ...request, clouds, catalog, openTools };
  const remembered = new RememberedModels(catalog, context.globalState);
  const parameters = new ParametersDocument({ clouds, catalog, settings, memory, openTools });

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
    answers,
    parameters,
    remembered,
    usage,
    RolecallAuthenticationProvider.register(clouds, signIn, signOut, log),
    registerSessionCommands({ clouds, signIn, signOut, clientSecrets, inferenceTokens, log }),
    registerStatusBar(clouds),
    signIn.follow(clouds),
    new EndedNotice(clouds, log),
    new SettingsNotice(clouds, log),
    followSecrets(context.secrets, clouds, inferenceTokens),
    vscode.window.registerUriHandler(links),
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
    registerDiagnoseSignIn({
      sources: editorSources({
        clouds,
        secrets: context.secrets,
        clientSecret: (of) => clientSecret(of, false),
        learn,
        extension: context.extension,
        sharedState: () => ({ state: stateRoot(thisMachine()), ...clouds.active?.place }),
        fetch,
        problems: () => problems.all,
      }),
      redact: (text) => redactor.redact(text),
      log,
    }),
    RolecallModelProvider.register({ ...request, clouds, catalog, remembered }),
    registerParticipant({
      ...request,
      clouds,
      catalog,
      openTools,
      icon: vscode.Uri.joinPath(context.extensionUri, 'media', 'rolecall.png'),
    }),
    registerCommand(commands.openChat, log, (question) => openChat(catalog, question)),
    registerAskCommands({ ...editing, answers }),
    registerProblemActions(),
    new Rewrites(editing),
    registerCommand(commands.generateCommitMessage, log, (source) => generateCommitMessage(editing, source)),
    registerCommand(commands.selectModel, log, () => selectModel({ clouds, catalog, settings })),
    registerCommand(commands.showEffectiveParameters, log, () => parameters.show()),
    registerEditorTool((token) => workspaceTools.open(token), log),
    ToolLenses.register(),
    registerCommand(commands.runWorkspaceTool, log, (uri, name) =>
      runByHand({ files: toolFiles, tools: workspaceTools, output: toolOutput }, uri, name),
    ),
    registerCommand(commands.newWorkspaceTool, log, () => newWorkspaceTool(toolFiles)),
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
