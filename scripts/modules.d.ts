// The types of the modules that are plain JavaScript. (A .d.mts beside each would do the same, but Biome then wants the
// imports to name that file.)

declare module '*/steps.mjs' {
  interface StepOptions {
    /** How far it is, in a few words. */
    readonly progress?: (() => string) | undefined;
    /** Standard error, unless a test says otherwise. */
    readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  }
  /** Does `work` and prints one line for it, with its time; while it lasts, too, on a terminal or when it is long. */
  export function step<T>(title: string, work: () => T | Promise<T>, options?: StepOptions): Promise<T>;
}

declare module '*/find.mjs' {
  /** The full path of a program on PATH, or undefined. */
  export function findOnPath(name: string): string | undefined;
  /** The command that opens a desktop editor (a launcher script, as a person types it), or undefined. */
  export function findDesktopCommand(): string | undefined;
  /** Where a program of this name can be, in the order in which a shell looks. */
  export function programFiles(name: string, searched: string, platform: NodeJS.Platform): string[];
}

declare module '*/install.mjs' {
  interface Installation {
    readonly stamp: string;
    readonly sources: readonly string[];
    /** A part of the work, which the whole includes. */
    readonly part?: string;
    /** Of the line that is printed for it; absent: none is. */
    readonly title?: string;
    readonly progress?: () => string;
  }
  /**
   * Calls `install` unless the file `stamp` holds the hash of the files `sources`; commands started together take turns.
   * `install` of the whole is told whether the part is there.
   */
  export function installOnce(
    installation: Installation,
    install: (isPartThere: boolean) => void | Promise<void>,
  ): Promise<void>;
  /** Runs npm without scripts of packages. @throws Error with npm's output when it fails. */
  export function npm(parameters: readonly string[], folder: string): Promise<void>;
  export const servedEditor: Required<Pick<Installation, 'stamp' | 'sources' | 'progress'>>;
  /** Fetches the packages of the served editor, which `installEditor` then changes. */
  export function fetchEditor(): Promise<void>;
  /** How npm is started: with the npm that started us, if one did. */
  export function npmCommand(
    parameters: readonly string[],
    execPath: string | undefined,
    platform: NodeJS.Platform,
  ): { readonly command: string; readonly all: readonly string[]; readonly shell: boolean };
  /** Where the Node that is locked with the packages can be. */
  export function lockedNodes(folder: string, platform: NodeJS.Platform, arch: string): string[];
  /** Whether a command will need the served editor: a guess that saves time. */
  export function guessEditor(
    script: string,
    parameters: readonly string[],
    facts: { readonly platform: NodeJS.Platform; readonly hasDesktop: boolean },
  ): boolean;
}

declare module '*/esbuild.mjs' {
  export interface Bundle {
    /** Relative to the project's root. */
    readonly file: string;
    readonly bytes: number;
  }
  /** Packages that the bundles leave out, installed or not. */
  export const optionalPackages: readonly string[];
  export function buildProduction(): Promise<Bundle[]>;
  export function bundleExtension(outdir: string): Promise<{
    /** The file that exports `activate`. */
    readonly extension: string;
    readonly features: string;
  }>;
  /** Gives the program's file. */
  export function bundleCommandLine(outdir: string): Promise<string>;
  export function bundlePage(name?: 'matrix' | 'page'): Promise<{ readonly script: string; readonly style: string }>;
  export function bundleSandbox(): Promise<{ readonly text: string; readonly modules: readonly string[] }>;
  export function buildTests(): Promise<Bundle[]>;
  export function sizeLines(bundles: readonly Bundle[]): string[];
}
