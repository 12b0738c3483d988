/** Every name that stands in package.json too, once. A unit test holds both to each other. */

export const commands = {
  signIn: 'rolecall.signIn',
  signInWith: 'rolecall.signInWith',
  pasteSignInAddress: 'rolecall.pasteSignInAddress',
  copySignInAddress: 'rolecall.copySignInAddress',
  cancelSignIn: 'rolecall.cancelSignIn',
  signOut: 'rolecall.signOut',
  showSession: 'rolecall.showSession',
  setClientSecret: 'rolecall.setClientSecret',
  setInferenceToken: 'rolecall.setInferenceToken',
  forgetInferenceToken: 'rolecall.forgetInferenceToken',
  trySandbox: 'rolecall.trySandbox',
  leaveSandbox: 'rolecall.leaveSandbox',
  refresh: 'rolecall.refresh',
  addOrganization: 'rolecall.addOrganization',
  copyId: 'rolecall.copyId',
  openChat: 'rolecall.openChat',
  askAboutSelection: 'rolecall.askAboutSelection',
  newWorkspaceTool: 'rolecall.newWorkspaceTool',
  runWorkspaceTool: 'rolecall.runWorkspaceTool',
  forgetToolConsent: 'rolecall.forgetToolConsent',
  showLog: 'rolecall.showLog',
  openWalkthrough: 'rolecall.openWalkthrough',
} as const;

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
  /** Whether the active connection has any organization to show. */
  hasOrganizations: 'rolecall.hasOrganizations',
} as const;

export const settings = {
  section: 'rolecall',
  identityUrl: 'identity.url',
  clientId: 'identity.clientId',
  clientAuthentication: 'identity.clientAuthentication',
  redirectUri: 'identity.redirectUri',
  scopes: 'identity.scopes',
  inferenceUrl: 'inference.url',
  organizations: 'organizations',
  models: 'models',
  defaultModel: 'defaultModel',
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
} as const;

export const authenticationProvider = 'rolecall';
export const chatParticipant = 'rolecall.chat';
/** By which other agents of the editor call workspace tools. No tool of the file may be called like it. */
export const languageModelTool = 'rolecall_workspaceTool';
export const languageModelVendor = 'rolecall';
export const walkthrough = 'rolecall.getStarted';
export const extensionId = 'rolecall.rolecall';
