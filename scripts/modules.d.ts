// The types of the modules that are plain JavaScript. (A .d.mts beside each would do the same, but Biome then wants the
// imports to name that file.)

declare module '*/install.mjs' {
  /** Calls `install` unless the file `stamp` holds the hash of the files `sources`; commands started together take turns. */
  export function installOnce(
    stamp: string,
    sources: readonly string[],
    install: () => void | Promise<void>,
  ): Promise<void>;
  /** Runs npm without scripts of packages. @throws Error with npm's output when it fails. */
  export function npm(parameters: readonly string[], folder: string): void;
}

declare module '*/esbuild.mjs' {
  export interface Bundle {
    /** Relative to the project's root. */
    readonly file: string;
    readonly bytes: number;
  }
  export function buildProduction(): Promise<Bundle[]>;
  export function bundleExtension(outdir: string): Promise<{
    /** The file that exports `activate`. */
    readonly extension: string;
    readonly features: string;
    /** What the former holds, relative to the project's root. */
    readonly modules: readonly string[];
  }>;
  export function bundlePage(name?: 'matrix' | 'answer'): Promise<{ readonly script: string; readonly style: string }>;
  export function buildHostTests(): Promise<Bundle[]>;
  export function sizeLines(bundles: readonly Bundle[]): string[];
}
