import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { StormFacts, StormResult } from './result.ts';
import type { StoreMode } from './stores.ts';
import { bundleStorm, type StormPrograms, storm } from './storm.ts';

/** One storm: which store, which server. */
export interface StormPlan {
  readonly store: StoreMode;
  readonly faults: boolean;
  readonly rotations: number;
}

export interface StormSummary {
  readonly rotations: number;
  readonly reuse: number;
  readonly lostExplained: number;
  readonly lostUnexplained: number;
  readonly takeoverMsP50: number;
  readonly takeoverMsMax: number;
}

/** A faulty server slows everything down: without a choice, it gets this part of the rotations on top. */
const FAULTY_PART = 0.5;

/** The stores share the rotations. */
export function plansOf(rotations: number, stores: readonly StoreMode[], faults: boolean | undefined): StormPlan[] {
  const row = (isFaulty: boolean, part: number) =>
    stores.map((store) => ({ store, faults: isFaulty, rotations: Math.ceil((rotations * part) / stores.length) }));
  if (faults !== undefined) return row(faults, 1);
  return [...row(false, 1), ...row(true, FAULTY_PART)];
}

/** What happened in one storm. */
export interface StormOutcome {
  readonly plan: StormPlan;
  readonly facts: StormFacts;
}

export interface PlanOptions {
  readonly processes: number;
  /** See `StormOptions`. */
  readonly pace: number;
  readonly density: number;
  readonly limitMs: number;
  readonly say: (line: string) => void;
}

/** Runs one storm after the other: side by side they starve each other on a busy machine. @returns the sum, and everything that was not as it should be. */
export async function runPlans(
  plans: readonly StormPlan[],
  { say, ...options }: PlanOptions,
): Promise<{
  readonly outcome: StormSummary;
  readonly troubles: readonly string[];
  readonly happened: readonly StormOutcome[];
}> {
  const results: StormResult[] = [];
  const troubles: string[] = [];
  const happened: StormOutcome[] = [];
  const run = async (plan: StormPlan, programs: StormPrograms) => {
    const name = `${plan.store} store${plan.faults ? ', faulty server' : ''}`;
    const result = await storm({ ...plan, ...options, log: (line) => say(`${name}: ${line}`) }, programs);
    say(`${name}: ${result.rotations} rotations, ${wordsOf(result.facts)}`);
    happened.push({ plan, facts: result.facts });
    troubles.push(...result.troubles.map((trouble) => `${name}: ${trouble}`));
    results.push(result);
  };
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-storms-'));
  try {
    const programs = await bundleStorm(folder);
    for (const plan of plans) await run(plan, programs);
  } finally {
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  const sum = (member: 'rotations' | 'reuse' | 'lostExplained' | 'lostUnexplained') =>
    results.reduce((total, result) => total + result[member], 0);
  const takeovers = results.flatMap(({ takeoversMs }) => takeoversMs).sort((a, b) => a - b);
  const outcome = {
    rotations: sum('rotations'),
    reuse: sum('reuse'),
    lostExplained: sum('lostExplained'),
    lostUnexplained: sum('lostUnexplained'),
    takeoverMsP50: Math.round(takeovers[Math.floor(takeovers.length / 2)] ?? 0),
    takeoverMsMax: Math.round(takeovers.at(-1) ?? 0),
  };
  return { outcome, troubles, happened };
}

function wordsOf({ faults, ...facts }: StormFacts): string {
  const words = Object.entries({ ...facts, ...faults }).map(([fact, value]) => `${fact} ${Math.round(value)}`);
  return words.join(', ');
}
