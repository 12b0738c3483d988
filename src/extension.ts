import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Redactor, redactingLog } from './core/base/redact.ts';
import { ModelObservations } from './core/completions/modelObservations.ts';
import { RecentProblems } from './core/diagnosis/recentProblems.ts';
import { briefAccess, registerAccess, withAccessTools } from './host/access/register.ts';
import { AccessData } from './host/accessData.ts';
import type { AccessTarget } from './host/accessTarget.ts';
import { createClouds, registerSession } from './host/auth/register.ts';
import { ChangeMarks } from './host/changeMarks.ts';
import type { BriefAccess } from './host/chat/composeRequest.ts';
import { chatFact } from './host/chat/nativeChat.ts';
import { introduceChat, openChat } from './host/chat/openChat.ts';
import { registerChat } from './host/chat/register.ts';
import { registerCommandLine } from './host/commandLine/register.ts';
import type { LastExchange } from './host/conversation.ts';
import { registerDiagnoseSignIn } from './host/diagnosis/register.ts';
import { registerEditorCommands } from './host/editor/register.ts';
import { registerMatrix } from './host/matrix/register.ts';
import { ModelCatalog } from './host/modelCatalog.ts';
import { ownAccessToolNames } from './host/ownAccessTools.ts';
import { registerPrompts } from './host/prompts/register.ts';
import { registerPages } from './host/registerPages.ts';
import { registerRules } from './host/rules/register.ts';
import { registerSandbox } from './host/sandbox/register.ts';
import { Settings } from './host/settings.ts';
import { watchSettings } from './host/settingsProblems.ts';
import { TokenUsage } from './host/tokenUsage.ts';
import { registerTools } from './host/tools/register.ts';
import { registerTree } from './host/tree/register.ts';
import { VirtualDocuments } from './host/virtualDocuments.ts';
import { views } from './ids.ts';

/** Has the translations; features.cjs takes them from here. */
export { l10n };

let closeSessions = async (): Promise<void> => {};

/** The editor waits for it, for some seconds: a refresh whose answer is under way would be lost to every window otherwise. */
export function deactivate(): Promise<void> {
  return closeSessions();
}

/** Builds the objects in order and registers them; no network and no secret is touched before all of that is done. */
export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const { extension, extensionUri, globalState, globalStorageUri, secrets, storageUri, subscriptions, workspaceState } =
    context;
  const own = <T extends vscode.Disposable>(part: T): T => {
    subscriptions.push(part);
    return part;
  };

  // The log, which hides secrets, and what everything uses
  const channel = own(vscode.window.createOutputChannel('Rolecall', { log: true }));
  const redactor = new Redactor();
  const addSecret = (secret: string | undefined) => redactor.addSecret(secret);
  const problems = new RecentProblems(channel, Date.now);
  const log = redactingLog(problems, redactor);
  const { fetch } = globalThis;
  const settings = new Settings();
  const usage = own(new TokenUsage());
  const pages = own(registerPages({ extensionUri, channel, log })).open;

  // Connections and their sessions
  const accounts = createClouds({ context, settings, fetch, addSecret, log });
  const clouds = own(accounts.clouds);
  own(watchSettings({ settings, clouds, addSecret, log }));
  closeSessions = () => clouds.close();
  const signedIn = () => introduceChat(globalState);
  const session = own(registerSession({ ...accounts, usage, settings, secrets, signedIn, fetch, addSecret, log }));

  // Who has access to what
  const data = own(new AccessData(clouds, settings, workspaceState, log));
  const marks = own(new ChangeMarks(data));
  const documents = own(new VirtualDocuments(data));
  const answered = new Set<string>(); // To other agents, by the names of tools.
  const tree = own(registerTree({ context, clouds, settings, data, documents, marks, log }));
  const reveal = (target: AccessTarget) => tree.view.reveal(target, false);
  const access = own(
    registerAccess({ data, documents, marks, storage: globalStorageUri, answered, pages, reveal }, log),
  );
  own(registerMatrix({ data, shared: tree.state, reveal, extensionUri, log }));
  own(registerRules({ data, pages, documents, reveal, extensionUri }, log));

  // Models and tools, in chat and in the editor
  const catalog = own(new ModelCatalog({ clouds, settings, fetch, log }));
  const tools = own(registerTools({ workspaceState, reserved: ownAccessToolNames, answered, settings, fetch, log }));
  const openTools = withAccessTools(tools.open, data, extension, log);
  const observations = new ModelObservations();
  const request = { clouds, catalog, settings, observations, usage, openTools, pages, fetch, log };
  const icon = vscode.Uri.joinPath(extensionUri, 'media', 'rolecall.png');
  const lastExchange: LastExchange = {};
  const brief: BriefAccess = (...args) => briefAccess(data, ...args);
  own(registerChat({ ...request, lastExchange, briefAccess: brief, globalState, icon }));
  own(registerEditorCommands(request));
  own(registerPrompts({ ...request, lastExchange, extension, storage: storageUri ?? globalStorageUri }));

  // Programs outside of the editor
  const { state } = accounts;
  const outside = { share: access.share, tools, state, extension, extensionUri };
  const commandLine = own(registerCommandLine({ clouds, settings, data, catalog, fetch, log, ...outside }));

  // The sandbox, and what helps when a sign-in fails
  const sandbox = own(registerSandbox({ ...accounts, session, catalog, openChat, workspaceState, extensionUri, log }));
  const chat = () => chatFact(globalState);
  const sources = { settings, secrets, chat, tools, commandLine, problems, extension };
  own(registerDiagnoseSignIn({ ...accounts, ...sources, redactor, addSecret, fetch, pages }, log));

  void sandbox.resume(); // Never throws.
  void clouds.start(); // Activation does not wait for the keyring; the session's state tells when it is known.
  // `npm start` begins with the view.
  if (process.env.ROLECALL_SHOW_VIEW) void vscode.commands.executeCommand(`${views.organizations}.focus`);
}
