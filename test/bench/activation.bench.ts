// What the extension costs every window: from reading its bundle to the last registration, beside the authentication
// extension that comes with the editor. In the real extension host, which serves both, and each in a Node of its own with
// a stand-in for the editor that does nothing, where only the extension's own work is measured and in fractions of what the
// host's clock tells.
import { buildProduction } from '../../esbuild.mjs';
import { installEditor } from '../../scripts/editor/install.ts';
import { at } from '../../scripts/paths.ts';
import { activateInNode } from './activate.ts';
import { type Figure, median } from './figure.ts';
import { activateInHost } from './hostActivation.ts';

const STARTS_OF_THE_EDITOR = 9;
const ROUNDS_IN_NODE = 15;
const RIVAL = 'the built-in github-authentication extension';

interface Runs<T> {
  readonly ours: T[];
  readonly rival: T[];
}

export async function bench(): Promise<Figure[]> {
  await buildProduction();
  await installEditor();
  const inHost = figures(await runsInHost());
  const inNode = figures(await runsInNode());
  return [
    inHost('activation in the editor: load and activate', 'ms', ({ loadMs, activateMs }) => loadMs + activateMs),
    inHost('activation in the editor: load alone', 'ms', ({ loadMs }) => loadMs),
    inHost('activation in the editor: JavaScript read', 'bytes', ({ bytes }) => bytes),
    inHost('in the editor, 3 s later: JavaScript read', 'bytes', ({ bytesSettled }) => bytesSettled),
    inNode('activation in bare Node: load and register', 'ms', ({ wallMs }) => wallMs),
    inNode('activation in bare Node: load and register, CPU', 'ms CPU', ({ cpuMs }) => cpuMs),
  ];
}

async function runsInHost() {
  const runs: Runs<Awaited<ReturnType<typeof activateInHost>>['ours']> = { ours: [], rival: [] };
  for (let start = 0; start < STARTS_OF_THE_EDITOR; start++) {
    const { ours, rival } = await activateInHost();
    runs.ours.push(ours);
    runs.rival.push(rival);
  }
  return runs;
}

async function runsInNode() {
  const editor = at('scripts', 'editor', 'node_modules', 'code-server', 'lib', 'vscode');
  const bundles = {
    ours: at('dist', 'extension.cjs'),
    rival: `${editor}/extensions/github-authentication/dist/extension.js`,
  };
  const runs: Runs<Awaited<ReturnType<typeof activateInNode>>> = { ours: [], rival: [] };
  // By turns, so that the machine's moods fall on both.
  for (let round = 0; round <= ROUNDS_IN_NODE; round++) {
    for (const name of ['ours', 'rival'] as const) {
      const run = await activateInNode(bundles[name]);
      if (round > 0) runs[name].push(run); // The first fills the caches of the disk.
    }
  }
  return runs;
}

/** Medians of both, with what is promised of their ratio. */
function figures<T>(runs: Runs<T>) {
  return (name: string, unit: string, read: (run: T) => number): Figure => {
    const [value, rival] = [median(runs.ours.map(read)), median(runs.rival.map(read))];
    return { name, value, unit, against: RIVAL, ratio: value / rival, aim: 1, higherIsBetter: false };
  };
}
