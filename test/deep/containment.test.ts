import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { at } from '../../scripts/paths.ts';
import { RolecallError } from '../../src/core/base/errors.ts';
import { type Containment, findContainment, runPrepared } from '../../src/core/tools/containment.ts';
import type { ProcessRun } from '../../src/core/tools/definition.ts';
import { prepareProcess } from '../../src/core/tools/prepare.ts';
import { type Hostile, hostile } from '../containment/hostile.ts';
import { type Harm, World } from '../containment/world.ts';

const signal = new AbortController().signal;
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
const isRoot = process.getuid?.() === 0;
/** Whether these are the tests for another user, which those of root have started. */
const isNested = process.env.ROLECALL_NESTED === '1';
/** The user of this number has no rights anywhere. */
const nobody = 65534;
const has = (program: string) => PATH.split(':').some((folder) => fs.existsSync(path.join(folder, program)));

/** What one row did to a world of its own; `refused` when nothing was started. */
async function play(row: Hostile, containment: Containment): Promise<Harm[] | 'refused'> {
  const world = new World();
  try {
    await world.make(row.files ?? {});
    const fill = (text: string) => world.fill(text);
    const [program, ...args] = row.command;
    const run: ProcessRun = {
      kind: 'process',
      command: [fill(program), ...args.map((each) => fill(each).replaceAll('${', '$${'))],
      cwd: row.cwd ?? '.',
      env: Object.fromEntries(Object.entries(row.env ?? {}).map(([name, value]) => [name, fill(value)])),
      timeoutSeconds: row.timeoutSeconds ?? 20,
      outputLimit: 1024 * 1024,
      stdin: row.stdin === undefined ? 'none' : 'json',
      access: { read: row.read ?? ['.'], write: row.write ?? [], network: false },
      contained: true,
    };
    const stdin = Object.entries(row.stdin ?? {}).map(([name, value]) => [name, fill(String(value))]);
    const machine = {
      environment: { PATH, HOME: world.home },
      homes: [world.home],
      folders: [world.workspace],
      contains: containment.kind !== 'none',
    };
    const spec = await prepareProcess({ folder: world.workspace, run }, Object.fromEntries(stdin), machine);
    const { stdout, stderr } = await runPrepared(spec, containment, { signal });
    const outlived = world.survivors().length > 0;
    const harms = await world.harms(`${stdout}\n${stderr}`, run.access);
    return outlived ? [...harms, 'outlives'] : harms;
  } catch (error) {
    if (error instanceof RolecallError && error.kind === 'tool') return 'refused';
    throw error;
  } finally {
    world.remove();
  }
}

function isOpenToAll(folder: string): boolean {
  const parent = path.dirname(folder);
  return (fs.statSync(folder).mode & 0o005) === 0o005 && (parent === folder || isOpenToAll(parent));
}

/** What each row does contained, and what it does otherwise: that shows that the row can fail. */
interface Outcome {
  readonly contained: Harm[] | 'refused';
  readonly uncontained: Harm[] | 'refused' | undefined;
}

const none: Containment = { kind: 'none', reason: 'It is switched off.', remedy: undefined };
const atOnce = 4;

describe('a contained program', function () {
  this.timeout(240_000);
  let containment: Containment;
  const outcomes = new Map<Hostile, Promise<Outcome>>();

  before(async function () {
    containment = await findContainment({}, signal);
    if (containment.kind === 'none') this.skip();
    const waiting = hostile.filter(canPlay);
    const workers = Array.from({ length: atOnce }, () => Promise.resolve<unknown>(undefined));
    for (const [index, row] of waiting.entries()) {
      const worker = index % atOnce;
      const outcome = (workers[worker] ?? Promise.resolve()).then(() => outcomeOf(row));
      outcomes.set(row, outcome);
      workers[worker] = outcome.catch(() => {}); // Its own test says so.
    }
  });

  after(() => Promise.allSettled(outcomes.values()));

  const canPlay = ({ needs }: Hostile) => needs === undefined || has(needs);
  const outcomeOf = async (row: Hostile): Promise<Outcome> => ({
    contained: await play(row, containment),
    // What only root can do is harmless for others anyway. That a row can fail has to be seen once.
    uncontained: (row.asRoot && !isRoot) || isNested ? undefined : await play(row, none),
  });

  it('meets a table of many rows', () => assert.ok(hostile.filter(canPlay).length >= 60));

  it('is held for a user without privileges too', async function () {
    if (!isRoot || !isOpenToAll(at())) return this.skip(); // All the others are about one, or none can read the tests.
    const mocha = [at('node_modules', 'mocha', 'bin', 'mocha.js'), '--no-config', fileURLToPath(import.meta.url)];
    const child = spawn(process.execPath, mocha, {
      ...{ cwd: tmpdir(), env: { PATH, ROLECALL_NESTED: '1' }, uid: nobody, gid: nobody },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    assert.equal(child.exitCode, 0, output);
    assert.ok(Number(/(\d+) passing/.exec(output)?.[1]) >= 60, output);
  });

  for (const row of hostile) {
    it(`comes to nothing with ${row.title} (${row.harm})`, async function () {
      const outcome = await outcomes.get(row);
      if (outcome === undefined) return this.skip(); // A program is not here.
      assert.deepEqual(outcome.contained === 'refused' ? [] : outcome.contained, []);
      const { uncontained } = outcome;
      assert.ok(uncontained === undefined || uncontained.includes(row.harm), `not contained: ${uncontained}`);
    });
  }
});
