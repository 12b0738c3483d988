/** Every name that stands in package.json too, once. A unit test holds both to each other. */

export const commands = {
  signIn: 'rolecall.signIn',
  signOut: 'rolecall.signOut',
  setClientSecret: 'rolecall.setClientSecret',
  trySandbox: 'rolecall.trySandbox',
  leaveSandbox: 'rolecall.leaveSandbox',
  refresh: 'rolecall.refresh',
  addOrganization: 'rolecall.addOrganization',
  removeOrganization: 'rolecall.removeOrganization',
  renameOrganization: 'rolecall.renameOrganization',
  filter: 'rolecall.filter',
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
  exportReview: 'rolecall.exportReview',
  saveSnapshot: 'rolecall.saveSnapshot',
  compareSnapshot: 'rolecall.compareSnapshot',
  acknowledgeChanges: 'rolecall.acknowledgeChanges',
  showSnapshots: 'rolecall.showSnapshots',
  clearSnapshots: 'rolecall.clearSnapshots',
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
  /** Why nothing could be read of any organization: `offline` or `forbidden`; empty where something could. */
  emptyBecause: 'rolecall.emptyBecause',
  /** Whether a filter hides something of any organization that is shown. */
  isFiltered: 'rolecall.isFiltered',
  /** Whether changes since a snapshot are marked. */
  hasChanges: 'rolecall.hasChanges',
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
  organizationLabels: 'organizationLabels',
  refreshMinutes: 'refreshMinutes',
  models: 'models',
  defaultModel: 'defaultModel',
} as const;

export const secrets = {
  /** Followed by the key of the connection. */
  session: 'rolecall.session:',
  /** Followed by identity address and client id. */
  clientSecret: 'rolecall.clientSecret:',
} as const;

export const authenticationProvider = 'rolecall';
export const chatParticipant = 'rolecall.chat';
export const languageModelVendor = 'rolecall';

/** Tools contributed to every chat agent; `@rolecall` has them without the prefix. */
export const languageModelTools = {
  listGroups: 'rolecall_list_groups',
  listRoles: 'rolecall_list_roles',
  whoHasRole: 'rolecall_who_has_role',
  effectiveAccess: 'rolecall_effective_access',
} as const;

/** Kind of the editor tabs that show an access matrix. */
export const matrixPanel = 'rolecall.matrix';

export const walkthrough = 'rolecall.getStarted';
export const extensionId = 'rolecall.rolecall';
