/** User settings that keep a fresh editor quiet, so that what a test sees is Rolecall's. */
export const quietSettings: Readonly<Record<string, unknown>> = {
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
  // As on the desktop; in a browser the editor would save by itself.
  'files.autoSave': 'off',
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  // The chat shows a finished answer at once, instead of going on with 80 words a second.
  'chat.experimental.incrementalRendering.enabled': true,
  'chat.experimental.incrementalRendering.buffering': 'off',
  'chat.experimental.incrementalRendering.animationStyle': 'none',
  'editor.fontFamily': 'monospace',
  // Else the extension host looks every two seconds which programs listen at which ports.
  'remote.autoForwardPortsSource': 'output',
};

/** For a window that nobody looks at: parts that no test needs are not drawn. */
export const bareSettings: Readonly<Record<string, unknown>> = {
  ...quietSettings,
  'breadcrumbs.enabled': false,
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
  'editor.bracketPairColorization.enabled': false,
  'editor.guides.indentation': false,
  'editor.occurrencesHighlight': 'off',
  'editor.lightbulb.enabled': 'off',
  'editor.quickSuggestions': false,
  'window.commandCenter': false,
  'workbench.activityBar.location': 'hidden',
  'workbench.editor.editorActionsLocation': 'hidden',
  'workbench.layoutControl.enabled': false,
  'workbench.statusBar.visible': false,
  // Else each request first asks the window for a proxy, as the end-to-end tests' do.
  'http.fetchAdditionalSupport': false,
};
