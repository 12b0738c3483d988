// What the extension costs every window: from reading its bundle to the last registration, beside the authentication
// extension that comes with the editor. Each runs in a Node of its own, with a stand-in for the editor that does nothing,
// so that only the extension's own work is measured.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildProduction } from '../../esbuild.mjs';
import { installEditor } from '../../scripts/editor/install.ts';
import { at } from '../../scripts/paths.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 15;

interface Activation {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly bytes: number;
  /** Why it did not come to its end. */
  readonly problem?: string;
}

export async function bench(): Promise<Figure[]> {
  await buildProduction();
  await installEditor();
  const rival = at(
    ...['scripts', 'editor', 'node_modules', 'code-server', 'lib', 'vscode'],
    ...['extensions', 'github-authentication', 'dist', 'extension.js'],
  );
  const bundles = { ours: at('dist', 'extension.cjs'), rival };
  const runs: Record<keyof typeof bundles, Activation[]> = { ours: [], rival: [] };
  // By turns, so that the machine's moods fall on both.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ['ours', 'rival'] as const) {
      const run = await activate(bundles[name]);
      if (round > 0) runs[name].push(run); // The first fills the caches of the disk.
    }
  }
  const of = (name: keyof typeof runs, read: (run: Activation) => number) => median(runs[name].map(read));
  const figure = (name: string, unit: string, read: (run: Activation) => number): Figure => ({
    name,
    value: of('ours', read),
    unit,
    against: 'the built-in github-authentication extension',
    ratio: of('ours', read) / of('rival', read),
    aim: 1,
    higherIsBetter: false,
  });
  return [
    figure('activation: load and register', 'ms', ({ wallMs }) => wallMs),
    figure('activation: load and register, CPU', 'ms CPU', ({ cpuMs }) => cpuMs),
    figure('activation: JavaScript evaluated', 'bytes', ({ bytes }) => bytes),
  ];
}

async function activate(bundle: string): Promise<Activation> {
  const probe = path.join(import.meta.dirname, 'activationProbe.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [probe, bundle, namesOfTheEditor()]);
  const run = JSON.parse(stdout) as Activation;
  if (run.problem !== undefined) throw new Error(`${bundle} was not activated: ${run.problem}`);
  return run;
}

/** Every class, enumeration and namespace of the editor's interface. */
function namesOfTheEditor(): string {
  const typings = fs.readFileSync(at('node_modules', '@types', 'vscode', 'index.d.ts'), 'utf8');
  const names = typings.matchAll(/^\s*export (?:abstract )?(?:class|enum|namespace|const) (\w+)/gm);
  return [...new Set([...names].map(([, name]) => name))].join();
}
