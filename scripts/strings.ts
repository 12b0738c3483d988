// Extracts what is to be translated into out/l10n/bundle.l10n.json, the file a translator starts from, and refuses calls of
// `l10n.t` that no tool can extract: a text put together at run time is found in no translation. Tests of the extension host
// make a pseudo-language of that file.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { getL10nJson } from '@vscode/l10n-dev';
import { isMain } from './main.ts';
import { at } from './paths.ts';

/** What brings `l10n` into a file. */
const IMPORT = /^import .* from '(?:vscode|@vscode\/l10n)';$/gm;
const CALL = /\bl10n\.t(?=[(`])/g;
/** A literal as the whole first argument, an object with the message and a comment for translators, or a template's tag. */
const LITERAL = /^(?:`|\(\s*(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)\s*[,)]|\(\s*\{)/;

/** The places in a source file where `l10n.t` is not given its text as a literal: line numbers, from 1. */
export function unextractable(text: string): number[] {
  return [...text.matchAll(CALL)]
    .filter(({ index }) => !LITERAL.test(text.slice(index + 'l10n.t'.length)))
    .map(({ index }) => text.slice(0, index).split('\n').length);
}

function sources(): { readonly file: string; readonly text: string }[] {
  return fs
    .readdirSync(at('src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => ({ file: path.join('src', file), text: fs.readFileSync(at('src', file), 'utf8') }))
    .filter(({ text }) => text.includes('l10n.t'));
}

/** Writes the file if a source has changed since. @throws Error that names the calls whose text no tool can extract. */
export async function extractStrings(): Promise<void> {
  const files = sources();
  const wrong = files.flatMap(({ file, text }) => unextractable(text).map((line) => `${file}:${line}`));
  if (wrong.length > 0) {
    throw new Error(`l10n.t takes its text as a literal, with {0} for what varies:\n${wrong.join('\n')}`);
  }
  // All is searched once for each import that it holds, so equal ones are kept once.
  const imports = new Set(files.flatMap(({ text }) => text.match(IMPORT) ?? []));
  const contents = [...imports, ...files.map(({ text }) => text.replaceAll(IMPORT, ''))].join('\n');
  const hash = createHash('sha256').update(contents).digest('hex');
  const folder = at('out', 'l10n');
  const stamp = path.join(folder, 'sources.sha256');
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === hash) return;
  fs.mkdirSync(folder, { recursive: true });
  const bundle = await getL10nJson([{ extension: '.ts', contents }]);
  fs.writeFileSync(path.join(folder, 'bundle.l10n.json'), `${JSON.stringify(bundle, undefined, 2)}\n`);
  fs.writeFileSync(stamp, hash);
  console.log(`${Object.keys(bundle).length} strings`);
}

if (isMain(import.meta.url)) {
  await extractStrings().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
