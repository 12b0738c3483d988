// node esbuild.mjs [--watch] [--tests]: bundles the extension, its pages, the command line and the sandbox into dist/, and with --tests the suite that
// runs inside an extension host and the sandbox's test build into out/test/. Types are not checked here: that is `npm run check`.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = path.dirname(fileURLToPath(import.meta.url));

/** The Node of the oldest supported editor. */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node22',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

/** What packages use when it happens to be installed: the bundles do without it, so that they are the same everywhere. */
export const optionalPackages = ['supports-color'];

/** The pages: dist/matrix.js and so on; the style sheet of each stands beside it. */
const pages = {
  ...common,
  entryPoints: { matrix: 'src/webview/matrix/main.ts', page: 'src/webview/page/main.ts' },
  outdir: 'dist',
  format: 'iife',
  platform: 'browser',
  target: 'chrome138', // Of the oldest supported editor.
};

/** esbuild copies the members of a CommonJS module for each module that imports it; here the editor's are copied once. */
const oneCopyOfTheEditor = {
  name: 'rolecall-one-copy-of-the-editor',
  setup(build) {
    build.onResolve({ filter: /^vscode$/ }, ({ namespace }) =>
      namespace === 'editor' ? { path: 'vscode', external: true } : { path: 'vscode', namespace: 'editor' },
    );
    build.onLoad({ filter: /.*/, namespace: 'editor' }, () => ({ contents: "export * from 'vscode';" }));
  },
};

/** The translations are loaded once, at activation: features.cjs takes the module that extension.cjs has. */
const oneCopyOfTheTranslations = {
  name: 'rolecall-one-copy-of-the-translations',
  setup(build) {
    build.onResolve({ filter: /^@vscode\/l10n$/ }, ({ path: name }) => ({ path: name, namespace: 'translations' }));
    build.onLoad({ filter: /.*/, namespace: 'translations' }, () => ({
      contents: "module.exports = require('./extension.cjs').l10n;",
    }));
    build.onResolve({ filter: /./, namespace: 'translations' }, ({ path: name }) => ({ path: name, external: true }));
  },
};

/** Makes each `import()` a `require` of that module in features.cjs, whose failure is told in words. */
const importsFromFeatures = {
  name: 'rolecall-imports-from-features',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path: name, kind, resolveDir }) => {
      const file = path.relative(root, path.resolve(resolveDir, name)).replaceAll('\\', '/');
      return kind === 'dynamic-import' ? { path: file, namespace: 'features' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'features' }, ({ path: file }) => ({
      contents: `const { loadFeature } = require('./src/core/base/loadFeature.ts');
module.exports = loadFeature(() => require('./features.cjs')[${JSON.stringify(file)}]());`,
      resolveDir: root,
    }));
    build.onResolve({ filter: /features\.cjs$/, namespace: 'features' }, ({ path: name }) => ({
      path: name,
      external: true,
    }));
  },
};

/** The module `rolecall:features`: whatever the extension reaches by `import()`, each module evaluated when it is asked for. */
const featuresOfTheExtension = {
  name: 'rolecall-features',
  setup(build) {
    build.onResolve({ filter: /^rolecall:features$/ }, ({ path: name }) => ({ path: name, namespace: 'rolecall' }));
    build.onLoad({ filter: /.*/, namespace: 'rolecall' }, async () => {
      const { metafile } = await esbuild.build({ ...extension(false), write: false, logLevel: 'silent' });
      const inputs = Object.keys(metafile.inputs);
      const files = inputs
        .filter((input) => input.startsWith('features:'))
        .map((input) => input.slice('features:'.length));
      const rows = files.sort().map((file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`./${file}`)})`);
      return {
        contents: `module.exports = {\n${rows.join(',\n')}\n};`,
        resolveDir: root,
        watchFiles: inputs.filter((input) => input.startsWith('src/')).map((input) => path.join(root, input)),
      };
    });
  },
};

/**
 * The extension is two files. Every window reads extension.cjs: `src/extension.ts` and what it imports. features.cjs has what
 * is reached by `import()`, and is read when the first of that is needed. A module that both need is in both, so a class of
 * one is not that of the other: what crosses is used by its members, and a `RolecallError` is told by its brand.
 */
function extension(watching, outdir = 'dist') {
  return {
    ...common,
    minify: !watching,
    sourcemap: watching,
    entryPoints: { extension: 'src/extension.ts' },
    outdir,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // A package's ES modules before its "main": jsonc-parser's is UMD, whose requires no bundler can follow.
    mainFields: ['module', 'main'],
    // Made for files and addresses, too, its main module loads Node's; here the editor has read the translations.
    alias: { '@vscode/l10n': '@vscode/l10n/dist/browser.js' },
    plugins: [oneCopyOfTheEditor, importsFromFeatures],
  };
}

function features(watching, outdir = 'dist') {
  return {
    ...extension(watching, outdir),
    entryPoints: { features: 'rolecall:features' },
    plugins: [oneCopyOfTheEditor, oneCopyOfTheTranslations, featuresOfTheExtension],
  };
}

function production(watching) {
  const size = { minify: !watching, sourcemap: watching };
  return [
    extension(watching),
    features(watching),
    { ...pages, ...size },
    { ...sandbox('src/sandbox/main.ts', 'dist/sandbox.js'), ...size },
    commandLine(watching),
  ];
}

/** The program `rolecall`. */
function commandLine(watching, outdir = 'dist') {
  return {
    ...common,
    minify: !watching,
    sourcemap: watching,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    mainFields: ['module', 'main'],
    alias: { '@vscode/l10n': '@vscode/l10n/dist/browser.js' },
    // Before anything that an older Node cannot even load.
    banner: {
      js: `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write('error: rolecall needs Node.js 22.19 or later; this is ' + process.versions.node + '.\\n');
  process.exit(2);
}`,
    },
  };
}

/** The demo cloud; the test build adds its remote control. */
function sandbox(entryPoint, outfile) {
  return { ...common, entryPoints: [entryPoint], outfile, format: 'esm' };
}

const testSandbox = () => sandbox('src/sandbox/testing/main.ts', 'out/test/sandbox.js');

function hostTests() {
  return {
    ...common,
    entryPoints: ['test/host/index.ts'],
    outfile: 'out/test/host/index.cjs',
    format: 'cjs',
    // Both read files of their own at run time and are found in node_modules, above out/.
    external: ['vscode', 'mocha', '@vscode/l10n-dev'],
    mainFields: ['module', 'main'],
    sourcemap: 'inline',
    plugins: [testFiles('test/host')],
  };
}

/** The module `rolecall:host-tests`: a loader for every *.test.ts under the folder, so that adding a file is enough. */
function testFiles(folder) {
  return {
    name: 'rolecall-test-files',
    setup(build) {
      build.onResolve({ filter: /^rolecall:host-tests$/ }, ({ path: name }) => ({ path: name, namespace: 'rolecall' }));
      build.onLoad({ filter: /.*/, namespace: 'rolecall' }, () => {
        const full = path.join(root, folder);
        const files = fs
          .readdirSync(full, { recursive: true })
          .filter((file) => file.endsWith('.test.ts'))
          .sort();
        const loaders = files.map((file) => `() => import(${JSON.stringify(`./${file.replaceAll('\\', '/')}`)})`);
        return { contents: `export const loaders = [${loaders.join(',\n')}];`, resolveDir: full, watchDirs: [full] };
      });
    },
  };
}

/**
 * Bundles dist/extension.cjs, the pages and dist/sandbox.js as they are shipped, and writes dist/ThirdPartyNotices.txt: the
 * licences of the packages in them. Resolves to the bundles and their bytes.
 */
export async function buildProduction() {
  const results = await Promise.all(production(false).map((options) => esbuild.build(options)));
  fs.writeFileSync(path.join(root, 'dist', 'ThirdPartyNotices.txt'), thirdPartyNotices(results));
  return sizes(results);
}

/** The packages whose code is in bundles, each with its licence. */
function thirdPartyNotices(results) {
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = inputs.map((input) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const notices = [...new Set(folders)].filter(Boolean).map((folder) => {
    const full = path.join(root, folder);
    const manifest = JSON.parse(fs.readFileSync(path.join(full, 'package.json'), 'utf8'));
    const file = fs.readdirSync(full).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? mitLicence(manifest) : fs.readFileSync(path.join(full, file), 'utf8').trim();
    return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text}\n`;
  });
  return `Rolecall contains code of these packages.\n\n${notices.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** Bundles the extension into `outdir` as it is shipped. Resolves to its two files. */
export async function bundleExtension(outdir) {
  await buildAll([extension(false, outdir), features(false, outdir)]);
  return { extension: path.join(outdir, 'extension.cjs'), features: path.join(outdir, 'features.cjs') };
}

/** Bundles the command line into `outdir` as it is shipped. Resolves to its file. */
export async function bundleCommandLine(outdir) {
  await buildAll([commandLine(false, outdir)]);
  return path.join(outdir, 'cli.cjs');
}

/** Bundles one of the pages, minified. Resolves to its script and its style sheet; writes nothing. */
export async function bundlePage(name = 'matrix') {
  const { outputFiles } = await esbuild.build({
    ...pages,
    entryPoints: { [name]: pages.entryPoints[name] },
    minify: true,
    write: false,
  });
  const textOf = (ending) => outputFiles.find(({ path: file }) => file.endsWith(ending)).text;
  return { script: textOf('.js'), style: textOf('.css') };
}

/** Bundles what tests run beside the extension: the suite of the extension host, and the sandbox's test build. */
export function buildTests() {
  return buildAll([hostTests(), testSandbox()]);
}

/** Bundles the demo cloud as it is shipped. Resolves to its text and the modules in it; writes nothing. */
export async function bundleSandbox() {
  const { outputFiles, metafile } = await esbuild.build({
    ...sandbox('src/sandbox/main.ts', 'dist/sandbox.js'),
    minify: true,
    write: false,
  });
  return { text: outputFiles[0].text, modules: Object.keys(metafile.inputs) };
}

async function buildAll(builds) {
  return sizes(await Promise.all(builds.map((options) => esbuild.build(options))));
}

function sizes(results) {
  return results.flatMap(({ metafile }) =>
    Object.entries(metafile.outputs).map(([file, { bytes }]) => ({ file, bytes })),
  );
}

/** The licence of a package that names it and has no file of it: ours, which is the same, with that package's author. */
function mitLicence({ name, license, author }) {
  const holder = author?.name ?? author;
  if (license !== 'MIT' || !holder) throw new Error(`${name} has no licence to ship with its code.`);
  return fs
    .readFileSync(path.join(root, 'LICENSE'), 'utf8')
    .replace(/^Copyright .*$/m, `Copyright (c) ${holder}`)
    .trim();
}

/** One line for each bundle: its path and its size. */
export function sizeLines(bundles) {
  return bundles.map(({ file, bytes }) => `${file}  ${(bytes / 1024).toFixed(1)} KiB`);
}

async function watch(withTests) {
  const builds = [...production(true), ...(withTests ? [hostTests(), testSandbox()] : [])];
  const said = {
    name: 'rolecall-said',
    setup: ({ initialOptions: { outfile, entryPoints }, onEnd }) => {
      const name = outfile ?? Object.keys(entryPoints).join(' and ');
      onEnd(() => console.log(`${name} built`));
    },
  };
  for (const options of builds) {
    const context = await esbuild.context({ ...options, plugins: [...(options.plugins ?? []), said] });
    await context.watch();
  }
  console.log('Watching for changes; Ctrl-C ends.');
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  const unknown = flags.filter((flag) => !['--watch', '--tests'].includes(flag));
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(' ')}. Usage: npm run build -- [--watch] [--tests]`);
    process.exit(1);
  }
  const withTests = flags.includes('--tests');
  if (flags.includes('--watch')) {
    await watch(withTests);
  } else {
    const built = Promise.all([buildProduction(), ...(withTests ? [buildTests()] : [])]).catch((error) => {
      // esbuild has told its own errors; a stack of ours would hide them.
      if (!error.errors) console.error(error.message);
      process.exit(1);
    });
    for (const line of sizeLines((await built).flat())) {
      console.log(line);
    }
  }
}
