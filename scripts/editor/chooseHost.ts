/** What decides which editor the tests of the extension host run in. */
export interface HostFacts {
  /** `--desktop`: the real desktop editor, downloaded if there is none. */
  readonly desktopAsked: boolean;
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
      /** Undefined: @vscode/test-electron downloads the stable one. */
      readonly executable: string | undefined;
      /** The path of xvfb-run when a display has to be made. */
      readonly xvfbRun: string | undefined;
    }
  | { readonly kind: 'served' }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * The served editor is the usual choice: it is the same locked version everywhere, opens no window on anyone's screen and
 * needs no display. A desktop editor is used when it was asked for or named, and where the served one does not run.
 */
export function chooseHost(facts: HostFacts): HostChoice {
  const executable = facts.named ?? facts.found;
  const wanted = facts.desktopAsked || facts.named !== undefined;
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
    return { kind: 'desktop', executable, xvfbRun: undefined };
  }
  if (facts.xvfbRun !== undefined) {
    return { kind: 'desktop', executable, xvfbRun: facts.xvfbRun };
  }
  return { kind: 'none', reason: 'The desktop editor needs a display: set DISPLAY, or install xvfb.' };
}

/** The server is plain JavaScript, but it supports no Windows. */
function canServe({ platform }: { readonly platform: NodeJS.Platform }): boolean {
  return platform === 'linux' || platform === 'darwin';
}

/** What decides which editor `npm start` opens. */
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

/** The desktop editor where there is one and a screen to show it; else the served one. */
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
