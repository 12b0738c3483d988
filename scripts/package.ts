// npm run package: builds and packs out/rolecall-VERSION.vsix. vsce prints what is in it, and its size.
import path from 'node:path';
import { buildProduction, sizeLines } from '../esbuild.mjs';
import { packVsix } from './extension.ts';
import { root } from './paths.ts';

console.log(sizeLines(await buildProduction()).join('\n'));
console.log(path.relative(root, await packVsix()));
