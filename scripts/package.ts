// npm run package: builds and packs out/rolecall-VERSION.vsix and, for the command line alone, out/rolecall-VERSION.tgz. vsce
// prints what is in the first, and its size.
import path from 'node:path';
import { buildProduction, sizeLines } from '../esbuild.mjs';
import { packCommandLine } from './commandLine.ts';
import { packVsix } from './extension.ts';
import { root } from './paths.ts';

console.log(sizeLines(await buildProduction()).join('\n'));
console.log(path.relative(root, await packVsix()));
console.log(await packCommandLine());
