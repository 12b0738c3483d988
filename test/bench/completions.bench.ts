// What it costs to turn a streamed answer into a completion. Ratios of one run: absolute numbers belong to a machine.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { installOnce, npm } from '../../scripts/install.mjs';
import { streamCompletion } from '../../src/core/completions/client.ts';
import type { Completion } from '../../src/core/completions/completion.ts';
import { silentLog } from '../support/silentLog.ts';
import { delays } from './delay.ts';
import { type Figure, median } from './figure.ts';

const CHUNKS = 20_000;
const ROUNDS = 15;
const encoder = new TextEncoder();

/** Two streams: of the usual chunks, which differ in the text alone, and of chunks that each hold a random member as well. */
export async function bench(): Promise<Figure[]> {
  const packets = packetsOf(textStream(CHUNKS, 'word '), 4096);
  const random = packetsOf(
    textStream(CHUNKS, 'word ', (at) => ({ obfuscation: `random${at}` })),
    4096,
  );
  const contenders: [name: string, run: () => Promise<unknown>][] = [
    ['Rolecall', () => complete(packets)],
    ['bare', () => parseOnly(packets)],
    ['Rolecall, random', () => complete(random)],
    ['bare, random', () => parseOnly(random)],
  ];
  const openai = await openaiClient(packets);
  if (openai) contenders.push(['openai', openai]);
  const cpu = await cpuOf(contenders);
  const ours = cpu.get('Rolecall') ?? Number.NaN;
  const oursRandom = cpu.get('Rolecall, random') ?? Number.NaN;
  const against = (name: string) => ours / (cpu.get(name) ?? Number.NaN);
  return [
    figure(
      `CPU for a stream of ${CHUNKS} chunks`,
      ours,
      'ms CPU',
      'decoding, splitting and JSON.parse alone',
      against('bare'),
      1.3,
    ),
    figure(
      `CPU for a stream of ${CHUNKS} chunks with a random member`,
      oursRandom,
      'ms CPU',
      'decoding, splitting and JSON.parse alone',
      oursRandom / (cpu.get('bare, random') ?? Number.NaN),
    ),
    ...(openai
      ? [
          figure(
            `CPU for a stream of ${CHUNKS} chunks, openai`,
            ours,
            'ms CPU',
            'the openai client',
            against('openai'),
            1 / 4,
          ),
        ]
      : []),
    ...(await delays(chunkOf({ content: 'word ' }), `${chunkOf({}, 'stop')}data: [DONE]\n\n`)),
    await memory(),
  ];
}

function figure(name: string, value: number, unit: string, against: string, ratio: number, aim?: number): Figure {
  return { name, value, unit, against, ratio, ...(aim !== undefined && { aim }), higherIsBetter: false };
}

/** The median CPU time of each in milliseconds, taken by turns so that the machine's moods fall on all. */
async function cpuOf(contenders: readonly [string, () => Promise<unknown>][]): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(contenders.map(([name]) => [name, []]));
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void;
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const [name, run] of contenders) {
      collect({ type: 'minor' }); // Nobody pays for what another left.
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      if (round >= 2) times.get(name)?.push((user + system) / 1000); // The first rounds warm up.
    }
  }
  return new Map([...times].map(([name, each]) => [name, median(each)]));
}

function chunkOf(delta: object, finish_reason: string | null = null, more: object = {}): string {
  const chunk = {
    id: 'chatcmpl-0123456789abcdef',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'org/model',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...more,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function textStream(chunks: number, text: string, more = (_at: number): object => ({})): string {
  const words = Array.from({ length: chunks }, (_, at) => chunkOf({ content: text }, null, more(at)));
  return `${chunkOf({ role: 'assistant', content: '' })}${words.join('')}${chunkOf({}, 'stop')}data: [DONE]\n\n`;
}

function packetsOf(text: string, size: number): Uint8Array[] {
  const bytes = encoder.encode(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

function responseOf(packets: readonly Uint8Array[]): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const packet = packets[at++];
      if (packet) controller.enqueue(packet);
      else controller.close();
    },
  });
  return new Response(body, { status: 201, headers: { 'content-type': 'text/event-stream' } });
}

function ask(response: () => Response) {
  const deps = { fetch: async () => response(), log: silentLog, accessToken: async () => 'token' };
  const request = { model: 'org/model', messages: [{ role: 'user', content: 'Hello' }] };
  const never = new AbortController().signal;
  return streamCompletion(deps, { inferenceUrl: 'https://inference.example' }, request, {}, never);
}

async function complete(packets: readonly Uint8Array[]): Promise<Completion> {
  const events = ask(() => responseOf(packets));
  for (;;) {
    const next = await events.next();
    if (!next.done) continue;
    if (!next.value.complete) throw new Error('The completion is not whole.');
    return next.value;
  }
}

/** Decodes, splits at empty lines and parses; nothing is kept and nothing is made of it. */
async function parseOnly(packets: readonly Uint8Array[]): Promise<void> {
  const reader = responseOf(packets).body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const data = part.slice('data: '.length);
      if (data !== '[DONE]') JSON.parse(data);
    }
  }
}

/** What a completion of 1 MB of text keeps in memory while it is held. */
async function memory(): Promise<Figure> {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const bytes = 1024 * 1024;
  const packets = packetsOf(textStream(bytes / 64, 'x'.repeat(63).concat(' ')), 4096);
  const settled = async () => {
    await turn(); // What the last request has left is nobody's by then.
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let count = 0; count < 3; count++) await complete(packets);
  const before = await settled();
  const completion = await complete(packets);
  const held = (await settled()) - before;
  if (completion.choices[0]?.text.length !== bytes) throw new Error('The completion is not whole.');
  return figure('memory held by an answer of 1 MB', held / bytes, 'MB', 'its text', held / bytes);
}

interface OpenAiModule {
  readonly default: new (
    options: object,
  ) => {
    readonly chat: { readonly completions: { create(request: object): Promise<AsyncIterable<unknown>> } };
  };
}

/** The same stream through the `openai` client; `undefined` where it cannot be installed. */
async function openaiClient(packets: readonly Uint8Array[]): Promise<(() => Promise<unknown>) | undefined> {
  const name: string = 'openai'; // Not a literal: the types must do without the package.
  let module: unknown;
  try {
    const lock = path.join(import.meta.dirname, 'package-lock.json');
    const stamp = path.join(import.meta.dirname, 'node_modules', '.rolecall-rivals');
    await installOnce({ stamp, sources: [lock], title: 'Rivals of the benchmarks, once' }, () =>
      npm(['ci'], import.meta.dirname),
    );
    module = await import(name);
  } catch (error) {
    console.error(`The openai client is left out: ${(error as Error).message}`);
    return undefined;
  }
  const { default: OpenAI } = module as OpenAiModule;
  const client = new OpenAI({
    apiKey: 'token',
    baseURL: 'https://inference.example/v1',
    fetch: async () => responseOf(packets),
  });
  return async () => {
    const request = { model: 'org/model', messages: [{ role: 'user', content: 'Hello' }], stream: true };
    let text = '';
    for await (const chunk of await client.chat.completions.create(request)) {
      text += (chunk as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '';
    }
    return text;
  };
}
