// Rotations per second when eight processes want a new token all the time: the price of a mutex, of a durable store and
// of telling every window, beside processes that do less of it.
import { fork } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CountingServer } from '../rotation/server.ts';
import { bundleWindow } from '../rotation/windows.ts';
import { type Figure, median } from './figure.ts';
import type { RotationWay, WindowPlan } from './rotationWindow.ts';

const WINDOWS = 8;
const ROUNDS = 3;
const ROUND_MS = 5000;
/** Every process has had its turn a few times before it counts. */
const WARM_UP = 30;

const RIVALS: readonly { readonly way: RotationWay; readonly words: string; readonly aim: number }[] = [
  {
    way: 'acknowledged',
    words: 'the same promise by files polled every 20 ms: a lock, a synced file, every window has the new token first',
    aim: 1,
  },
  {
    way: 'polling',
    words: 'a lock polled every 20 ms and a synced file: tells nobody, and is stuck when its holder is killed',
    aim: 0.05,
  },
  { way: 'none', words: 'floor: one process alone that asks the server, stores nothing and tells nobody', aim: 0.01 },
];

export async function bench(): Promise<Figure[]> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-bench-'));
  try {
    const program = await bundleWindow(folder, path.join(import.meta.dirname, 'rotationWindow.ts'));
    const rates = await measure(folder, program);
    const value = rates('rolecall');
    return RIVALS.map(({ way, words, aim }) => ({
      name: `rotations by ${WINDOWS} contending processes`,
      value,
      unit: '/s',
      against: words,
      ratio: value / rates(way),
      aim,
      higherIsBetter: true,
    }));
  } finally {
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(folder: string, program: string): Promise<(way: RotationWay) => number> {
  const rates = new Map<RotationWay, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of ['rolecall', ...RIVALS.map((rival) => rival.way)] as const) {
      const plan = { way, state: path.join(folder, `${way}-${round}`), serverUrl: '' };
      const rate = await rotationsPerSecond(plan, program, way === 'none' ? 1 : WINDOWS);
      rates.set(way, [...(rates.get(way) ?? []), rate]);
    }
  }
  return (way) => median(rates.get(way) ?? []);
}

async function rotationsPerSecond(plan: WindowPlan, program: string, count: number): Promise<number> {
  const server = new CountingServer({
    lifetime: 0.001,
    density: 1,
    faults: false,
    wasKilled: () => false,
    onArrived: () => {},
    onRotated: () => {},
  });
  const serverUrl = await server.listen();
  const windows = Array.from({ length: count }, (_, n) =>
    fork(program, [JSON.stringify({ ...plan, serverUrl, signsIn: n === 0 })], {
      env: { ...process.env, TMPDIR: path.dirname(program) },
      execArgv: [],
    }),
  );
  try {
    for (const until = Date.now() + 30_000; server.rotations < WARM_UP; await sleep(50)) {
      if (Date.now() > until) throw new Error(`${plan.way}: nothing rotates`);
    }
    const [before, began] = [server.rotations, performance.now()];
    await sleep(ROUND_MS);
    const rate = ((server.rotations - before) * 1000) / (performance.now() - began);
    if (server.reuse > 0) throw new Error(`${plan.way}: ${server.reuse} tokens were spent twice`);
    return rate;
  } finally {
    await Promise.all(
      windows.map(async (window) => {
        const exited = new Promise((resolve) => window.once('exit', resolve));
        window.kill('SIGKILL');
        await exited;
      }),
    );
    await server.close();
  }
}
