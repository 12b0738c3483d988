/** The facts that decide in which editor the tests of the extension host run. */
export interface HostFacts {
  /** `--desktop`: the real desktop editor, downloaded if there is none. */
  readonly desktopAsked: boolean;
  /** `--vscode-version`: this version of the desktop editor, downloaded. */
  readonly version: string | undefined;
  /** The editor that ROLECALL_VSCODE names. */
  readonly named: string | undefined;
  /** A desktop editor in one of its usual places. */
  readonly found: string | undefined;
  readonly platform: NodeJS.Platform;
  /** DISPLAY or WAYLAND_DISPLAY. Only Linux needs one. */
  readonly display: string | undefined;
  /** The path of xvfb-run. */
  readonly xvfbRun: string | undefined;
}

export type HostChoice =
  | {
      readonly kind: 'desktop';
      /** Undefined: @vscode/test-electron downloads one. */
      readonly executable: string | undefined;
      /** Of the one that is downloaded; undefined: the stable one. */
      readonly version: string | undefined;
      /** The path of xvfb-run if a display is needed. */
      readonly xvfbRun: string | undefined;
    }
  | { readonly kind: 'served' }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * The served editor is the usual choice: it is the same locked version everywhere, opens no window on anyone's screen and
 * needs no display. A desktop editor is used when it, or a version
 * of it, was asked for or named, and where the served one does not run.
 */
export function chooseHost(facts: HostFacts): HostChoice {
  const { version } = facts;
  const executable = version === undefined ? (facts.named ?? facts.found) : undefined;
  const wanted = facts.desktopAsked || version !== undefined || facts.named !== undefined;
  if (!wanted && canServe(facts)) {
    return { kind: 'served' };
  }
  if (!wanted && executable === undefined) {
    return {
      kind: 'none',
      reason: `The served editor does not run on ${facts.platform} and no VS Code was found: use --desktop to download one, or name one in ROLECALL_VSCODE.`,
    };
  }
  if (facts.platform !== 'linux' || facts.display !== undefined) {
    return { kind: 'desktop', executable, version, xvfbRun: undefined };
  }
  if (facts.xvfbRun !== undefined) {
    return { kind: 'desktop', executable, version, xvfbRun: facts.xvfbRun };
  }
  return { kind: 'none', reason: 'The desktop editor needs a display: set DISPLAY, or install xvfb.' };
}

/** The server is plain JavaScript, but it supports no Windows. */
function canServe({ platform }: { readonly platform: NodeJS.Platform }): boolean {
  return platform === 'linux' || platform === 'darwin';
}

/** The command that runs the suite in the chosen desktop editor; `test` is that command without a choice. */
export function desktopTestCommand(choice: HostChoice & { kind: 'desktop' }, test: readonly string[]): string[] {
  return [
    ...(choice.xvfbRun === undefined ? [] : [choice.xvfbRun, '-a']),
    ...test,
    ...(choice.executable === undefined ? [] : ['--executable', choice.executable]),
    ...(choice.version === undefined ? [] : ['--version', choice.version]),
  ];
}

/** The facts that decide which editor `npm start` opens. */
export interface EditorFacts {
  /** `--editor PATH`. */
  readonly asked: string | undefined;
  /** `--served`. */
  readonly servedAsked: boolean;
  /** A desktop editor's command on PATH. */
  readonly found: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly display: string | undefined;
}

export type EditorChoice =
  | { readonly kind: 'desktop'; readonly command: string }
  | { readonly kind: 'served' }
  | { readonly kind: 'none'; readonly reason: string };

/** The desktop editor if there is one and a screen to show it; else the served one. */
export function chooseEditor(facts: EditorFacts): EditorChoice {
  if (facts.asked !== undefined) {
    return { kind: 'desktop', command: facts.asked };
  }
  const hasScreen = facts.platform !== 'linux' || facts.display !== undefined;
  if (!facts.servedAsked && facts.found !== undefined && hasScreen) {
    return { kind: 'desktop', command: facts.found };
  }
  if (canServe(facts)) {
    return { kind: 'served' };
  }
  return {
    kind: 'none',
    reason: `The served editor does not run on ${facts.platform} and no VS Code was found on PATH: name one with --editor PATH.`,
  };
}

/**
 * How a desktop editor's launcher is started. On Windows it is a .cmd file, which only a shell starts, and the shell is given
 * one line: without quotes, a path with a space would be two arguments.
 */
export function launcherCommand(
  command: string,
  parameters: readonly string[],
  platform: NodeJS.Platform,
): { readonly program: string; readonly all: readonly string[]; readonly shell: boolean } {
  return platform === 'win32'
    ? { program: [command, ...parameters].map((each) => `"${each}"`).join(' '), all: [], shell: true }
    : { program: command, all: parameters, shell: false };
}
