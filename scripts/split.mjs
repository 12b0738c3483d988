// Plugins for esbuild that split the extension into what activation reads, and what is read when it is needed.
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';

/**
 * Puts all that activation reads into one file. esbuild gives modules a file of their own for each set of parts that need
 * them, which would be dozens here, each to be found and read; so every part that is imported later needs the entry too.
 *
 * @param entry The file that exports `activate`, relative to `absWorkingDir`.
 */
export function readAtOnce(entry) {
  return {
    name: 'rolecall-read-at-once',
    setup(build) {
      const { plugins: _, ...options } = build.initialOptions;
      const absolute = (file) => path.join(options.absWorkingDir, file);
      let later = new Set();
      build.onStart(async () => {
        const inputs = await inputsOf(options);
        const imports = Object.values(inputs).flatMap((input) => input.imports);
        const found = imports.filter(({ kind, external }) => kind === 'dynamic-import' && !external);
        later = new Set(found.map(({ path: file }) => absolute(file)));
      });
      build.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        if (!later.has(file)) return undefined;
        const contents = `${fs.readFileSync(file, 'utf8')}\nimport ${JSON.stringify(absolute(entry))};\n`;
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** What a mistake is, the build itself says. */
async function inputsOf(options) {
  try {
    return (await esbuild.build({ ...options, logLevel: 'silent' })).metafile.inputs;
  } catch {
    return {};
  }
}

/** Writes the files of a split build as CommonJS, in place of those of an earlier build. */
export function asCommonJs(options) {
  return {
    name: 'rolecall-commonjs',
    setup(build) {
      const { absWorkingDir, outdir } = build.initialOptions;
      const folder = path.resolve(absWorkingDir, outdir);
      const write = async ({ path: file, contents, text }, outputs) => {
        if (!file.endsWith('.cjs')) return fs.writeFileSync(file, contents);
        // `import()` becomes `require`, which needs no second loader.
        const how = { ...options, format: 'cjs', supported: { 'dynamic-import': false } };
        const { code } = await esbuild.transform(withOneEditor(text), how);
        fs.writeFileSync(file, code);
        outputs[path.relative(absWorkingDir, file).replaceAll('\\', '/')].bytes = Buffer.byteLength(code);
      };
      build.onEnd(async ({ outputFiles = [], metafile, errors }) => {
        if (errors.length > 0) return;
        fs.mkdirSync(folder, { recursive: true });
        const earlier = fs.readdirSync(folder).filter((file) => /^lazy-.*\.cjs(\.map)?$/.test(file));
        for (const file of earlier) fs.rmSync(path.join(folder, file));
        await Promise.all(outputFiles.map((file) => write(file, metafile.outputs)));
      });
    },
  };
}

/**
 * The editor's interface is required once in each file, and used as it is: for every module that imports it esbuild would
 * make a copy of it, member by member, which was a quarter of what activation took.
 */
function withOneEditor(text) {
  let first;
  return text.replace(/\bimport\s*\*\s*as\s+([\w$]+)\s+from\s*"vscode";/g, (_, name) => {
    const value = first ?? 'require("vscode")';
    first ??= name;
    return `const ${name} = ${value};`;
  });
}
