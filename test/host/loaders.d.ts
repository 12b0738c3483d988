/** Every *.test.ts of this folder, put together by esbuild.mjs. */
declare module 'rolecall:host-tests' {
  export const loaders: ReadonlyArray<() => Promise<unknown>>;
}
