// npm run bench -- [NAME…] [--json]: runs test/bench/*.bench.ts, or those named, one after the other. With --json the
// output is one line of JSON for each figure, without it a table. Nothing fails because a figure is bad.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Bench, Figure } from '../test/bench/figure.ts';
import { jsonLine, table } from './benchReport.ts';
import { at } from './paths.ts';
import { endAll, onEnd } from './processes.ts';

const SUFFIX = '.bench.ts';

function readCommandLine(): { readonly names: readonly string[]; readonly json: boolean } {
  const all = fs
    .readdirSync(at('test', 'bench'))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();
  const usage = `Usage: npm run bench -- [${all.join('|')}]… [--json]`;
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false } },
    });
    const unknown = positionals.find((name) => !all.includes(name));
    if (unknown !== undefined) throw new Error(`There is no benchmark “${unknown}”.`);
    return { names: positionals.length > 0 ? positionals : all, json: values.json };
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  const { names, json } = readCommandLine();
  const figures: Figure[] = [];
  for (const name of names) {
    console.error(`${name} …`);
    const file = pathToFileURL(at('test', 'bench', name + SUFFIX)).href;
    const { bench } = (await import(file)) as { bench: Bench };
    const found = await bench();
    if (json) for (const figure of found) console.log(jsonLine(figure));
    figures.push(...found);
  }
  if (!json) console.log(table(figures));
  return 0;
}

// What a benchmark starts ends with this process: each watches its channel to it.
onEnd(async () => {});
try {
  await endAll(await main());
} catch (error) {
  console.error(error);
  await endAll(1);
}
