/** Every name that stands in package.json too, once. A unit test holds both to each other. */

export const commands = {
  signIn: 'rolecall.signIn',
  signOut: 'rolecall.signOut',
  setClientSecret: 'rolecall.setClientSecret',
  diagnoseSignIn: 'rolecall.diagnoseSignIn',
  trySandbox: 'rolecall.trySandbox',
  leaveSandbox: 'rolecall.leaveSandbox',
  refresh: 'rolecall.refresh',
  addOrganization: 'rolecall.addOrganization',
  copyId: 'rolecall.copyId',
  openChat: 'rolecall.openChat',
  askAboutSelection: 'rolecall.askAboutSelection',
  newWorkspaceTool: 'rolecall.newWorkspaceTool',
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
} as const;

export const secrets = {
  /** Followed by the key of the connection. */
  session: 'rolecall.session:',
  /** Followed by identity address and client id. */
  clientSecret: 'rolecall.clientSecret:',
  /** Followed by something made up: written and removed to see whether the store works. */
  probe: 'rolecall.probe:',
} as const;

export const authenticationProvider = 'rolecall';
export const chatParticipant = 'rolecall.chat';
export const languageModelVendor = 'rolecall';
export const walkthrough = 'rolecall.getStarted';
export const extensionId = 'rolecall.rolecall';
