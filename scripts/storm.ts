// npm run storm -- [--rotations 10000] [--processes 8] [--store lag|snapshot|both] [--faults|--no-faults] [--pace N] [--json]:
// windows that share one session, and programs that use it, with kills, stops, lagging stores and server faults. The last line
// is the result as JSON.
import { parseArgs } from 'node:util';
import { plansOf, runPlans } from '../test/rotation/plans.ts';
import type { StoreMode } from '../test/rotation/stores.ts';
import { countOption } from './main.ts';
import { endAll, onEnd } from './processes.ts';

const usage =
  'Usage: npm run storm -- [--rotations N] [--processes N] [--store lag|snapshot|both] [--[no-]faults] [--minutes N] [--pace N] [--json]';

function readCommandLine() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      rotations: { type: 'string', default: '2000' },
      processes: { type: 'string', default: '8' },
      store: { type: 'string', default: 'both' },
      faults: { type: 'boolean' },
      minutes: { type: 'string', default: '120' },
      pace: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  });
  if (!['lag', 'snapshot', 'both'].includes(values.store)) throw new Error('--store must be lag, snapshot or both.');
  const stores = values.store === 'both' ? (['lag', 'snapshot'] as const) : [values.store as StoreMode];
  return {
    plans: plansOf(countOption(values, 'rotations'), stores, values.faults),
    processes: countOption(values, 'processes'),
    pace: countOption(values, 'pace'),
    limitMs: countOption(values, 'minutes') * 60_000,
    json: values.json,
  };
}

async function main(): Promise<number> {
  let commandLine: ReturnType<typeof readCommandLine>;
  try {
    commandLine = readCommandLine();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return 2;
  }
  const { plans, json, ...limits } = commandLine;
  const say = (line: string) => (json ? console.error(line) : console.log(line));
  const { outcome, troubles } = await runPlans(plans, { ...limits, density: 1, say });
  for (const trouble of troubles) say(`TROUBLE ${trouble}`);
  console.log(JSON.stringify(outcome));
  return outcome.reuse === 0 && outcome.lostUnexplained === 0 && troubles.length === 0 ? 0 : 1;
}

// The windows end with this process: each watches its channel to it.
onEnd(async () => {});
await endAll(await main());
