import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { at } from '../../scripts/paths.ts';

/** One activation in a Node of its own. */
export interface ActivationRun {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** JavaScript that was read, in bytes. */
  readonly bytes: number;
  /** The files it stands in. */
  readonly files: readonly string[];
  /** The files that were read a few turns of the event loop later, by an extension to which nothing has happened. */
  readonly filesAfterwards: readonly string[];
  /** Modules of Node's own that were loaded for it. */
  readonly builtins: readonly string[];
  /** Why it did not come to its end. */
  readonly problem?: string;
}

/** Loads and activates an extension in a bare Node, with a stand-in for the editor that does nothing. */
export async function activateInNode(bundle: string): Promise<ActivationRun> {
  const probe = path.join(import.meta.dirname, 'activationProbe.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', probe, bundle, namesOfTheEditor()]);
  const run = JSON.parse(stdout) as ActivationRun;
  if (run.problem !== undefined) throw new Error(`${bundle} was not activated: ${run.problem}`);
  return run;
}

/** Every class, enumeration and namespace of the editor's interface. */
function namesOfTheEditor(): string {
  const typings = fs.readFileSync(at('node_modules', '@types', 'vscode', 'index.d.ts'), 'utf8');
  const names = typings.matchAll(/^\s*export (?:abstract )?(?:class|enum|namespace|const) (\w+)/gm);
  return [...new Set([...names].map(([, name]) => name))].join();
}
