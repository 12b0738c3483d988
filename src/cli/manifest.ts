import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { type DescribedAccessTool, readAccessTools } from '../core/access/accessTools.ts';

const manifestSchema = z.object({
  version: z.string(),
  contributes: z.object({ languageModelTools: z.unknown() }),
});

/** What the command line reads from the package that contains it (the extension, or the `.tgz`). */
export interface Manifest {
  readonly version: string;
  /** The access tools, described for models. */
  accessTools(): readonly DescribedAccessTool[];
}

/** @param program The file of this program, in `dist` of the package. */
export function readManifest(program: string): Manifest {
  const folder = path.join(path.dirname(program), '..');
  const read = (name: string): unknown => JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
  const { version, contributes } = z.parse(manifestSchema, read('package.json'));
  return {
    version,
    accessTools: () => {
      const words = z.parse(z.record(z.string(), z.string()), read('package.nls.json'));
      const inWords = (text: string) => words[text.replaceAll('%', '')] ?? text;
      return readAccessTools(contributes.languageModelTools).map((tool) => ({
        ...tool,
        displayName: inWords(tool.displayName),
        userDescription: inWords(tool.userDescription),
      }));
    },
  };
}
