/* Every name that stands in package.json too, once. A unit test holds both to each other. */

export const commands = {
  signIn: 'rolecall.signIn',
  signInWith: 'rolecall.signInWith',
  pasteSignInAddress: 'rolecall.pasteSignInAddress',
  copySignInAddress: 'rolecall.copySignInAddress',
  cancelSignIn: 'rolecall.cancelSignIn',
  signOut: 'rolecall.signOut',
  showSession: 'rolecall.showSession',
  setClientSecret: 'rolecall.setClientSecret',
  forgetClientSecret: 'rolecall.forgetClientSecret',
  setInferenceToken: 'rolecall.setInferenceToken',
  forgetInferenceToken: 'rolecall.forgetInferenceToken',
  diagnoseSignIn: 'rolecall.diagnoseSignIn',
  trySandbox: 'rolecall.trySandbox',
  leaveSandbox: 'rolecall.leaveSandbox',
  refresh: 'rolecall.refresh',
  addOrganization: 'rolecall.addOrganization',
  removeOrganization: 'rolecall.removeOrganization',
  renameOrganization: 'rolecall.renameOrganization',
  filter: 'rolecall.filter',
  filterAll: 'rolecall.filterAll',
  clearFilter: 'rolecall.clearFilter',
  sort: 'rolecall.sort',
  addFavorite: 'rolecall.addFavorite',
  removeFavorite: 'rolecall.removeFavorite',
  copyId: 'rolecall.copyId',
  copyName: 'rolecall.copyName',
  openAsJson: 'rolecall.openAsJson',
  reveal: 'rolecall.reveal',
  whoHasRole: 'rolecall.whoHasRole',
  showEffectiveAccess: 'rolecall.showEffectiveAccess',
  showMatrix: 'rolecall.showMatrix',
  askAboutThis: 'rolecall.askAboutThis',
  showReview: 'rolecall.showReview',
  exportReview: 'rolecall.exportReview',
  newAccessRules: 'rolecall.newAccessRules',
  declareAccess: 'rolecall.declareAccess',
  addWaiver: 'rolecall.addWaiver',
  copyToDo: 'rolecall.copyToDo',
  showCheck: 'rolecall.showCheck',
  exportCheck: 'rolecall.exportCheck',
  startReview: 'rolecall.startReview',
  nextUndecided: 'rolecall.nextUndecided',
  decideAccess: 'rolecall.decideAccess',
  showReviewSummary: 'rolecall.showReviewSummary',
  showAccessGraph: 'rolecall.showAccessGraph',
  saveSnapshot: 'rolecall.saveSnapshot',
  compareSnapshot: 'rolecall.compareSnapshot',
  acknowledgeChanges: 'rolecall.acknowledgeChanges',
  manageSnapshots: 'rolecall.manageSnapshots',
  clearSnapshots: 'rolecall.clearSnapshots',
  openChat: 'rolecall.openChat',
  selectModel: 'rolecall.selectModel',
  useInNativeChat: 'rolecall.useInNativeChat',
  showEffectiveParameters: 'rolecall.showEffectiveParameters',
  showReasoning: 'rolecall.showReasoning',
  copyPage: 'rolecall.copyPage',
  savePage: 'rolecall.savePage',
  refreshPage: 'rolecall.refreshPage',
  askAboutSelection: 'rolecall.askAboutSelection',
  explainSelection: 'rolecall.explainSelection',
  explainProblem: 'rolecall.explainProblem',
  rewriteSelection: 'rolecall.rewriteSelection',
  applyRewrite: 'rolecall.applyRewrite',
  discardRewrite: 'rolecall.discardRewrite',
  generateCommitMessage: 'rolecall.generateCommitMessage',
  newWorkspaceTool: 'rolecall.newWorkspaceTool',
  runWorkspaceTool: 'rolecall.runWorkspaceTool',
  forgetToolConsent: 'rolecall.forgetToolConsent',
  installCommandLine: 'rolecall.installCommandLine',
  uninstallCommandLine: 'rolecall.uninstallCommandLine',
  resetCommandLineAccess: 'rolecall.resetCommandLineAccess',
  showLog: 'rolecall.showLog',
  openWalkthrough: 'rolecall.openWalkthrough',
} as const;

/** Commands about prompt files. Apart, because no window needs these names before it has one; all contain `Prompt`. */
export const promptCommands = {
  runPrompt: 'rolecall.runPrompt',
  stopPrompt: 'rolecall.stopPrompt',
  runPromptWithModels: 'rolecall.runPromptWithModels',
  copyPromptAsCurl: 'rolecall.copyPromptAsCurl',
  foldPromptResult: 'rolecall.foldPromptResult',
  continuePrompt: 'rolecall.continuePrompt',
  reproducePrompt: 'rolecall.reproducePrompt',
  runPromptToolCall: 'rolecall.runPromptToolCall',
  savePromptResult: 'rolecall.savePromptResult',
  comparePromptRuns: 'rolecall.comparePromptRuns',
  setPromptBaseline: 'rolecall.setPromptBaseline',
  clearPromptRuns: 'rolecall.clearPromptRuns',
  newPromptFile: 'rolecall.newPromptFile',
  saveChatAsPromptFile: 'rolecall.saveChatAsPromptFile',
  importPrompty: 'rolecall.importPrompty',
  nextUncertainPromptToken: 'rolecall.nextUncertainPromptToken',
  previousUncertainPromptToken: 'rolecall.previousUncertainPromptToken',
} as const;

/** Slash commands of the chat participant. */
export const chatCommands = {
  explain: 'explain',
  fix: 'fix',
  tests: 'tests',
  access: 'access',
  tools: 'tools',
} as const;

/** The source of our diagnostics, as Problems shows it. */
export const DIAGNOSTIC_SOURCE = 'Rolecall';

/** The tools of a folder, below it. */
export const TOOL_FILE = '.vscode/rolecall.tools.json';

export const views = {
  container: 'rolecall',
  organizations: 'rolecall.organizations',
} as const;

export const contextKeys = {
  /** `kind` of the session state of the active connection, or `unconfigured` or `misconfigured`. */
  session: 'rolecall.session',
  /** `service` or `sandbox`. */
  connection: 'rolecall.connection',
  /** Why the session of the active connection ended (`reason` of its state), empty while it has not. */
  endReason: 'rolecall.endReason',
  /** Whether a sign-in waits for the browser in this window. */
  isSigningIn: 'rolecall.isSigningIn',
  /** Whether these are stored for the active connection, and can be forgotten. */
  hasClientSecret: 'rolecall.hasClientSecret',
  hasInferenceToken: 'rolecall.hasInferenceToken',
  /** Whether the active connection has any organization to show. */
  hasOrganizations: 'rolecall.hasOrganizations',
  /** Whether a filter hides something of any organization that is shown. */
  isFiltered: 'rolecall.isFiltered',
  /** Whether changes since a snapshot are marked. */
  hasChanges: 'rolecall.hasChanges',
  /** Steps of the walkthrough: `@rolecall` has answered in this window, an organization was unfolded, a workspace tool was run. */
  hasAsked: 'rolecall.hasAsked',
  hasBrowsed: 'rolecall.hasBrowsed',
  hasRunTool: 'rolecall.hasRunTool',
  /** While Get Started opens the walkthrough: no step counts as done then. */
  isOpeningWalkthrough: 'rolecall.isOpeningWalkthrough',
} as const;

/** Context keys about prompt files; apart, as their commands are. Addresses, or false for none. */
export const promptContextKeys = {
  /** Of the prompt files that run. */
  runningPrompts: 'rolecall.runningPrompts',
  /** Of the results whose tokens have probabilities. */
  coloredResults: 'rolecall.coloredResults',
} as const;

export const settings = {
  section: 'rolecall',
  identityUrl: 'identity.url',
  clientId: 'identity.clientId',
  clientAuthentication: 'identity.clientAuthentication',
  redirectUri: 'identity.redirectUri',
  scopes: 'identity.scopes',
  inferenceUrl: 'inference.url',
  inferenceHeaders: 'inference.headers',
  organizations: 'organizations',
  organizationLabels: 'organizationLabels',
  refreshMinutes: 'refreshMinutes',
  models: 'models',
  defaultModel: 'defaultModel',
  chatParameters: 'chat.parameters',
  connectTimeout: 'chat.timeouts.connect',
  firstEventTimeout: 'chat.timeouts.firstEvent',
  idleTimeout: 'chat.timeouts.idle',
  promptModels: 'prompts.models',
  allowedToolHosts: 'tools.allowedHosts',
  maxToolRounds: 'tools.maxRounds',
} as const;

export const secrets = {
  /** Followed by the key of the connection. */
  session: 'rolecall.session:',
  /** Followed by identity address and client id. */
  clientSecret: 'rolecall.clientSecret:',
  /** Followed by the key of the connection: a sign-in that waits for a link to the editor. */
  signIn: 'rolecall.signIn:',
  /** Followed by the inference address: the token of the inference service alone. */
  inferenceToken: 'rolecall.inferenceToken:',
  /** Followed by something made up: written and removed to see whether the store works. */
  probe: 'rolecall.probe:',
} as const;

export const authenticationProvider = 'rolecall';
export const chatParticipant = 'rolecall.chat';
/** The tool through which other agents of the editor call workspace tools. No tool of a workspace forwards to it. */
export const languageModelTool = 'rolecall_workspaceTool';
export const languageModelVendor = 'rolecall';
/** The MCP servers that the editor can start. */
export const mcpServers = 'rolecall';
/** Among the models that are listed to VS Code, the one that stands for the default model. */
export const defaultModelEntry = 'rolecall';

/** Tools contributed to every chat agent; `@rolecall` has them without the prefix. */
export const languageModelTools = {
  listGroups: 'rolecall_list_groups',
  listRoles: 'rolecall_list_roles',
  whoHasRole: 'rolecall_who_has_role',
  effectiveAccess: 'rolecall_effective_access',
} as const;

/** Kind of the editor tabs that show an access matrix. */
export const matrixPanel = 'rolecall.matrix';
/** Kinds of the editor tabs that show an answer of a model, and a document of Rolecall's. */
export const answerPanel = 'rolecall.answer';
export const documentPanel = 'rolecall.document';

export const walkthrough = 'rolecall.getStarted';
export const extensionId = 'rolecall.rolecall';
