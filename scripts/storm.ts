// npm run storm -- [--rotations 2000] [--processes 8] [--store lag|snapshot|both] [--faults|--no-faults] [--json]: windows
// that share one session, with kills, stops, lagging stores and server faults. The last line is the result as JSON.
import { parseArgs } from 'node:util';
import type { StoreMode } from '../test/rotation/stores.ts';
import { type StormResult, storm } from '../test/rotation/storm.ts';

const usage =
  'Usage: npm run storm -- [--rotations N] [--processes N] [--store lag|snapshot|both] [--[no-]faults] [--minutes N] [--json]';

interface Plan {
  readonly store: StoreMode;
  readonly faults: boolean;
  readonly rotations: number;
}

function readCommandLine() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      rotations: { type: 'string', default: '2000' },
      processes: { type: 'string', default: '8' },
      store: { type: 'string', default: 'both' },
      faults: { type: 'boolean' },
      minutes: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'rotations' | 'processes' | 'minutes') => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`);
    return value;
  };
  if (!['lag', 'snapshot', 'both'].includes(values.store)) throw new Error('--store must be lag, snapshot or both.');
  const stores = values.store === 'both' ? (['lag', 'snapshot'] as const) : [values.store as StoreMode];
  // Without a choice, a fifth of the rotations meets a faulty server.
  const shares =
    values.faults === undefined ? [[false, 0.8] as const, [true, 0.2] as const] : [[values.faults, 1] as const];
  const plans = stores.flatMap((store) =>
    shares.map(
      ([faults, share]): Plan => ({
        store,
        faults,
        rotations: Math.ceil((number('rotations') * share) / stores.length),
      }),
    ),
  );
  return { plans, processes: number('processes'), limitMs: number('minutes') * 60_000, json: values.json };
}

async function main(): Promise<number> {
  const { plans, processes, limitMs, json } = readCommandLine();
  const say = (line: string) => (json ? console.error(line) : console.log(line));
  const results: StormResult[] = [];
  for (const plan of plans) {
    const name = `${plan.store} store${plan.faults ? ', faulty server' : ''}`;
    const result = await storm({ ...plan, processes, limitMs, log: (line) => say(`${name}: ${line}`) });
    results.push(result);
    const facts = Object.entries(result.facts).map(([fact, value]) => `${fact} ${Math.round(value)}`);
    say(`${name}: ${result.rotations} rotations; ${facts.join(', ')}`);
    for (const trouble of result.troubles) say(`${name}: TROUBLE ${trouble}`);
  }
  const sum = (member: 'rotations' | 'reuse' | 'lostExplained' | 'lostUnexplained') =>
    results.reduce((total, result) => total + result[member], 0);
  const takeovers = results.flatMap(({ takeoversMs }) => takeoversMs).sort((a, b) => a - b);
  const total = {
    rotations: sum('rotations'),
    reuse: sum('reuse'),
    lostExplained: sum('lostExplained'),
    lostUnexplained: sum('lostUnexplained'),
    takeoverMsP50: Math.round(takeovers[Math.floor(takeovers.length / 2)] ?? 0),
    takeoverMsMax: Math.round(takeovers.at(-1) ?? 0),
  };
  console.log(JSON.stringify(total));
  return total.reuse === 0 && total.lostUnexplained === 0 && results.every(({ troubles }) => troubles.length === 0)
    ? 0
    : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 2;
}
