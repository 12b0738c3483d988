import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Connection } from './core/base/connection.ts';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { ModelMemory } from './core/completions/modelMemory.ts';
import { RecentProblems } from './core/diagnosis/recentProblems.ts';
import {
  registerAnswerCommands,
  registerExportReview,
  registerLanguageModelTools,
  registerSnapshotCommands,
} from './host/access/register.ts';
import { AccessData } from './host/accessData.ts';
import { accessToolNames } from './host/accessToolNames.ts';
import { ClientSecrets } from './host/auth/clientSecret.ts';
import { InferenceTokens } from './host/auth/inferenceTokens.ts';
import { registerSession } from './host/auth/register.ts';
import { sandboxPlace, sharedPlace } from './host/auth/sessionPlace.ts';
import { ChangeMarks } from './host/changeMarks.ts';
import { RolecallModelProvider } from './host/chat/modelProvider.ts';
import { openChat } from './host/chat/openChat.ts';
import { registerParticipant } from './host/chat/register.ts';
import { RememberedModels } from './host/chat/rememberedModels.ts';
import { whyNoChat } from './host/chatView.ts';
import { Cloud } from './host/cloud.ts';
import { Clouds } from './host/clouds.ts';
import { registerCommand } from './host/commands.ts';
import type { Opening } from './host/conversation.ts';
import { registerDiagnoseSignIn } from './host/diagnosis/register.ts';
import { ParametersDocument } from './host/documents/parametersDocument.ts';
import { registerEditorCommands } from './host/editor/register.ts';
import { registerMatrix } from './host/matrix/register.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { registerSandbox } from './host/sandbox/register.ts';
import { Settings } from './host/settings.ts';
import { registerTools } from './host/tools/register.ts';
import { TreeDecorations } from './host/tree/decorations.ts';
import { refreshAtIntervals } from './host/tree/intervalRefresh.ts';
import { OrganizationsTree } from './host/tree/organizationsTree.ts';
import { registerOrganizationCommands, registerTreeCommands, registerViewCommands } from './host/tree/register.ts';
import { ViewState } from './host/tree/viewState.ts';
import { UsageLedger } from './host/usageLedger.ts';
import { VirtualDocuments } from './host/virtualDocuments.ts';
import { commands, extensionId, walkthrough } from './ids.ts';

/** Has the translations; features.cjs takes them from here. */
export { l10n };

/** Builds the objects in order and registers them; no network and no secret is touched before all of that is done. */
export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle) {
    l10n.config({ contents: vscode.l10n.bundle });
  }
  const channel = vscode.window.createOutputChannel('Rolecall', { log: true });
  const redactor = new Redactor();
  const learn = (secret: string | undefined) => redactor.learn(secret);
  const problems = new RecentProblems(channel, Date.now);
  const log = redactingLog(problems, redactor);
  const settings = new Settings();

  // Tests of the extension host leave nothing in the user's home.
  const isTest = context.extensionMode === vscode.ExtensionMode.Test;
  const state = isTest ? vscode.Uri.joinPath(context.globalStorageUri, 'state').fsPath : undefined;

  const sandboxFolder = vscode.Uri.joinPath(context.globalStorageUri, 'sandbox').fsPath;
  // Held by this window only: the sandbox tells it to each.
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
        place:
          connection.id === 'sandbox'
            ? sandboxPlace(context.secrets, context.globalState, connection, sandboxFolder)
            : sharedPlace(context.secrets, connection, state),
        inferenceToken: async (of) => (of.id === 'sandbox' ? undefined : inferenceTokens.get(of)),
        clientSecret,
        fetch: globalThis.fetch,
        log,
        learn,
      }),
  );
  const { fetch } = globalThis;
  const storage = context.secrets;
  const usage = new UsageLedger();
  const session = registerSession({
    clouds,
    usage,
    settings,
    storage,
    clientSecrets,
    inferenceTokens,
    fetch,
    learn,
    log,
  });
  const data = new AccessData(clouds, settings, log);
  const marks = new ChangeMarks(data);
  const accessDocuments = new VirtualDocuments(data);
  const viewState = new ViewState(context.workspaceState, context.globalState);
  const organizations = new OrganizationsTree({ data, state: viewState, log });
  const reserved = accessToolNames;
  const tools = registerTools({ state: context.workspaceState, reserved, settings, fetch, log });
  const openTools = async (opening: Opening = {}) => {
    const { accessToolbox, bothToolboxes } = await import('./host/access/accessToolbox.ts');
    const { languageModelTools } = context.extension.packageJSON.contributes;
    const { access = new Set() } = opening;
    const own = await accessToolbox(data, languageModelTools, log, access);
    return bothToolboxes(own, await tools.open(opening), opening);
  };
  const briefAccess = async (callsTools: boolean, signal: AbortSignal) => {
    const { accessBriefing } = await import('./host/access/briefing.ts');
    return accessBriefing(data, callsTools, signal);
  };
  const catalog = new ModelCatalog({ clouds, settings, fetch, log });
  const memory = new ModelMemory();
  const request = { clouds, catalog, settings, memory, usage, fetch, log };
  const remembered = new RememberedModels(catalog, context.globalState);
  const parameters = new ParametersDocument({ clouds, catalog, settings, memory, openTools });
  const sandbox = registerSandbox(context.workspaceState, {
    clouds,
    program: {
      file: vscode.Uri.joinPath(context.extensionUri, 'dist', 'sandbox.js').fsPath,
      folder: sandboxFolder,
    },
    running: process.env.ROLECALL_SANDBOX,
    rememberSecret: (clientId, secret) => {
      learn(secret);
      sandboxSecrets.set(clientId, secret);
    },
    describeModels: (models) => catalog.describeSandbox(models),
    signIn: (cloud) => session.signIn(cloud),
    openChat: async (prompt) => {
      if (!(await whyNoChat())) await openChat(catalog, prompt);
    },
    log,
  });

  context.subscriptions.push(
    channel,
    clouds,
    data,
    marks,
    accessDocuments,
    viewState,
    organizations,
    tools,
    catalog,
    parameters,
    remembered,
    usage,
    session,
    new TreeDecorations(data, marks),
    refreshAtIntervals(data, settings, () => organizations.isVisible && vscode.window.state.focused),
    registerTreeCommands({ clouds, data, view: organizations, documents: accessDocuments }, log),
    registerOrganizationCommands({ clouds, settings, data }, log),
    registerViewCommands(data, viewState, log),
    registerAnswerCommands(data, accessDocuments, log),
    registerMatrix({
      data,
      shared: viewState,
      reveal: (target) => organizations.reveal(target, false),
      extensionUri: context.extensionUri,
      log,
    }),
    registerExportReview(data, log),
    registerSnapshotCommands({ data, storage: context.globalStorageUri, documents: accessDocuments, marks }, log),
    registerLanguageModelTools(data, log),
    registerDiagnoseSignIn(
      {
        clouds,
        secrets: storage,
        clientSecret: (of) => clientSecret(of, false),
        learn,
        extension: context.extension,
        sharedPlace: () => clouds.active?.place,
        fetch,
        containment: tools.containment,
        problems: () => problems.all,
        redact: (text) => redactor.redact(text),
      },
      log,
    ),
    RolecallModelProvider.register({ ...request, remembered }),
    registerParticipant({
      ...request,
      openTools,
      briefAccess,
      icon: vscode.Uri.joinPath(context.extensionUri, 'media', 'rolecall.png'),
    }),
    registerCommand(commands.openChat, log, (question) => openChat(catalog, question)),
    registerEditorCommands({ ...request, openTools, extensionUri: context.extensionUri }),
    registerCommand(commands.selectModel, log, async () => {
      const { selectModel } = await import('./host/selectModel.ts');
      await selectModel({ clouds, catalog, settings });
    }),
    registerCommand(commands.showEffectiveParameters, log, () => parameters.show()),
    sandbox,
    registerCommand(commands.showLog, log, () => channel.show()),
    registerCommand(commands.openWalkthrough, log, () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#${walkthrough}`),
    ),
  );

  void sandbox.resume(); // Never throws.
  void clouds.start(); // Activation does not wait for the keyring; the session's state tells when it is known.
}
