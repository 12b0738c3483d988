/** User settings that keep a fresh editor quiet, so that what a test sees is Rolecall's. */
export const quiet: Readonly<Record<string, unknown>> = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  // While a fresh window opens, the chat view takes the focus late and closes the command palette under one's hands.
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'workbench.colorTheme': 'Dark Modern',
  'window.autoDetectColorScheme': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'editor.fontFamily': 'monospace',
};
