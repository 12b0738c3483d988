/** What a program needs to start and to find the user's folders and language; nothing that could hold a secret. */
const allowedOnPosix: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TMPDIR',
  'TZ',
]);

/** In capitals, as Windows does not tell `Path` from `PATH`. */
const allowedOnWindows: ReadonlySet<string> = new Set([
  'PATH',
  'PATHEXT',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'COMMONPROGRAMFILES',
  'NUMBER_OF_PROCESSORS',
  'PROCESSOR_ARCHITECTURE',
  'OS',
  'LANG',
  'TZ',
]);

/** True when a tool gets this variable of the editor's own environment. */
export function isAllowedVariable(name: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return allowedOnWindows.has(name.toUpperCase());
  return allowedOnPosix.has(name) || /^LC_[A-Z]+$/.test(name);
}

/**
 * The whole environment of a tool: the allowed variables of `inherited`, then the additions of the definition. Tokens,
 * proxies with passwords and what the editor sets for itself (`ELECTRON_RUN_AS_NODE`, `VSCODE_…`) stay out.
 */
export function toolEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  additions: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name);
  const added = new Set(Object.keys(additions).map(fold));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && isAllowedVariable(name, platform) && !added.has(fold(name))) environment[name] = value;
  }
  return { ...environment, ...additions };
}

/** A variable by its name, whatever its capitals on Windows. */
export function variable(
  environment: Readonly<Record<string, string>>,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (platform !== 'win32') return environment[name];
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
